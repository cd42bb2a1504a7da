//! Groups, rates and series against fio's figures.

use super::*;
use crate::plan::job::tests::job;

fn outcome(bytes: u64, window_ms: u64) -> JobOutcome {
    let mut outcome = JobOutcome::default();
    outcome.flows[1].bytes = bytes;
    outcome.flows[1].ios = bytes / 4096;
    outcome.window_ns = window_ms * 1_000_000;
    outcome.windows_ns = [outcome.window_ns; 2];
    outcome.io_phase_ns = outcome.window_ns;
    outcome
}

fn two_jobs(group_reporting: bool) -> (FioPlan, FioOutcome) {
    let mut plan = FioPlan {
        files: Vec::new(),
        jobs: vec![job("write"), job("write")],
    };
    plan.jobs
        .iter_mut()
        .for_each(|job| job.group_reporting = group_reporting);
    let jobs = vec![Some(outcome(65_536, 751)), Some(outcome(65_536, 151))];
    let outcome = FioOutcome {
        jobs,
        layout_ns: 0,
        flush_after_ns: vec![None],
        ended: SystemTime::UNIX_EPOCH,
        elapsed_ns: 751_000_000,
        stopped: None,
        signal: None,
        failure: None,
    };
    (plan, outcome)
}

#[test]
fn a_straggler_lowers_the_group_s_rate() {
    // fio 3.33: 32 x 4 KiB over jobs of 751 and 151 ms give 174529 B/s.
    for group_reporting in [false, true] {
        let (plan, outcome) = two_jobs(group_reporting);
        let groups = groups(&plan, &outcome);
        assert_eq!(groups[0].entries.len(), if group_reporting { 1 } else { 2 });
        let figures = groups[0].figures(1).unwrap();
        assert_eq!(figures.all.bytes_per_sec, 174_529);
        let shortest = if group_reporting { 751 } else { 151 };
        assert_eq!(figures.runtimes_ms, (shortest, 751));
        assert_eq!(groups[0].figures(0), None);
    }
}

#[test]
fn run_times_round_up_to_whole_milliseconds() {
    assert_eq!([0, 1, 1_000_000, 1_000_001].map(runtime_ms), [1, 1, 1, 2]);
    assert_eq!(rate(u64::MAX, 1000), u64::MAX, "no overflow");
    // 64 KiB in "1 ms": why short runs are useless.
    assert_eq!(rate(65_536, 1), 65_536_000);
}

#[test]
fn series_are_averaged_per_window_and_summed_over_jobs() {
    let sample = |end_ms: u64, bytes| Sample {
        end_ns: end_ms * 1_000_000,
        bytes: [0, bytes],
        ios: [0, bytes / 4096],
    };
    let (plan, mut outcome) = two_jobs(true);
    for job in outcome.jobs.iter_mut().flatten() {
        job.samples = vec![sample(500, 512 << 10), sample(1000, 1 << 20)];
    }
    let groups = groups(&plan, &outcome);
    let (rates, iops) = sample_stats(&groups[0].entries[0], 1).unwrap();
    assert_eq!(
        (rates.min, rates.max, rates.mean, rates.count),
        (2048.0, 4096.0, 3072.0, 4)
    );
    assert_eq!((iops.min, iops.max), (512.0, 1024.0));
}

#[test]
fn what_cuts_a_run_short_is_the_error_of_each_job_without_one() {
    let (plan, mut outcome) = two_jobs(false);
    outcome.stopped = Some(Stop::Interrupted);
    let failure = Failure {
        code: libc::EIO,
        what: "a read failed".to_owned(),
    };
    outcome.jobs[1].as_mut().unwrap().failure = Some(failure.clone());
    let groups = groups(&plan, &outcome);
    let [first, second] = &groups[0].entries[..] else {
        panic!()
    };
    assert_eq!(first.error().unwrap().code, libc::EINTR);
    assert_eq!(second.error(), Some(failure));
}

#[test]
fn cpu_shares_are_of_the_time_they_were_counted_over() {
    let (plan, mut outcome) = two_jobs(true);
    for job in outcome.jobs.iter_mut().flatten() {
        job.usage = Some(Usage {
            user_ns: 40_000,
            ..Usage::default()
        });
        job.cpu_ns = 50_000;
    }
    let groups = groups(&plan, &outcome);
    let entry = &groups[0].entries[0];
    assert_eq!(entry.cpu_share(entry.usage.unwrap().user_ns), 80.0);
}

#[test]
fn a_flush_of_what_the_ramp_wrote_is_no_figure_of_the_window() {
    let (plan, mut outcome) = two_jobs(true);
    for job in outcome.jobs.iter_mut().flatten() {
        job.issued = [16, 65_536, 65_536];
    }
    assert!(!groups(&plan, &outcome)[0].entries[0].flush_of_ramp);
    outcome.jobs[1].as_mut().unwrap().issued = [20, 81_920, 81_920];
    assert!(groups(&plan, &outcome)[0].entries[0].flush_of_ramp);
}
