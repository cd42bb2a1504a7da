//! Headings, captions, list items, sentences: the text around reports, which says whose result it is.
//!
//! ```text
//! heading   = "#"{1,6} text | "##"{1,5} | text NEWLINE ("===" | "---" | "~~~")… | "<h1>" text "</h1>"
//! emphasis  = "**" text "**" | "*" text "*" | "__" text "__" | "<b>" text "</b>" | "[b]" text "[/b]" | decorated
//! decorated = ("---" | "===" | "***" | "~~~" | "+++")… text ["---" | "===" | "***" | "~~~" | "+++"]…
//! arrow     = ("==>" | "-->" | "=>" | "->") text, with which scripts say what they do; emphasis too
//! item      = ("-" | "*" | "•" | digits "." | digits ")") text
//! fence     = "```"… | "<pre>" | "</pre>" | "[code]" | "[/code]"
//! row       = "|" cell "|" cell … "|"
//! rule      = at least three of "-", "*", "_", "="
//! echo      = [prompt] "echo" ["-e" | "-n"] text, the text without anything that a shell would act on
//! text      = anything else; lines of text that touch make a paragraph
//! ```
//!
//! Any of these may stand behind quote marks (`> `) and comment marks (`// `). What looks like a heading and is a
//! command behind root's prompt (`# hdparm -t /dev/sda`) is text, and so is a setting (`size=1g`) above a ruler. Whether a short line is a heading or a caption depends on
//! what follows, so that is for `context` to say.

use crate::source::{Segment, Segments, Span};

/// How a piece of prose is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A heading of level 1 to 6.
    Heading(u8),
    /// A line that is emphasised as a whole.
    Emphasis,
    /// A list item.
    Item,
    /// A border of preformatted text.
    Fence,
    /// A row of a table.
    Row,
    /// A ruler line, or markup without text.
    Rule,
    /// What a script says with `echo`.
    Echo,
    /// Lines of text.
    Text,
}

/// A piece of prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prose<'t> {
    /// How it is written.
    pub style: Style,
    /// The text without the marks at its ends; may go over several lines.
    pub text: &'t str,
    /// Where `text` stands.
    pub span: Span,
}

/// Reads one line, or two where the second underlines the first. Never refuses.
pub fn read<'t>(line: Segment<'t>, lines: &mut Segments<'t>) -> Prose<'t> {
    let text = unquoted(line.text);
    let piece = |style, text: &'t str| {
        let offset = text.as_ptr() as usize - line.text.as_ptr() as usize;
        let start = line.span.start + offset as u32;
        Prose {
            style,
            text,
            span: Span::new(start, start + text.len() as u32),
        }
    };
    if let Some((level, text)) = marked_heading(text) {
        return piece(Style::Heading(level), text);
    }
    if text.starts_with("```")
        || is_tag(text, "pre")
        || is_tag(text, "code")
        || is_bbcode_fence(text)
    {
        return piece(Style::Fence, text);
    }
    if is_rule(text, 3) {
        return piece(Style::Rule, text);
    }
    if text.starts_with('|') {
        return piece(Style::Row, text);
    }
    if let Some(text) = emphasised(text).or_else(|| set_off(text)) {
        return piece(Style::Emphasis, text);
    }
    if let Some(text) = item(text) {
        return piece(Style::Item, text);
    }
    // an underline as long as half the text makes a heading of it
    let mut ahead = lines.clone();
    if let Some(next) = ahead.next() {
        let under = unquoted(next.text);
        let length = text.chars().count();
        if length <= 100 && is_rule(under, length.div_ceil(2).max(3)) && !is_setting(text) {
            let level = match under.as_bytes()[0] {
                b'=' => 1,
                b'-' => 2,
                _ => 3,
            };
            *lines = ahead;
            return piece(Style::Heading(level), text);
        }
    }
    piece(Style::Text, text)
}

/// The text without blanks and quote marks around it.
pub fn unquoted(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(rest) = text.strip_prefix('>') {
        text = rest.trim_start();
    }
    match text.strip_prefix("//") {
        Some(rest) if rest.is_empty() || rest.starts_with([' ', '\t']) => rest.trim_start(),
        _ => text,
    }
}

/// Whether a line sets an option: `size=1g`, `cpu = x86`.
fn is_setting(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim();
        !name.is_empty() && !name.contains(char::is_whitespace)
    })
}

/// Programs that stand behind root's prompt in pasted screens, and are no first words of titles in lower case.
const PROGRAMS: [&str; 73] = [
    "apt",
    "apt-get",
    "badblocks",
    "blkdiscard",
    "blkid",
    "blockdev",
    "cat",
    "cd",
    "chmod",
    "chown",
    "cp",
    "cryptsetup",
    "curl",
    "df",
    "diskutil",
    "dmesg",
    "dmsetup",
    "docker",
    "du",
    "dumpe2fs",
    "e2fsck",
    "echo",
    "export",
    "fallocate",
    "fdisk",
    "findmnt",
    "for",
    "free",
    "fstrim",
    "grep",
    "hdparm",
    "hostname",
    "ioping",
    "iostat",
    "kubectl",
    "losetup",
    "ls",
    "lsblk",
    "lscpu",
    "lspci",
    "lvcreate",
    "lvs",
    "mdadm",
    "mkdir",
    "mkfs.ext4",
    "mkfs.xfs",
    "modprobe",
    "mount",
    "mv",
    "nproc",
    "nvme",
    "parted",
    "ps",
    "rm",
    "smartctl",
    "ssh",
    "sudo",
    "swapoff",
    "sync",
    "sysctl",
    "systemctl",
    "tail",
    "tune2fs",
    "udevadm",
    "truncate",
    "umount",
    "uname",
    "uptime",
    "vmstat",
    "wget",
    "whoami",
    "zfs",
    "zpool",
];

/// Whether a line is root's prompt and a command that is not ours to read: a program by itself, or with an option, a path or
/// an operator behind it.
pub fn is_root_prompt(text: &str) -> bool {
    text.strip_prefix("# ").is_some_and(is_call)
}

/// Whether a line is a command of a known program with an option, a path or an operator behind it, as no title is.
pub fn calls_program(text: &str) -> bool {
    is_call(text) && text.contains(' ')
}

fn is_call(command: &str) -> bool {
    if !runs_program(command) {
        return false;
    }
    let mut alone = true;
    for word in command.split_whitespace().skip(1) {
        alone = false;
        if word.starts_with(['-', '/', '>', '|', '&', '$', '~', '.']) {
            return true;
        }
    }
    alone
}

/// Whether the first word is a program's. Behind root's prompt that is enough where other lines show that it is one.
pub fn runs_program(command: &str) -> bool {
    let program = command.split_whitespace().next().unwrap_or("");
    let name = program.trim_end_matches(';').rsplit('/').next();
    name.is_some_and(|name| PROGRAMS.contains(&name))
}

/// A border of preformatted text in a forum's markup.
fn is_bbcode_fence(text: &str) -> bool {
    let Some(inner) = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    else {
        return false;
    };
    let name = inner.strip_prefix('/').unwrap_or(inner);
    let end = name.find('=').unwrap_or(name.len());
    name[..end].eq_ignore_ascii_case("code")
}

/// The text of a line that a script sets off, by rows of signs or an arrow.
pub fn set_off(text: &str) -> Option<&str> {
    let arrow = || {
        ["==>", "-->", "=>", "->"]
            .iter()
            .find_map(|arrow| text.strip_prefix(arrow))
            .filter(|rest| rest.starts_with(' '))
            .map(str::trim)
    };
    decorated(text).or_else(arrow)
}

/// The text of a line that is set off by rows of signs: `===== Disk A =====`, `---- Write test`, `***Disk A***`.
fn decorated(text: &str) -> Option<&str> {
    let sign = text.chars().next().filter(|c| "-=*~+".contains(*c))?;
    let behind = text.trim_start_matches(sign);
    let closed = behind.trim_end().trim_end_matches(sign);
    let inner = closed.trim().trim_end_matches(':').trim_end();
    let is_closed = closed.len() + 3 <= behind.trim_end().len();
    // `--- a/file` and `--option` are others
    let is_open = matches!(sign, '-' | '=') && behind.starts_with(' ') && !inner.contains('/');
    (text.len() - behind.len() >= 3
        && (is_closed || is_open)
        && inner.len() <= 80
        && !inner.starts_with(sign)
        && inner.chars().any(char::is_alphabetic))
    .then_some(inner)
}

/// What a line tells a shell to print, if it is nothing but words: `$ echo "Disk A"` gives `Disk A`.
pub fn echoed(text: &str) -> Option<&str> {
    let at = text.find("echo ")?;
    let prompt = text[..at].trim_end();
    if !(prompt.is_empty() || prompt.ends_with(['$', '#', '>', '❯', '%'])) {
        return None;
    }
    let mut words = text[at + 5..].trim();
    for flag in ["-e ", "-n ", "-en ", "-ne "] {
        words = words.strip_prefix(flag).unwrap_or(words).trim_start();
    }
    let quoted = |quote| {
        words
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
    };
    let words = quoted('"').or(quoted('\'')).unwrap_or(words).trim();
    let acts = words.contains(['$', '`', '|', '<', '>', '&', ';', '"', '\\']);
    (!acts && words.chars().any(char::is_alphabetic)).then_some(words)
}

fn marked_heading(text: &str) -> Option<(u8, &str)> {
    if text.starts_with('#') {
        let hashes = text.bytes().take_while(|&b| b == b'#').count();
        let rest = &text[hashes..];
        // a lone `#` is an empty comment
        let empty = rest.is_empty() && hashes > 1;
        return (hashes <= 6 && (empty || rest.starts_with([' ', '\t'])) && !is_root_prompt(text))
            .then(|| (hashes as u8, rest.trim().trim_end_matches('#').trim_end()));
    }
    let tag = text
        .strip_prefix("<h")
        .or_else(|| text.strip_prefix("<H"))?;
    let level = tag.bytes().next().filter(|b| (b'1'..=b'6').contains(b))? - b'0';
    let inner = &tag[tag.find('>')? + 1..];
    let end = inner
        .find("</h")
        .or_else(|| inner.find("</H"))
        .unwrap_or(inner.len());
    Some((level, inner[..end].trim()))
}

/// Whether the line starts with the opening or closing tag `name`.
fn is_tag(text: &str, name: &str) -> bool {
    let Some(rest) = text.strip_prefix("</").or_else(|| text.strip_prefix('<')) else {
        return false;
    };
    rest.get(..name.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(name))
        && rest[name.len()..].starts_with(['>', ' '])
}

fn is_rule(text: &str, least: usize) -> bool {
    let Some(&first) = text.as_bytes().first() else {
        return false;
    };
    matches!(first, b'-' | b'*' | b'_' | b'=' | b'~')
        && text.len() >= least
        && text.bytes().all(|b| b == first)
}

/// The text of a line that is emphasised from end to end.
fn emphasised(text: &str) -> Option<&str> {
    for (open, close) in [
        ("**", "**"),
        ("__", "__"),
        ("<b>", "</b>"),
        ("<strong>", "</strong>"),
        ("<summary>", "</summary>"),
        ("<details><summary>", "</summary>"),
        ("[b]", "[/b]"),
        ("[B]", "[/B]"),
        ("*", "*"),
        ("_", "_"),
    ] {
        let body = text.trim_end_matches(':');
        if let Some(inner) = body
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close))
        {
            let sound =
                !inner.is_empty() && !inner.starts_with([' ', '*', '_']) && !inner.contains(open);
            if sound {
                return Some(inner.trim_end_matches(':'));
            }
        }
    }
    None
}

/// The text of a list item.
fn item(text: &str) -> Option<&str> {
    for mark in ["- ", "* ", "+ ", "• ", "•\t", "– ", "◦ ", "<li>"] {
        if let Some(rest) = text.strip_prefix(mark) {
            return Some(rest.trim_end_matches("</li>").trim());
        }
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    let rest = rest
        .strip_prefix(". ")
        .or_else(|| rest.strip_prefix(") "))?;
    (1..=2).contains(&digits).then(|| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Log;

    fn one(text: &str) -> (Style, String) {
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        let line = lines.next().unwrap();
        let prose = read(line, &mut lines);
        assert_eq!(log.get(prose.span), prose.text);
        (prose.style, prose.text.to_owned())
    }

    #[test]
    fn a_title_is_what_echo_prints_and_nothing_a_shell_acts_on() {
        for (line, title) in [
            ("echo Disk A", Some("Disk A")),
            ("$ echo \"Disk A, ext4\"", Some("Disk A, ext4")),
            ("root@box:~# echo -e 'Disk A'", Some("Disk A")),
            ("echo 3 > /proc/sys/vm/drop_caches", None),
            ("echo $disk", None),
            ("echo ----", None),
            ("an echo of it", None),
        ] {
            assert_eq!(echoed(line), title, "{line}");
        }
    }

    #[test]
    fn styles_are_told_by_their_marks() {
        for (line, style, text) in [
            (
                "## aws small - 990M ##",
                Style::Heading(2),
                "aws small - 990M",
            ),
            ("Results\n=======", Style::Heading(1), "Results"),
            ("Results\n-------", Style::Heading(2), "Results"),
            ("<h3 id=\"x\">Disk A</h3>", Style::Heading(3), "Disk A"),
            ("> ### quoted", Style::Heading(3), "quoted"),
            ("*writes*", Style::Emphasis, "writes"),
            ("**Disk A:**", Style::Emphasis, "Disk A"),
            ("[b]Disk A[/b]", Style::Emphasis, "Disk A"),
            (
                "<details><summary>Disk A</summary>",
                Style::Emphasis,
                "Disk A",
            ),
            ("*****Disk A*********", Style::Emphasis, "Disk A"),
            ("=== Disk A ===", Style::Emphasis, "Disk A"),
            ("----- Write test...", Style::Emphasis, "Write test..."),
            ("==> Round 2 of 3", Style::Emphasis, "Round 2 of 3"),
            ("-->", Style::Text, "-->"),
            ("--- a/disk.c", Style::Text, "--- a/disk.c"),
            ("---option", Style::Text, "---option"),
            ("##", Style::Heading(2), ""),
            ("#", Style::Text, "#"),
            ("# hdparm -t /dev/sda", Style::Text, "# hdparm -t /dev/sda"),
            ("# sync", Style::Text, "# sync"),
            ("# mount options", Style::Heading(1), "mount options"),
            ("// ## Disk A", Style::Heading(2), "Disk A"),
            ("size=1g\n-------", Style::Text, "size=1g"),
            ("[CODE=sh]", Style::Fence, "[CODE=sh]"),
            ("- one", Style::Item, "one"),
            ("* one", Style::Item, "one"),
            ("2. two", Style::Item, "two"),
            ("```sh", Style::Fence, "```sh"),
            ("<pre>", Style::Fence, "<pre>"),
            ("---", Style::Rule, "---"),
            ("| a | b |", Style::Row, "| a | b |"),
            ("#1 laptop", Style::Text, "#1 laptop"),
            ("A laptop from 2018", Style::Text, "A laptop from 2018"),
            ("2018 was good", Style::Text, "2018 was good"),
        ] {
            assert_eq!(one(line), (style, text.to_owned()), "{line}");
        }
    }
}
