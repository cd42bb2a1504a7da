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
use replay::report::{json, logs, terse, text};
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
        let control = Control::default();
        let worker = Worker::new(job, Null::new(buffers), &clock, media, &control);
        *place = Some(worker.logging(10_000).run());
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

/// A whole number of a reading's unit, floored as JSON and terse print it, holds the truth.
fn within(what: &str, lo: f64, hi: f64, truth: f64) {
    assert!(
        (lo..=hi).contains(&truth),
        "{what}: {truth} is not in {lo}..{hi}"
    );
}

/// Compares every figure of an entry that a record holds; gives how many there were.
fn entry_holds(
    form: &str,
    found: &fio_parse::Measurement,
    entry: &replay::outcome::Entry<'_>,
    index: usize,
) -> usize {
    let mut compared = 0;
    let figures = entry.figures(index).unwrap();
    let flow = &entry.flows[index];
    macro_rules! check {
        ($what:literal, $reading:expr, $truth:expr) => {
            if let Some(reading) = &$reading {
                let (lo, hi) = (reading.lo().to_f64(), reading.hi().to_f64());
                within(&format!("{form}: {}", $what), lo, hi, $truth);
                compared += 1;
            }
        };
    }
    check!(
        "bandwidth",
        found.bytes_per_sec,
        figures.bytes_per_sec as f64
    );
    check!("bytes", found.bytes, figures.bytes as f64);
    // Text and terse print the whole number that fio holds, JSON the fraction.
    let iops = match form {
        "text" | "terse" => figures.iops.floor(),
        _ => figures.iops,
    };
    check!("iops", found.iops, iops);
    check!(
        "run time",
        found.runtime_ns,
        figures.runtime_ms as f64 * 1e6
    );
    for (name, latency, stat) in [
        ("slat", &found.slat_ns, &flow.slat),
        ("clat", &found.clat_ns, &flow.clat),
        ("lat", &found.lat_ns, &flow.lat),
    ] {
        let Some(latency) = latency else { continue };
        check!("least latency", latency.min, stat.min() as f64);
        check!("most latency", latency.max, stat.max() as f64);
        check!("mean latency", latency.mean, stat.mean());
        check!("deviation", latency.stddev, stat.stddev());
        if name == "clat" {
            let percents: Vec<f64> = latency.percentiles.iter().map(|one| one.p).collect();
            let truths = flow.clat_histogram.percentiles(&percents);
            for (one, truth) in latency.percentiles.iter().zip(truths) {
                check!("percentile", Some(one.reading.clone()), truth as f64);
            }
        }
    }
    if let Some(ios) = &found.ios {
        assert_eq!(ios.total, flow.ios, "{form}: I/Os");
        compared += 1;
    }
    compared
}

#[test]
fn every_figure_of_every_job_comes_back_from_every_form() {
    let (mut jobs_compared, mut figures_compared) = (0, [0; 4]);
    for (round, step) in [7u64, 131, 2_003, 30_011, 450_007].into_iter().enumerate() {
        for first in 0..6 {
            let jobs: Vec<JobPlan> = (first..first + 1 + round as u32 % 3)
                .map(|number| job(number, false))
                .collect();
            jobs_compared += jobs.len();
            let plan = FioPlan {
                files: vec![],
                jobs,
            };
            let mut outcome = measured(&plan, step);
            outcome.flush_after_ns = vec![None];
            let forms = [
                text::fio(&plan, &outcome),
                json::fio(&plan, &outcome, false, None),
                json::fio(&plan, &outcome, true, None),
                terse::fio(&plan, &outcome),
            ];
            for (form, report) in forms.iter().enumerate() {
                let name = ["text", "json", "json+", "terse"][form];
                let records = read_back(report);
                for group in groups(&plan, &outcome) {
                    for entry in &group.entries {
                        for (index, direction) in
                            [Direction::Read, Direction::Write].into_iter().enumerate()
                        {
                            if entry.figures(index).is_none() {
                                continue;
                            }
                            let record = records.iter().find(|record| {
                                record.direction == direction
                                    && record.scope.job.as_deref() == Some(&*entry.job.name)
                            });
                            let record = record.unwrap_or_else(|| {
                                panic!("{name}: no {direction} of {} in:\n{report}", entry.job.name)
                            });
                            figures_compared[form] +=
                                entry_holds(name, &record.measurement, entry, index);
                        }
                    }
                }
            }
        }
    }
    assert!(jobs_compared >= 40, "only {jobs_compared} jobs");
    assert!(
        figures_compared.iter().all(|&count| count >= 40 * 15),
        "too few figures were read back: {figures_compared:?}"
    );
}

/// The log of this kind, after it was read back.
fn logged<'a>(all: &'a [logs::Log], kind: &str) -> &'a str {
    let (ending, text) = all
        .iter()
        .find(|(ending, _)| ending == &format!("_{kind}.1.log"))
        .unwrap();
    let log = Log::from_bytes(format!("x{ending}"), text.as_bytes()).unwrap();
    let records = fio_parse::parse(&log).records;
    let read = text.is_empty() || !records.is_empty();
    assert!(read, "{ending} was not read back:\n{text}");
    text
}

/// Time, value, direction and block of the lines.
fn lines(text: &str) -> Vec<[u64; 4]> {
    let number = |text: &str| text.trim().parse::<u64>().unwrap();
    text.lines()
        .map(|line| {
            let fields: Vec<u64> = line.split(',').map(number).collect();
            assert_eq!((fields.len(), fields[4]), (5, 0), "{line}");
            [fields[0], fields[1], fields[2], fields[3]]
        })
        .collect()
}

#[test]
fn the_windows_of_the_logs_are_those_of_the_series() {
    let mut compared = 0;
    for number in 0..3 {
        for average_ms in [0, 250, 700] {
            let mut job = job(number, false);
            job.region = 4096 * 4000;
            job.logs.average_ms = average_ms;
            let plan = FioPlan {
                files: vec![],
                jobs: vec![job],
            };
            // A millisecond per reading of the clock: seconds of run time, several windows.
            let outcome = measured(&plan, 1_000_003);
            let all = logs::fio(&plan, &outcome);
            let samples = &outcome.jobs[0].as_ref().unwrap().samples;
            // None is named, so there are all, over windows whatever log_avg_msec says.
            let each = if average_ms == 0 { 500 } else { average_ms };
            let windows = replay::outcome::joined(samples, each);
            assert!(windows.len() > 3, "{} windows", windows.len());
            let mut start = 0;
            let (mut rates, mut ios) = (Vec::new(), Vec::new());
            for window in &windows {
                let ms = replay::outcome::runtime_ms(window.end_ns - start);
                let grid = u64::from(each) * 1_000_000;
                assert!(
                    window.end_ns / grid > start / grid,
                    "one line of the grid each"
                );
                start = window.end_ns;
                for way in 0..2 {
                    if window.ios[way] > 0 {
                        let at = window.end_ns / 1_000_000;
                        let bytes = u128::from(window.bytes[way]) * 1000 / 1024 / u128::from(ms);
                        rates.push([at, bytes as u64, way as u64, 0]);
                        ios.push([at, window.ios[way] * 1000 / ms, way as u64, 0]);
                    }
                }
            }
            assert_eq!(lines(logged(&all, "bw")), rates);
            assert_eq!(lines(logged(&all, "iops")), ios);
            compared += rates.len() + ios.len();
        }
    }
    assert!(compared > 50, "only {compared} lines");
}

/// What the logs of latency have in sum is what the results have, and the lines of windows are
/// the windows of the lines of I/Os.
#[test]
fn the_logs_of_latency_have_every_io() {
    for number in 0..6 {
        let run = |average_ms: u32| {
            let mut job = job(number, false);
            job.region = 4096 * 1000;
            (job.logs.latency, job.logs.average_ms) = (true, average_ms);
            let plan = FioPlan {
                files: vec![],
                jobs: vec![job],
            };
            let outcome = measured(&plan, 1_000_003);
            let all = logs::fio(&plan, &outcome);
            (outcome, all)
        };
        let (outcome, all) = run(0);
        let result = outcome.jobs[0].as_ref().unwrap();
        let (_, averaged) = run(300);
        for kind in ["slat", "clat", "lat"] {
            let each = lines(logged(&all, kind));
            let windows = lines(logged(&averaged, kind));
            for way in 0..2u64 {
                let flow = &result.flows[way as usize];
                let stat = match kind {
                    "slat" => &flow.slat,
                    "clat" => &flow.clat,
                    _ => &flow.lat,
                };
                let of = |lines: &[[u64; 4]]| -> Vec<[u64; 4]> {
                    lines
                        .iter()
                        .filter(|line| line[2] == way)
                        .copied()
                        .collect()
                };
                let each = of(&each);
                assert_eq!(each.len() as u64, stat.count(), "{kind}");
                let sum: u128 = each.iter().map(|line| u128::from(line[1])).sum();
                assert_eq!(sum, u128::from(stat.sum()), "{kind}");
                // A window ends with the first I/O at its line of the grid or behind it.
                let windows = of(&windows);
                let mut found = windows.iter();
                let (mut since, mut count, mut sum) = (0, 0, 0);
                for (index, io) in each.iter().enumerate() {
                    (count, sum) = (count + 1, sum + io[1]);
                    let over = io[0] >= since + 300;
                    if over || index + 1 == each.len() {
                        let window = found.next().unwrap();
                        assert!(!over || window[0] == io[0], "{kind}: {window:?} {io:?}");
                        assert!((sum / count).abs_diff(window[1]) <= 1, "{kind}: {window:?}");
                        (since, count, sum) = (io[0] - io[0] % 300, 0, 0);
                    }
                }
                assert_eq!(found.next(), None, "{kind}: behind the last window");
            }
        }
    }
}
