//! Text that was encoded for a web page or for mail is decoded before its words are read.
//!
//! | encoding | seen as | decoded |
//! |---|---|---|
//! | HTML | `&amp;` `&quot;` `&gt;` `&nbsp;` `&#39;` … | always |
//! | quoted-printable | every `=` of the first line is `=3D` or ends the line | `=XX`, and `=` at a line's end |
//!
//! [`Decoded`] keeps the way back from places in the decoded text to places in the original.

use crate::source::html::entity;
use std::borrow::Cow;

/// A text and where its parts came from.
#[derive(Debug)]
pub(super) struct Decoded<'t> {
    pub text: Cow<'t, str>,
    /// From the first place on in the decoded text, the original goes on at the second.
    map: Vec<(usize, usize)>,
    /// What was done, in the words of `Workload::normalised`.
    pub note: Option<&'static str>,
}

impl Decoded<'_> {
    /// The place in the original of a place in the decoded text.
    pub fn original(&self, at: usize) -> usize {
        match self.map.partition_point(|&(decoded, _)| decoded <= at) {
            0 => at,
            after => {
                let (decoded, original) = self.map[after - 1];
                original + (at - decoded)
            }
        }
    }
}

/// Decodes `text`, if there is anything to decode.
pub(super) fn decode(text: &str) -> Decoded<'_> {
    if is_quoted_printable(text) {
        return quoted_printable(text);
    }
    let mut map = Vec::new();
    let mut plain = String::new();
    let mut done = 0;
    for at in memchr::memchr_iter(b'&', text.as_bytes()) {
        if at < done {
            continue;
        }
        if let Some((c, length)) = entity(&text[at..]) {
            plain.push_str(&text[done..at]);
            plain.push(c);
            done = at + length;
            map.push((plain.len(), done));
        }
    }
    if map.is_empty() {
        return Decoded {
            text: Cow::Borrowed(text),
            map,
            note: None,
        };
    }
    plain.push_str(&text[done..]);
    Decoded {
        text: Cow::Owned(plain),
        map,
        note: Some("decoded-html"),
    }
}

/// Whether the first line with a `=` in it has them only as quoted-printable does.
fn is_quoted_printable(text: &str) -> bool {
    let line = text
        .split('\n')
        .find(|line| line.contains('='))
        .unwrap_or("");
    let line = line.trim_end();
    line.contains("=3D")
        && memchr::memchr_iter(b'=', line.as_bytes()).all(|at| {
            let after = &line.as_bytes()[at + 1..];
            // other characters are seldom encoded, and `--bs=4096` is not
            after.is_empty()
                || hex(after).is_some_and(|byte| byte >= 0x80 || b"= \t\r\n".contains(&byte))
        })
}

fn hex(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits.get(..2)?).ok()?;
    text.bytes()
        .all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b))
        .then(|| u8::from_str_radix(text, 16).ok())
        .flatten()
}

fn quoted_printable(text: &str) -> Decoded<'_> {
    let bytes = text.as_bytes();
    let (mut plain, mut map) = (String::new(), Vec::new());
    // bytes of one character that was encoded byte by byte
    let mut pending: Vec<u8> = Vec::new();
    let (mut done, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'=' {
            at += 1;
            continue;
        }
        plain.push_str(&text[done..at]);
        let after = &bytes[at + 1..];
        let line_end = after.iter().take_while(|&&b| b == b'\r').count();
        if after.get(line_end) == Some(&b'\n') {
            at += line_end + 2;
        } else if let Some(byte) = hex(after) {
            pending.push(byte);
            at += 3;
            if !(bytes.get(at) == Some(&b'=') && byte >= 0x80) {
                plain.push_str(&String::from_utf8_lossy(&pending));
                pending.clear();
            }
        } else {
            plain.push('=');
            at += 1;
        }
        done = at;
        map.push((plain.len(), done));
    }
    plain.push_str(&text[done..]);
    Decoded {
        text: Cow::Owned(plain),
        map,
        note: Some("decoded-quoted-printable"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_decoded_and_places_found_again() {
        let text = "dd if=a &amp;&amp; sync &lt;x&gt; &#39;&#x41; &no; &";
        let decoded = decode(text);
        assert_eq!(decoded.text, "dd if=a && sync <x> 'A &no; &");
        let sync = decoded.text.find("sync").unwrap();
        assert_eq!(decoded.original(sync), text.find("sync").unwrap());
        assert_eq!(decoded.original(decoded.text.len()), text.len());
        assert_eq!(decode("plain").original(3), 3);
    }

    #[test]
    fn quoted_printable_is_seen_by_its_equals_signs() {
        let text = "fio --name=3Dx --rw=3Dread =\n --bs=3D4k =C3=BC\n";
        let decoded = decode(text);
        assert_eq!(decoded.text, "fio --name=x --rw=read  --bs=4k ü\n");
        let bs = decoded.text.find("--bs").unwrap();
        assert_eq!(decoded.original(bs), text.find("--bs").unwrap());
        assert_eq!(decode("--offset=3D000 --bs=4k").note, None);
        assert_eq!(decode("--name=3D --bs=4096").note, None);
    }
}
