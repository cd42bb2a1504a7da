//! Where documents are found, and what is left of broken ones.

use super::*;
use proptest::prelude::*;

/// Names of the jobs of each block, the lines between blocks, and the codes of all problems.
fn cut(text: &str) -> (Vec<Vec<String>>, Vec<String>, Vec<String>) {
    let log = Log::from_bytes("x", text.as_bytes()).unwrap();
    let mut lines = log.segments();
    let (mut blocks, mut rest, mut codes) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = 0;
    loop {
        let before = lines.clone();
        if let Some(block) = read(&log, &mut lines) {
            assert_eq!(
                block.span.start, at,
                "blocks start where the last one ended"
            );
            at = block.span.end;
            let names = block.documents.iter().flat_map(|d| &d.jobs);
            blocks.push(
                names
                    .map(|job| job.name.unwrap_or("-").to_owned())
                    .collect(),
            );
            codes.extend(block.problems.iter().map(|p| p.code.to_string()));
            let next = lines.clone().next();
            assert_eq!(
                next.map_or(log.text().len() as u32, |line| line.span.start),
                at
            );
        } else {
            assert_eq!(
                before.clone().next(),
                lines.clone().next(),
                "refused lines stay"
            );
            let Some(line) = lines.next() else { break };
            rest.push(line.text.trim().to_owned());
            at = line.next;
        }
    }
    (blocks, rest, codes)
}

fn document(job: &str) -> String {
    format!(
        "{{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [\n    {{\n      \"jobname\" : \"{job}\",\n      \"groupid\" : 0,\n      \"read\" : {{\n        \"io_bytes\" : 4096\n      }}\n    }}\n  ]\n}}\n"
    )
}

#[test]
fn documents_are_found_between_other_text() {
    let text = format!(
        "note: a warning\n{}\n{}Run status\n",
        document("a"),
        document("b")
    );
    let (blocks, rest, codes) = cut(&text);
    assert_eq!(blocks, [["a"], ["b"]]);
    assert_eq!(rest, ["note: a warning", "", "Run status"]);
    assert!(codes.is_empty());
}

#[test]
fn documents_are_found_in_every_dress() {
    let plain = document("a");
    let minified = plain.split_whitespace().collect::<String>();
    let minified = minified.replace("fioversion", "fio version");
    let prefixed = |prefix: &str| {
        plain
            .lines()
            .map(|line| format!("{prefix}{line}\n"))
            .collect::<String>()
    };
    let dresses = [
        prefixed("    "),
        prefixed("> "),
        prefixed("> > \t"),
        prefixed("\u{a0}| "),
        prefixed("2024-01-02T03:04:05.678Z "),
        plain.replace('\n', "\r\n"),
        format!("Jobs: 1 (f=1)\r{plain}"),
        format!("{minified}\n"),
        format!("fio output: {minified}\n"),
        format!("[{minified}]\n"),
        format!("{{\"host\": \"h\", \"runs\": [{minified}], \"n\": 1}}\n"),
        format!("{{\n\"host\": \"h\",\n\"result\": {plain}}}\n"),
        plain.replace("  \"fio version\" : \"fio-3.33\",\n", ""),
        plain.replace('"', "“"),
    ];
    for text in &dresses {
        let (blocks, _, codes) = cut(text);
        assert_eq!(blocks, [["a"]], "{text}");
        assert!(codes.is_empty(), "{text}: {codes:?}");
    }
}

#[test]
fn several_may_stand_on_one_line() {
    let minified = |job| {
        document(job)
            .split_whitespace()
            .collect::<String>()
            .replace("fioversion", "fio version")
    };
    let text = format!("[{}, {}]{}\n", minified("a"), minified("b"), minified("c"));
    assert_eq!(cut(&text).0, [["a", "b", "c"]]);
}

#[test]
fn a_head_that_was_cut_off_is_not_missed() {
    let plain = document("a");
    for key in ["  \"fio version\"", "  \"jobs\"", "      \"jobname\""] {
        let text = &plain[plain.find(key).unwrap()..];
        assert_eq!(cut(text).0, [["a"]], "{text}");
    }
}

#[test]
fn what_is_no_fio_stays() {
    for text in [
        "{\n",
        "{}\n",
        "{ \"a\": 1, \"jobs\": [1, 2], \"jobname\": \"x\" }\n",
        "int main() {\n  return 0;\n}\n",
        "{\"a\": {\"b\": [{\"fio\": \"version\"}]}}\n",
        "\"jobs\" : 5\n",
        "[global]\n",
    ] {
        assert!(cut(text).0.is_empty(), "{text}");
    }
}

#[test]
fn a_cut_keeps_what_is_whole_and_gives_the_next_lines_back() {
    let plain = document("a");
    let (head, _) = plain.split_at(plain.find("\"groupid\"").unwrap());
    let text = format!("{head}{}", document("b"));
    let (blocks, rest, codes) = cut(&text);
    assert_eq!(blocks, [["a"], ["b"]]);
    assert_eq!(codes, ["incomplete"]);
    assert!(rest.is_empty());
    let text = format!("{head}\nRun status group 0\nx\ny\nz\n");
    let (blocks, rest, codes) = cut(&text);
    assert_eq!(blocks, [["a"]]);
    assert_eq!(codes, ["incomplete"]);
    assert_eq!(rest, ["Run status group 0", "x", "y", "z"]);
}

#[test]
fn many_braces_take_linear_time() {
    // quadratic reading of these would take hours
    let n = 200_000;
    for line in [
        "{\n",
        "{\"a\":\n",
        "{\"a\n",
        "[\n",
        "{\"fio version\" : \"x\n",
        "{\"fio version\" : {\n",
        "x {\n",
        "{\"a\": [\n",
        "{ \\\"\n",
    ] {
        let text = line.repeat(n);
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        while read(&log, &mut lines).is_some() || lines.next().is_some() {}
    }
}

#[test]
fn escapes_are_undone() {
    assert_eq!(
        unescaped(r#"a \"b\" c:\\d \/ \u00e9 \t\q \"#),
        "a \"b\" c:\\d / é \t\\q \\"
    );
}

proptest! {
    #[test]
    fn any_text_does_not_panic(pieces in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", "\n", "\r", " ", ",", ":", "\"", "\\", "\"fio version\"", "\"jobs\"", "\"jobname\"", "\"groupid\"",
        "\"read\"", "\"io_bytes\"", "\"clat_ns\"", "\"bins\"", "\"percentile\"", "1", "0", "nan", "-", "> ", "é", "“",
    ]), 0..80)) {
        cut(&pieces.concat());
    }
}
