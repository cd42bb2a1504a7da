//! The machine in one line, above the text of a test.

use serde_json::{Map, Value};

use crate::plan::binary;

/// What is known of the machine, shortest first; nothing if nothing is.
pub fn line(facts: &Map<String, Value>) -> String {
    let text = |name: &str| facts.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| facts.get(name).and_then(Value::as_u64);
    let mut parts = Vec::new();
    if let Some(kernel) = text("kernel") {
        parts.push(format!("Linux {kernel}"));
    }
    if let Some(cpus) = number("cpus") {
        let model = text("cpu").map_or(String::new(), |model| format!(" x {model}"));
        parts.push(format!("{cpus}{model}"));
    }
    if let Some(bytes) = number("memory_bytes") {
        parts.push(format!("{} of memory", binary(bytes)));
    }
    parts.extend(text("file_system"));
    if let Some(disk) = text("disk") {
        let model = text("disk_model").map_or(String::new(), |model| format!(" ({model})"));
        parts.push(format!("{disk}{model}"));
    }
    match parts.is_empty() {
        true => String::new(),
        // Begins with words that no parser of fio output takes for its own.
        false => format!(
            "fio-replay system: {}\n",
            crate::plan::note::plain_text(&parts.join(", "))
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_stands_in_one_line() {
        let facts = serde_json::json!({"kernel": "6.1", "cpus": 4, "memory_bytes": 1u64 << 34, "file_system": "ext4"});
        let Value::Object(facts) = facts else {
            panic!()
        };
        assert_eq!(
            line(&facts),
            "fio-replay system: Linux 6.1, 4, 16 GiB of memory, ext4\n"
        );
        assert_eq!(line(&Map::new()), "");
    }
}
