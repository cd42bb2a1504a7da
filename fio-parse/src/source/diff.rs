//! A unified diff of two reports, as the two texts that it compares, one after the other.
//!
//! ```text
//! file   = "--- " name NEWLINE "+++ " name NEWLINE hunk { hunk }
//! hunk   = "@@ -" start ["," lines] " +" start ["," lines] " @@" … NEWLINE { (" " | "-" | "+") text NEWLINE }
//! ```
//!
//! Each text stands under the name of its file, as a heading; lines keep their numbers. Diffs without something of a
//! report among the lines that differ stay as they are.

use super::stamps::has_report;

/// The text with each diff of reports taken apart, and the number in the file of each of its lines.
pub(super) fn apart(text: &str) -> Option<(String, Vec<u32>)> {
    memchr::memmem::find(text.as_bytes(), b"\n@@ -")?;
    let lines: Vec<&str> = text.split('\n').collect();
    let mut out = Out::default();
    let mut found = false;
    let mut at = 0;
    while at < lines.len() {
        match file(&lines, at) {
            Some(file) if file.report => {
                found = true;
                out.side(&lines, at, file.names.0, &file.old);
                out.side(&lines, at + 1, file.names.1, &file.new);
                at = file.end;
            }
            _ => {
                out.push(lines[at], at);
                at += 1;
            }
        }
    }
    // the last line has no end
    out.text.pop();
    found.then_some((out.text, out.numbers))
}

#[derive(Default)]
struct Out {
    text: String,
    numbers: Vec<u32>,
}

impl Out {
    fn push(&mut self, line: &str, index: usize) {
        self.text.push_str(line);
        self.text.push('\n');
        self.numbers.push(index as u32 + 1);
    }

    /// One of the two texts: `which` are its lines, which have a sign in front.
    fn side(&mut self, lines: &[&str], head: usize, name: &str, which: &[usize]) {
        self.push("", head);
        self.push(&format!("# {name}"), head);
        self.push("", head);
        for &index in which {
            self.push(lines[index].get(1..).unwrap_or(""), index);
        }
    }
}

/// The diff of one file.
struct File<'t> {
    names: (&'t str, &'t str),
    /// The lines of the old text, by index.
    old: Vec<usize>,
    /// Those of the new one.
    new: Vec<usize>,
    /// The first line behind it.
    end: usize,
    /// Whether something of a report differs.
    report: bool,
}

/// The diff whose first line is at `start`.
fn file<'t>(lines: &[&'t str], start: usize) -> Option<File<'t>> {
    let name = |line: &'t str, mark: &str| {
        let name = line.strip_prefix(mark)?.split('\t').next()?.trim();
        (!name.is_empty()).then_some(name)
    };
    let names = (
        name(lines[start], "--- ")?,
        name(lines.get(start + 1)?, "+++ ")?,
    );
    let mut file = File {
        names,
        old: Vec::new(),
        new: Vec::new(),
        end: start + 2,
        report: false,
    };
    while let Some((mut old, mut new)) = lines.get(file.end).and_then(|line| counts(line)) {
        file.end += 1;
        while let Some(line) = lines.get(file.end).filter(|_| old > 0 || new > 0) {
            let sides = match line.bytes().next() {
                Some(b'-') => (true, false),
                Some(b'+') => (false, true),
                // some programs cut the blank off from an empty line
                Some(b' ' | b'\r') | None => (true, true),
                Some(b'\\') => (false, false),
                Some(_) => break,
            };
            if sides.0 {
                file.old.push(file.end);
                old = old.saturating_sub(1);
            }
            if sides.1 {
                file.new.push(file.end);
                new = new.saturating_sub(1);
            }
            file.report |= sides.0 != sides.1 && has_report(line.as_bytes());
            file.end += 1;
        }
    }
    (file.end > start + 2).then_some(file)
}

/// How many lines of either text a hunk has.
fn counts(line: &str) -> Option<(u32, u32)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    Some((count(old)?, count(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_diff_of_reports_is_both_of_them() {
        let text = "a\n--- old.txt\t2026-11-30\n+++ new.txt\n@@ -1,3 +1,3 @@\n t: (groupid=0\n-  read: IOPS=1\n+  read: IOPS=2\n x\nb";
        let (plain, numbers) = apart(text).unwrap();
        assert_eq!(
            plain,
            "a\n\n# old.txt\n\nt: (groupid=0\n  read: IOPS=1\nx\n\n# new.txt\n\nt: (groupid=0\n  read: IOPS=2\nx\nb"
        );
        assert_eq!(numbers, [1, 2, 2, 2, 5, 6, 8, 3, 3, 3, 5, 7, 8, 9]);
        for other in [
            text.replace("IOPS", "x"),
            text.replace("@@", "@"),
            text.replace("+++ ", "++ "),
        ] {
            assert_eq!(apart(&other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn each_line_has_a_number(text in "((--- a|\\+\\+\\+ b|@@ -1,2 \\+1,2 @@|[-+ ]iops=1|\\PC{0,3})\n){0,12}") {
            if let Some((plain, numbers)) = apart(&text) {
                prop_assert_eq!(plain.split('\n').count(), numbers.len());
            }
        }
    }
}
