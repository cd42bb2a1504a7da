//! Where the options of a command or a job file stand, for messages about them.
//!
//! An option that is given several times is the last one, as for fio: of the job itself, else of the defaults in
//! front of it.

use std::borrow::Cow;

use crate::source::Span;

/// The options of a text in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    given: Vec<Place>,
}

/// One option.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    /// The job that it belongs to; none for defaults and for options of the program.
    job: Option<u32>,
    /// Its main name.
    option: Cow<'static, str>,
    span: Span,
}

impl Places {
    /// Adds an option; a job begins with its `name`.
    pub(super) fn push(
        &mut self,
        job: Option<u32>,
        option: impl Into<Cow<'static, str>>,
        span: Span,
    ) {
        let option = option.into();
        self.given.push(Place { job, option, span });
    }

    /// The same with spans that count elsewhere.
    pub(super) fn moved(mut self, to: impl Fn(Span) -> Span) -> Self {
        for place in &mut self.given {
            place.span = to(place.span);
        }
        self
    }

    /// Where the value comes from that an option, by its main name, has in the job of this number; without a number
    /// wherever it is given last. `direct` may be given as `buffered`, `rwmixread` as `rwmixwrite`.
    pub fn find(&self, job: Option<u32>, option: &str) -> Option<Span> {
        let twin = match option {
            "direct" => "buffered",
            "rwmixread" => "rwmixwrite",
            _ => option,
        };
        let named = |place: &&Place| place.option == option || place.option == twin;
        let span = |place: &Place| place.span;
        let Some(job) = job else {
            return self.given.iter().rev().find(named).map(span);
        };
        let own = |place: &&Place| place.job == Some(job);
        let begin = self.given.iter().position(|place| own(&place));
        let before = &self.given[..begin.unwrap_or(self.given.len())];
        let own = self.given.iter().rev().filter(own).find(named);
        let default = || {
            before
                .iter()
                .rev()
                .filter(|place| place.job.is_none())
                .find(named)
        };
        own.or_else(default).map(span)
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::command::option_places;
    use crate::workload::jobfile::parse_job_file;

    #[test]
    fn an_option_stands_where_its_value_comes_from() {
        let text = "[global]\nbs=4k\nrw=read\n[a]\nrw=write ; why\n[global]\nbs=2k\n[b]\nREADWRITE = raed\n";
        let places = parse_job_file(text).places;
        let at = |job, option| {
            places.find(job, option).map(|span| {
                (
                    span.start as usize,
                    &text[span.start as usize..span.end as usize],
                )
            })
        };
        assert_eq!(at(Some(0), "rw"), Some((27, "rw=write")));
        assert_eq!(
            at(Some(0), "bs"),
            Some((9, "bs=4k")),
            "as it was in front of the job"
        );
        assert_eq!(at(Some(1), "bs"), Some((51, "bs=2k")));
        assert_eq!(at(Some(1), "rw"), Some((61, "READWRITE = raed")));
        assert_eq!(at(None, "rw"), at(Some(1), "rw"));
        assert_eq!(at(Some(0), "size"), None);
    }

    #[test]
    fn of_a_command_too_in_all_spellings() {
        let text = "$ sudo fio --bs=1k --name=a '--blocksize=4k' \\\n  --name=b -size 1mm \u{2013}buffered=x &amp; true";
        let places = option_places(text);
        let at = |job, option| {
            places
                .find(Some(job), option)
                .map(|span| &text[span.start as usize..span.end as usize])
        };
        assert_eq!(at(0, "bs"), Some("blocksize=4k'"));
        assert_eq!(at(1, "bs"), Some("bs=1k"));
        assert_eq!(at(1, "size"), Some("size 1mm"));
        assert_eq!((at(0, "size"), at(1, "direct")), (None, Some("buffered=x")));
        let text = "dd if=/dev/zero OF=x oflag=drect";
        let span = option_places(text).find(None, "oflag").unwrap();
        assert_eq!(&text[span.start as usize..], "oflag=drect");
        assert_eq!(option_places("no command").find(None, "bs"), None);
    }
}
