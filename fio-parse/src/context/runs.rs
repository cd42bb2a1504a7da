//! Counts invocations of the tool: which results are of one run of it, by the order in which fio prints.

/// What kind of result a block is, as far as counting runs goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// A job section of this group.
    Job(u32),
    /// The status of this group.
    Group(u32),
    /// A result that is a run of its own: a dd report.
    Whole,
    /// This many JSON documents, each a run of its own, or the terse lines of one run.
    Documents(u32),
}

/// Counts invocations of the tool. fio prints all jobs, then all groups in rising order: what breaks that order is a new run.
#[derive(Default)]
pub(super) struct Runs {
    count: u32,
    open: bool,
    group: Option<u32>,
}

impl Runs {
    /// What follows is of another run.
    pub(super) fn close(&mut self) {
        self.open = false;
    }

    /// The number of the run that the result belongs to, and whether it is the first of it.
    pub(super) fn enter(&mut self, kind: ResultKind) -> (u32, bool) {
        let goes_on = self.open
            && match kind {
                ResultKind::Job(_) => self.group.is_none(),
                ResultKind::Group(group) => self.group.is_none_or(|last| last < group),
                ResultKind::Whole | ResultKind::Documents(_) => false,
            };
        if !goes_on {
            self.count += 1;
            self.group = None;
        }
        // nothing goes on from a result that is a run of its own
        self.open = !matches!(kind, ResultKind::Whole | ResultKind::Documents(_));
        if let ResultKind::Group(group) = kind {
            self.group = Some(group);
        }
        let run = self.count;
        if let ResultKind::Documents(documents) = kind {
            self.count += documents.saturating_sub(1);
        }
        (run, !goes_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_follow_the_order_of_fio() {
        let mut runs = Runs::default();
        let kinds = [
            ResultKind::Job(0),
            ResultKind::Job(1),
            ResultKind::Group(0),
            ResultKind::Group(1),
            ResultKind::Group(0),
            ResultKind::Job(0),
            ResultKind::Whole,
            ResultKind::Whole,
        ];
        let numbers: Vec<_> = kinds.into_iter().map(|kind| runs.enter(kind).0).collect();
        assert_eq!(numbers, [1, 1, 1, 1, 2, 3, 4, 5]);
    }
}
