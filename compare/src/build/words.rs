//! Texts of labels and notes.

pub(super) fn join_labels(texts: &[&str]) -> String {
    let texts: Vec<&str> = texts.iter().copied().filter(|t| !t.is_empty()).collect();
    if texts.is_empty() {
        "(none)".to_owned()
    } else {
        texts.join(", ")
    }
}

/// Cut at a word near the limit, with an ellipsis.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let cut: String = text.chars().take(limit.saturating_sub(1)).collect();
    let at_word = cut
        .rfind(' ')
        .filter(|i| *i > limit / 2)
        .map_or(cut.as_str(), |i| &cut[..i]);
    format!(
        "{}…",
        at_word.trim_end_matches([' ', ',', '.', ';', '/', '('])
    )
}

/// Digits padded, so that `4k` comes before `16k` and `randwrite bs=4k` likewise.
pub(super) fn natural(text: &str) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            let power = match c {
                'k' | 'K' => 3,
                'm' | 'M' => 6,
                'g' | 'G' => 9,
                't' | 'T' => 12,
                _ => 0,
            };
            out.push_str(&format!(
                "{:0>24}",
                format!("{digits}{}", "0".repeat(power))
            ));
            digits.clear();
        }
        out.push(c);
    }
    out
}

pub(super) fn covers_words(code: &str) -> String {
    match code {
        "run" => "the tool alone".into(),
        "run-and-sync" => "the tool and the sync after it".into(),
        "sync-and-run" => "a sync and the tool".into(),
        "pipeline" => "a pipeline".into(),
        "run-and-more" => "more than the tool".into(),
        _ => "what can't be told".into(),
    }
}

pub(super) fn whole(text: &str) -> String {
    match text.split_once('.') {
        Some((whole, rest)) if rest.bytes().all(|b| b == b'0') => whole.to_owned(),
        _ => text.to_owned(),
    }
}
