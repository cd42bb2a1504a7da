//! Where in its text a refused option stands, for messages.

use fio_parse::source::Span;
use fio_parse::workload::command::option_places;
use fio_parse::workload::jobfile::parse_job_file;

/// The text that a workload was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Name of the input.
    pub name: String,
    /// The line in it that the text begins with, from 1.
    pub line: usize,
    /// The column that it begins with, from 1.
    pub column: usize,
    /// The text, with its variables as they are written.
    pub text: String,
    /// It is a job file, else a command.
    pub job_file: bool,
}

/// A place: line and column from 1, the column in characters.
pub type Spot = (usize, usize);

impl Origin {
    /// Where an option with this main name is given in the jobs of these numbers; without any,
    /// where it is given last. In order, each place once.
    pub fn option(&self, main: &str, jobs: &[u32]) -> Vec<Spot> {
        let places = if self.job_file {
            parse_job_file(&self.text).places
        } else {
            option_places(&self.text)
        };
        let of_jobs = jobs.iter().filter_map(|&job| places.find(Some(job), main));
        let mut spans: Vec<Span> = match jobs {
            [] => places.find(None, main).into_iter().collect(),
            _ => of_jobs.collect(),
        };
        spans.sort_unstable();
        spans.dedup();
        let before = spans.iter().map(|span| &self.text[..span.start as usize]);
        before.map(|before| self.spot(before)).collect()
    }

    /// The place behind this part of the text.
    fn spot(&self, before: &str) -> Spot {
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before[start..].chars().count() + 1;
        match before.matches('\n').count() {
            // The text need not begin with its line.
            0 => (self.line, column + self.column - 1),
            lines => (self.line + lines, column),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_in_all_spellings_and_in_the_job_that_has_them() {
        let mut origin = Origin {
            name: "x".to_owned(),
            line: 10,
            column: 5,
            text: "fio --name=a --rw=read \\\n  --name=b --blocksize=4k -exec_prerun=x --rw=write"
                .to_owned(),
            job_file: false,
        };
        assert_eq!(origin.option("bs", &[1]), [(11, 14)]);
        assert_eq!(origin.option("exec_prerun", &[]), [(11, 28)]);
        assert_eq!(
            origin.option("rw", &[0]),
            [(10, 20)],
            "columns of the line, not of the text"
        );
        assert_eq!(origin.option("rw", &[1, 0]), [(10, 20), (11, 44)]);
        assert_eq!(origin.option("iodepth", &[0]), []);
        origin.text = "[global]\nbs=4q\n[a]\nrw=read\n[b]\nrw=raed\n".to_owned();
        (origin.line, origin.column, origin.job_file) = (1, 1, true);
        assert_eq!(origin.option("rw", &[1]), [(6, 1)]);
        assert_eq!(origin.option("bs", &[0, 1]), [(2, 1)], "once for both jobs");
    }
}
