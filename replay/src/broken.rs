//! What is wrong with an input that was meant as a job file and cannot be read as one.

use fio_parse::diagnostic::render;
use fio_parse::source::Log;
use fio_parse::workload::jobfile::parse_job_file;
use fio_parse::workload::options::lookup;

/// The faults with their places, if the text begins as job files do: with a section or an
/// option. Nothing about any other text.
pub(super) fn faults(name: &str, bytes: &[u8]) -> Vec<String> {
    /// A text with more is no job file.
    const MOST: usize = 5;
    let Ok(log) = Log::from_bytes(name, bytes) else {
        return Vec::new();
    };
    let lines = || log.text().lines().enumerate();
    let first = lines().find(|(_, line)| !without_comment(line).is_empty());
    let Some((number, line)) = first.filter(|(_, line)| begins_job_file(without_comment(line)))
    else {
        return Vec::new();
    };
    let file = parse_job_file(log.text());
    let mut faults: Vec<String> = file
        .diagnostics
        .iter()
        .take(MOST)
        .map(|diagnostic| render(&log, diagnostic))
        .map(|text| text.trim_end().to_owned())
        .collect();
    if file.workload.jobs().is_empty() {
        faults.push(format!(
            "{name}:{}:1: expected a section such as [test], which a job begins with; found {:?} and no section but \
             global ones",
            number + 1,
            line.trim()
        ));
    }
    faults
}

fn without_comment(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or("").trim()
}

fn begins_job_file(line: &str) -> bool {
    let key = line.split(['=', ' ', '\t']).next().unwrap_or("");
    let option = key.len() < line.len() && lookup(key, false).option().is_some();
    option || line.starts_with('[') && line.len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_has_its_line() {
        let of = |text: &str| faults("x", text.as_bytes());
        let said = of("; c\n\nrw=write\nsize=4k\n");
        assert!(
            said.last()
                .unwrap()
                .starts_with("x:3:1: expected a section"),
            "{said:?}"
        );
        let said = of("[a]\nrw write\nbs 4k\n");
        assert!(
            said[0].contains("x:2:1") && said[1].contains("x:3:1"),
            "{said:?}"
        );
        assert_eq!(of("Some prose\nrw=write\n"), [""; 0]);
        assert_eq!(of(""), [""; 0]);
    }
}
