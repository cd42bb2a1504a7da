//! The circle: what a run measured, printed in fio's form and read back by the parser, must
//! hold every true number in its intervals.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::sync::Arc;

use fio_parse::record::ScopeKind;
use fio_parse::unit::Quantity;
use fio_parse::{Direction, Log, Reading, Record};
use replay::clock::TestClock;
use replay::control::Control;
use replay::engine::null::Null;
use replay::media::Media;
use replay::memory::{Buffer, Pages};
use replay::outcome::{FioOutcome, groups};
use replay::plan::fio::FioPlan;
use replay::plan::job::{EngineKind, JobPlan, Pattern, Sizes, Syncs};
use replay::report::text;
use replay::script::SyncKind;
use replay::worker::Worker;

/// A file that is not there.
struct Nothing<'a> {
    clock: &'a TestClock,
    syncs: Cell<u32>,
}

impl Media for Nothing<'_> {
    fn open(&mut self) -> io::Result<Vec<Arc<File>>> {
        Ok(Vec::new())
    }
    fn invalidate(&mut self) -> io::Result<()> {
        Ok(())
    }
    fn hint(&mut self, _random: bool) -> io::Result<()> {
        Ok(())
    }
    fn sync(&mut self, _file: u32, _kind: SyncKind) -> io::Result<()> {
        self.syncs.set(self.syncs.get() + 1);
        self.clock.advance(7_654_321);
        Ok(())
    }
    fn close(&mut self) {}
}

fn job(number: u32, group_reporting: bool) -> JobPlan {
    let mixed = number % 3 == 2;
    let size = Sizes::One(512 << (number % 5));
    let pattern = Pattern {
        reads: number % 3 != 1,
        writes: !number.is_multiple_of(3),
        random: number.is_multiple_of(2),
    };
    JobPlan {
        section: number,
        group_reporting,
        sizes: [size.clone(), size],
        mix_read: if mixed { 70 } else { 50 },
        depth: 1 << (number % 4),
        asked_depth: 1 << (number % 4),
        engine: EngineKind::Null,
        asked_engine: "null".to_owned(),
        syncs: Syncs {
            fsync_every: 50 * (number % 2),
            end_fsync: true,
            ..Syncs::default()
        },
        seed: u64::from(number),
        ..JobPlan::plain(
            &format!("job-{number}"),
            pattern,
            4096 * (100 + 977 * u64::from(number)),
        )
    }
}

/// Runs jobs on a clock on which each reading takes `step` ns.
fn measured(plan: &FioPlan, step: u64) -> FioOutcome {
    let mut outcome = FioOutcome::new(plan);
    for (job, place) in plan.jobs.iter().zip(&mut outcome.jobs) {
        let clock = TestClock::new(step + u64::from(job.section) * 13);
        let buffers =
            Buffer::slots(job.depth as usize, job.largest_block() as usize, Pages::Now).unwrap();
        let media = Nothing {
            clock: &clock,
            syncs: Cell::new(0),
        };
        *place =
            Some(Worker::new(job, Null::new(buffers), &clock, media, &Control::default()).run());
    }
    outcome
}

fn holds<Q: Quantity>(what: &str, reading: Option<&Reading<Q>>, truth: u64) {
    let reading = reading.unwrap_or_else(|| panic!("{what} was not read back"));
    let (lo, hi) = (reading.lo().to_f64(), reading.hi().to_f64());
    assert!(
        (lo..=hi).contains(&(truth as f64)),
        "{what}: {truth} is not in {lo}..{hi}"
    );
}

fn read_back(text: &str) -> Vec<Record> {
    let log = Log::from_bytes("report.txt", text.as_bytes()).unwrap();
    fio_parse::parse(&log).records
}

#[test]
fn every_group_figure_comes_back_inside_its_interval() {
    let mut compared = 0;
    for (round, step) in [3u64, 91, 1_009, 20_011, 400_009, 7_000_003]
        .into_iter()
        .enumerate()
    {
        for first in 0..6 {
            let jobs = (first..first + 1 + round as u32 % 3)
                .map(|number| job(number, round % 2 == 0))
                .collect();
            let plan = FioPlan {
                files: vec![],
                jobs,
            };
            let mut outcome = measured(&plan, step);
            outcome.flush_after_ns = vec![None];
            let report = text::fio(&plan, &outcome);
            let records = read_back(&report);
            for group in groups(&plan, &outcome) {
                for (index, direction) in
                    [Direction::Read, Direction::Write].into_iter().enumerate()
                {
                    let Some(figures) = group.figures(index) else {
                        continue;
                    };
                    let record = records
                        .iter()
                        .find(|record| {
                            record.scope.kind == ScopeKind::Group && record.direction == direction
                        })
                        .unwrap_or_else(|| {
                            panic!("no {direction} group was read back from:\n{report}")
                        });
                    let found = &record.measurement;
                    holds(
                        "bandwidth",
                        found.bytes_per_sec.as_ref(),
                        figures.all.bytes_per_sec,
                    );
                    holds("bytes", found.bytes.as_ref(), figures.all.bytes);
                    holds(
                        "run time",
                        found.runtime_ns.as_ref(),
                        figures.all.runtime_ms * 1_000_000,
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 40, "only {compared} groups were compared");
}
