//! What happens to a log on its way into a post must not change what is measured.
//!
//! Each transformation is what a mail program, an editor, a wiki or a browser does to text. It is applied to every
//! input of `fixtures/logs` and to every text output of fio in `fixtures/runs`, and the measurements of the result
//! have to be those of the original: numbers with their bounds, direction and scope. Texts and spans may differ.

use fio_parse::{Log, Record};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

type Transform = (&'static str, fn(&str) -> String);

const TRANSFORMS: [Transform; 21] = [
    ("carriage returns", |text| text.replace('\n', "\r\n")),
    ("indentation", |text| {
        each_line(text, |line| format!("    {line}"))
    }),
    ("a tab in front", |text| {
        each_line(text, |line| format!("\t{line}"))
    }),
    ("quoted mail", |text| {
        each_line(text, |line| format!("> {line}"))
    }),
    ("mail quoted twice", |text| {
        each_line(text, |line| format!(">> {line}"))
    }),
    ("a prompt before commands", prompts),
    ("tabs for blanks", |text| {
        outside_quotes(text, |blank| blank.replace("  ", "\t"))
    }),
    ("no-break blanks", |text| {
        outside_quotes(text, |blank| blank.replace("  ", "\u{a0} "))
    }),
    ("no-break blanks for all", |text| {
        each_line(text, |line| line.replace(' ', "\u{a0}"))
    }),
    ("smart dashes", smart_dashes),
    ("smart quotes", smart_quotes),
    ("escaped for a web page", escape),
    ("a web page with pre", |text| {
        format!(
            "<html><body>\n<pre>\n{}</pre>\n</body></html>\n",
            escape(text)
        )
    }),
    ("a web page with pre and code", |text| {
        format!(
            "<!DOCTYPE html>\n<html>\n<head><title>x</title></head><body><pre><code>{}</code></pre></body></html>\n",
            escape(text)
        )
    }),
    ("a web page with line breaks", |text| {
        let lines = each_line(&escape(text), |line| format!("{line}<br />"));
        format!("<html><body><p>\n{lines}</p></body></html>\n")
    }),
    ("a web page in one line", |text| {
        let text = escape(text).replace('\n', "<br>");
        format!("<html><body><div>{text}</div></body></html>")
    }),
    ("a web page with colours", |text| {
        format!(
            "<!doctype html><pre class=\"hl\">{}</pre>",
            coloured(&escape(text))
        )
    }),
    ("a web page with a table of lines", |text| {
        let row = |line: &str| format!("<tr><td id=\"L\"></td><td>{line}</td></tr>");
        format!(
            "<html><body><table>\n{}</table>",
            each_line(&escape(text), row)
        )
    }),
    ("a Markdown fence", |text| {
        format!("# Results\n\n```\n{text}```\n")
    }),
    ("a Markdown fence with a language", |text| {
        format!("Results:\n\n~~~text\n{text}~~~\n")
    }),
    ("wrapped at 72 columns", wrap),
];

fn each_line(text: &str, change: impl Fn(&str) -> String) -> String {
    text.lines().map(|line| change(line) + "\n").collect()
}

/// Changes the runs of blanks in each line, but not those within quotes, where they are part of words.
fn outside_quotes(text: &str, change: impl Fn(&str) -> String) -> String {
    each_line(text, |line| {
        line.split('"')
            .enumerate()
            .map(|(index, part)| {
                if index % 2 == 0 {
                    change(part)
                } else {
                    part.to_owned()
                }
            })
            .collect::<Vec<_>>()
            .join("\"")
    })
}

/// `$ ` in front of each command that begins a line.
fn prompts(text: &str) -> String {
    each_line(text, |line| {
        let starts = ["fio ", "dd ", "time ", "sudo "];
        // `fio 2.0` is what a version prints of itself
        if line.contains('=') && starts.iter().any(|start| line.starts_with(start)) {
            format!("$ {line}")
        } else {
            line.to_owned()
        }
    })
}

/// What an editor makes of dashes: a pair becomes a long one, and one between digits a short one.
fn smart_dashes(text: &str) -> String {
    let text = text.replace("--", "\u{2014}");
    let chars: Vec<char> = text.chars().collect();
    chars
        .iter()
        .enumerate()
        .map(|(at, &c)| {
            let around = |step: Option<usize>| step.and_then(|at| chars.get(at)).copied();
            let before = around(at.checked_sub(1)).is_some_and(|c| c == 's' || c == ' ');
            let after = around(Some(at + 1)).is_some_and(|c| c.is_ascii_digit());
            if c == '-' && before && after {
                '\u{2013}'
            } else {
                c
            }
        })
        .collect()
}

fn smart_quotes(text: &str) -> String {
    each_line(text, |line| {
        let mut out = String::new();
        for (index, part) in line.split('"').enumerate() {
            if index > 0 {
                out.push(if index % 2 == 1 {
                    '\u{201c}'
                } else {
                    '\u{201d}'
                });
            }
            out.push_str(part);
        }
        out
    })
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A span of a highlighter around each number that stands by itself.
fn coloured(text: &str) -> String {
    each_line(text, |line| {
        let words = line.split(' ').map(|word| {
            let number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            if number {
                format!("<span class=\"mi\">{word}</span>")
            } else {
                word.to_owned()
            }
        });
        words.collect::<Vec<_>>().join(" ")
    })
}

/// Breaks lines at the last blank before column 72, as mail programs do; words stay whole.
fn wrap(text: &str) -> String {
    each_line(text, |line| {
        let mut out = String::new();
        let mut rest = line;
        while rest.len() > 72 && rest.is_ascii() {
            let body = rest.len() - rest.trim_start().len();
            let at = rest[..72].rfind(' ').filter(|&at| at > body);
            let Some(at) = at.or_else(|| rest[72..].find(' ').map(|at| at + 72)) else {
                break;
            };
            out.push_str(&rest[..at]);
            out.push('\n');
            rest = rest[at..].trim_start_matches(' ');
        }
        out + rest
    })
}

/// What must stay: numbers with their bounds, without the texts and places they were read from.
fn measured(text: &str) -> Vec<Value> {
    let log = Log::from_bytes("log", text.as_bytes()).unwrap();
    fio_parse::parse(&log).records.iter().map(kept).collect()
}

fn kept(record: &Record) -> Value {
    let mut value = json!({
        "scope": record.scope,
        "direction": record.direction,
        "measurement": record.measurement,
    });
    without_places(&mut value);
    value
}

fn without_places(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("printed");
            map.values_mut().for_each(without_places);
        }
        Value::Array(items) => items.iter_mut().for_each(without_places),
        _ => {}
    }
}

fn inputs() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let mut found = Vec::new();
    for folder in ["logs", "runs"] {
        for entry in fs::read_dir(fixtures.join(folder)).unwrap() {
            let folder = entry.unwrap().path();
            found.extend(
                ["input.txt", "normal.txt"]
                    .map(|name| folder.join(name))
                    .into_iter()
                    .filter(|path| path.exists()),
            );
        }
    }
    found.sort();
    found
}

/// The first place where two values differ, as a path.
fn difference(path: &str, a: &Value, b: &Value) -> Option<String> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys: Vec<_> = a.keys().chain(b.keys()).collect();
            keys.sort();
            keys.dedup();
            keys.into_iter().find_map(|key| {
                let [a, b] = [a, b].map(|map| map.get(key).unwrap_or(&Value::Null));
                difference(&format!("{path}.{key}"), a, b)
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(at, (a, b))| difference(&format!("{path}[{at}]"), a, b)),
        _ => (a != b).then(|| {
            let short = |value: &Value| value.to_string().chars().take(80).collect::<String>();
            format!("{path}: {} became {}", short(a), short(b))
        }),
    }
}

#[test]
fn measurements_stay_as_they_are() {
    let inputs = inputs();
    assert!(inputs.len() > 15, "expected the fixtures");
    let mut problems = Vec::new();
    for path in inputs {
        let text = fs::read_to_string(&path).unwrap();
        let wanted = measured(&text);
        assert!(!wanted.is_empty(), "{}: expected results", path.display());
        for (name, transform) in TRANSFORMS {
            let changed = transform(&text);
            let found = measured(&changed);
            let problem = if found.len() == wanted.len() {
                wanted
                    .iter()
                    .zip(&found)
                    .enumerate()
                    .find_map(|(at, (a, b))| difference(&format!("record {at}"), a, b))
            } else {
                Some(format!("{} records became {}", wanted.len(), found.len()))
            };
            if let Some(problem) = problem {
                let folder = path.parent().unwrap().file_name().unwrap();
                problems.push(format!("{}, {name}: {problem}", folder.display()));
                if std::env::var_os("KEEP").is_some() {
                    let name = format!("{}-{}.txt", folder.display(), name.replace(' ', "_"));
                    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), changed).unwrap();
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
