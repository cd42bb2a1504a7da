//! Which earlier result a phrase speaks of.
//!
//! Labels are compared by their words, without regard to case, possessive `'s` and words such as "the" and "speed":
//!
//! 1. A word with a capital or a digit must stand in some earlier label; else the phrase names something else.
//! 2. Of the phrase's words that stand in earlier labels, the one in the fewest decides: the labels with it remain.
//! 3. The other words narrow down, from the rarest on, where they leave any label.
//! 4. "the first" takes the first of those that remain. Labels in which the shared words stand behind "same" or
//!    "that" point back to an earlier one, and give way to it.
//!
//! Where not exactly one label remains, the phrase stays unresolved and says so.
//!
//! A label that stands in the phrase as a whole is the one that is meant, whatever its words are ("Disk two").
//!
//! [`speaks_of`] tells which results a sentence can be about: names in it that some labels hold and others do not.
//! [`narrow`] tells which tests, by the words of the headings that the results stand under.

/// Words that name nothing.
const EMPTY: [&str; 55] = [
    "a", "an", "the", "this", "that", "these", "those", "it", "its", "my", "our", "your", "their",
    "his", "her", "of", "on", "in", "at", "to", "with", "for", "and", "or", "so", "then", "also",
    "is", "was", "are", "were", "be", "speed", "speeds", "rate", "about", "even", "still", "same",
    "first", "from", "only", "i", "we", "here", "which", "but", "as", "by", "what", "one", "used",
    "using", "than", "over",
];

/// The words of a text that name something, in lower case, each with whether it is a name by its look.
fn words(text: &str) -> Vec<(String, bool)> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’' | '.' | '-' | '/')))
        .map(|word| {
            let word = word.trim_matches(['\'', '’', '.', '-', '/']);
            word.strip_suffix("'s")
                .or_else(|| word.strip_suffix("’s"))
                .unwrap_or(word)
        })
        .filter(|word| !word.is_empty())
        .enumerate()
        .map(|(place, word)| {
            let name = word.chars().any(|c| c.is_uppercase() || c.is_numeric());
            (word.to_lowercase(), name, place > 0 && word == "A")
        })
        // "Laptop A" is a name, "A laptop" is none
        .filter(|(word, _, letter)| *letter || !EMPTY.contains(&word.as_str()))
        .map(|(word, name, _)| (word, name))
        .collect()
}

/// The places in `labels` of those that stand in a text as a whole, and the text without them. Of two that lie in one
/// another the longer counts.
pub fn whole(text: &str, labels: &[&str]) -> (Vec<usize>, String) {
    let mut rest = text.to_lowercase();
    let mut by_length: Vec<usize> = (0..labels.len()).collect();
    by_length.sort_by_key(|&at| std::cmp::Reverse(labels[at].len()));
    let mut found = Vec::new();
    let mut ranges = Vec::new();
    for at in by_length {
        let label = labels[at].to_lowercase();
        let bounded = |start: usize| {
            let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '\0');
            apart(rest[..start].chars().next_back())
                && apart(rest[start + label.len()..].chars().next())
        };
        let place = match label.is_empty() {
            true => None,
            false => (rest.match_indices(&label).map(|(start, _)| start)).find(|&s| bounded(s)),
        };
        if let Some(start) = place {
            found.push(at);
            let end = start + label.len();
            ranges.push(start..end);
            rest.replace_range(start..end, &"\0".repeat(label.len()));
        }
    }
    // the case of the rest tells names; where lower case changes lengths, the text can't be cut alike
    let mut left = match rest.len() == text.len() {
        true => text.to_owned(),
        false => String::new(),
    };
    for range in ranges {
        if left.get(range.clone()).is_some() {
            left.replace_range(range.clone(), &",".repeat(range.len()));
        }
    }
    (found, left)
}

/// Of some headings those that a text can mean: with each of its words that tells them apart. `skip` are names of
/// results, whose words say nothing about tests.
pub fn narrow(text: &str, headings: &[String], skip: &[&str]) -> Vec<usize> {
    let list = |text: &str| -> Vec<String> { words(text).into_iter().map(|(w, _)| w).collect() };
    let of_headings: Vec<Vec<String>> = headings.iter().map(|heading| list(heading)).collect();
    let skipped: Vec<String> = skip.iter().flat_map(|label| list(label)).collect();
    let mut left: Vec<usize> = (0..headings.len()).collect();
    for word in list(text) {
        let holds = |at: &usize| of_headings[*at].contains(&word);
        let count = (0..headings.len()).filter(holds).count();
        if count > 0 && count < headings.len() && !skipped.contains(&word) {
            left.retain(holds);
        }
    }
    left
}

/// Whether all the words shared with the phrase stand behind a word that points back.
fn points_back(label: &str, phrase: &[(String, bool)]) -> bool {
    let lower = label.to_lowercase();
    let behind = [" same ", " that "]
        .iter()
        .filter_map(|word| lower.find(word))
        .min();
    behind.is_some_and(|at| {
        !words(&lower[..at])
            .iter()
            .any(|(word, _)| phrase.iter().any(|(have, _)| have == word))
    })
}

/// The place in `labels`, in the order of the text, of the one that the phrase names. `Err` says why there is none.
pub fn resolve(phrase: &str, labels: &[&str]) -> Result<usize, String> {
    match whole(phrase, labels).0[..] {
        [] => {}
        [only] => return Ok(only),
        _ => return Err("several results are named that it may be compared with".to_owned()),
    }
    let named = words(phrase);
    let of_labels: Vec<Vec<String>> = labels
        .iter()
        .map(|label| words(label).into_iter().map(|(word, _)| word).collect())
        .collect();
    let holders = |word: &str| -> Vec<usize> {
        (0..labels.len())
            .filter(|&index| of_labels[index].iter().any(|have| have == word))
            .collect()
    };
    let mut by_word = Vec::new();
    for (word, is_name) in &named {
        let holders = holders(word);
        if holders.is_empty() && *is_name {
            return Err(format!(
                "no result above is labelled with {word:?}, which it is compared with"
            ));
        }
        if !holders.is_empty() {
            by_word.push(holders);
        }
    }
    by_word.sort_by_key(Vec::len);
    let mut words = by_word.into_iter();
    let Some(mut left) = words.next() else {
        return Err("which result above it is compared with is not said".to_owned());
    };
    for holders in words {
        let both: Vec<usize> = left
            .iter()
            .copied()
            .filter(|index| holders.contains(index))
            .collect();
        if !both.is_empty() {
            left = both;
        }
    }
    let first = phrase
        .split_whitespace()
        .any(|word| word.eq_ignore_ascii_case("first"));
    if first {
        left.truncate(1);
    }
    if left.len() > 1 && !points_back(labels[left[0]], &named) {
        let earliest = left[0];
        left.retain(|&index| index == earliest || !points_back(labels[index], &named));
    }
    match left[..] {
        [only] => Ok(only),
        _ => Err(format!(
            "{} results above have labels that fit equally well",
            left.len()
        )),
    }
}

/// The places in `labels` of those that a text can speak of: which hold each name of the text that stands in some
/// labels and not in all. `None` where it names nothing that tells them apart, none where it names several.
pub fn speaks_of(text: &str, labels: &[&str]) -> Option<Vec<usize>> {
    let (named, rest) = whole(text, labels);
    match (&named[..], tells_apart(&rest, labels)) {
        ([], in_part) => in_part,
        ([_], None) => Some(named),
        ([only], Some(more)) if more.contains(only) => Some(named),
        _ => Some(Vec::new()),
    }
}

fn tells_apart(text: &str, labels: &[&str]) -> Option<Vec<usize>> {
    let of_labels: Vec<Vec<String>> = labels
        .iter()
        .map(|label| words(label).into_iter().map(|(word, _)| word).collect())
        .collect();
    let mut left: Option<Vec<usize>> = None;
    for (word, is_name) in words(text) {
        let holds = |index: &usize| of_labels[*index].contains(&word);
        let count = (0..labels.len()).filter(holds).count();
        if is_name && count > 0 && count < labels.len() {
            let before = left.unwrap_or_else(|| (0..labels.len()).collect());
            left = Some(before.into_iter().filter(holds).collect());
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_tell_labels_apart_say_whom_a_sentence_is_about() {
        let laptops = ["Laptop A", "Laptop B"];
        for (text, labels, wanted) in [
            ("Laptop A does", &laptops[..], Some(vec![0])),
            ("A is slow, Laptop B does", &laptops, Some(vec![1])),
            ("Laptop A and Laptop B do", &laptops, Some(vec![])),
            ("The laptop does", &laptops, None),
            ("A laptop does", &laptops, None),
            ("The 860 EVO does", &LABELS, Some(vec![3])),
            // of three of them
            ("The MacBook does", &LABELS, Some(vec![0, 1])),
            ("the drive does", &LABELS, None),
        ] {
            assert_eq!(speaks_of(text, labels), wanted, "{text}");
        }
    }

    const LABELS: [&str; 6] = [
        "internal SSD of a MacBook Pro (15-inch 2019)",
        "WD 4TB USB hard drive on that MacBook Pro",
        "Linux server with 8x6TB ZFS",
        "internal SATA Samsung 860 EVO SSD of the server",
        "Samsung 850 EVO SATA SSD connected via USB",
        "iMac (Retina 5K, 27-inch, Late 2014)",
    ];

    #[test]
    fn the_rarest_word_decides() {
        for (phrase, labels, wanted) in [
            ("the SSD is", 1, Some(0)),
            ("the first SSD", 6, Some(0)),
            ("the speed of the MacBook Pro’s SSD", 2, Some(0)),
            ("the MacBook Pro", 3, Some(0)),
            ("the SSD of the iMac", 6, Some(5)),
            ("the internal SSD on the iMac", 6, Some(5)),
            ("the 860 EVO", 6, Some(3)),
            ("the hard drive", 6, Some(1)),
            // two Samsungs, three SSDs
            ("the Samsung", 6, None),
            ("the SSD", 6, None),
            // no Dell was measured
            ("the SSD of the Dell", 6, None),
            ("it", 6, None),
            ("", 0, None),
        ] {
            assert_eq!(resolve(phrase, &LABELS[..labels]).ok(), wanted, "{phrase}");
        }
    }
}
