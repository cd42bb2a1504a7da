//! Which results are of one run: one invocation of the tool.

/// What kind of result a block is, as far as counting runs goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// A job section.
    Job,
    /// The sum over all servers of a client, which stands between the jobs and the groups of one of them.
    AllClients,
    /// The status of this group.
    Group(u32),
    /// A result that is a run of its own: a dd report.
    Whole,
    /// JSON documents that tell of this many runs, or the terse lines of one run.
    Documents(u32),
}

/// How many seconds apart two job sections of one report may be printed: all are, one after the other, at its end.
const ONE_REPORT: f64 = 5.0;

/// Counts invocations of the tool. fio prints all jobs, then all groups in rising order: what breaks that order is a new
/// run, and so is a job section that was printed at another time.
#[derive(Default)]
pub(super) struct Runs {
    count: u32,
    current: u32,
    open: bool,
    group: Option<u32>,
    /// Whether the sum over servers was printed, behind which there are no more jobs.
    summed: bool,
    /// When the last job section was printed.
    printed: Option<f64>,
    /// Whether a heading stands between the last result and what comes.
    headed: bool,
}

impl Runs {
    /// What follows is of another run.
    pub fn close(&mut self) {
        self.open = false;
    }

    /// What follows stands under a heading: jobs there are of another run, groups may be of the jobs above.
    pub fn under_heading(&mut self) {
        self.headed = true;
    }

    /// The number of the run that the result belongs to, and whether it is the first of it. Job sections say when they
    /// were `printed`, in seconds.
    pub fn enter(&mut self, kind: ResultKind, printed: Option<f64>) -> (u32, bool) {
        if kind == ResultKind::AllClients {
            self.count += 1;
            self.summed = true;
            return (self.count, true);
        }
        let headed = std::mem::take(&mut self.headed);
        let apart = match (self.printed, printed) {
            (Some(last), Some(now)) => (now - last).abs() > ONE_REPORT,
            _ => false,
        };
        let goes_on = self.open
            && match kind {
                ResultKind::Job => self.group.is_none() && !self.summed && !apart && !headed,
                ResultKind::Group(group) => self.group.is_none_or(|last| last < group),
                _ => false,
            };
        if !goes_on {
            self.count += 1;
            self.current = self.count;
            self.group = None;
            self.summed = false;
            self.printed = None;
        }
        self.printed = printed.or(self.printed);
        // nothing goes on from a result that is a run of its own
        self.open = !matches!(kind, ResultKind::Whole | ResultKind::Documents(_));
        if let ResultKind::Group(group) = kind {
            self.group = Some(group);
        }
        if let ResultKind::Documents(documents) = kind {
            self.count += documents.saturating_sub(1);
        }
        (self.current, !goes_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_follow_the_order_of_fio() {
        let mut runs = Runs::default();
        let kinds = [
            ResultKind::Job,
            ResultKind::Job,
            ResultKind::Group(0),
            ResultKind::Group(1),
            ResultKind::Group(0),
            ResultKind::Job,
            ResultKind::AllClients,
            ResultKind::Group(0),
            ResultKind::Job,
            ResultKind::Whole,
            ResultKind::Whole,
        ];
        let numbers: Vec<_> = kinds
            .into_iter()
            .map(|kind| runs.enter(kind, None).0)
            .collect();
        assert_eq!(numbers, [1, 1, 1, 1, 2, 3, 4, 3, 5, 6, 7]);
    }

    #[test]
    fn jobs_of_one_run_are_printed_together() {
        let mut runs = Runs::default();
        let times = [Some(10.0), Some(10.0), None, Some(11.0), Some(90.0)];
        let numbers = times.map(|time| runs.enter(ResultKind::Job, time).0);
        assert_eq!(numbers, [1, 1, 1, 1, 2]);
    }
}
