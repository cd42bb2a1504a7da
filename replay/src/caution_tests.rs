//! Each caution where it is due, and none where it is not.

use serde_json::json;

use super::*;
use crate::dd::{Blocks, DdOutcome};
use crate::plan::fio::FioPlan;
use crate::plan::job::tests::job;
use crate::plan::job::{Fallocate, FilePlan};
use crate::worker::JobOutcome;

const GIB: u64 = 1 << 30;

fn file(bytes: u64) -> FilePlan {
    FilePlan {
        name: "0.0".into(),
        label: "j.0.0".into(),
        bytes,
        written_in: None,
        fallocate: Fallocate::Native,
        sync: true,
        pre_read: false,
        device: false,
    }
}

/// A direct write of 1 GiB in 10 s that nothing is to be said about.
fn scene() -> (JobPlan, JobOutcome, Map<String, Value>) {
    let mut plan = job("write");
    (plan.direct, plan.content) = (true, Content::Refilled);
    let mut outcome = JobOutcome::default();
    (outcome.window_ns, outcome.io_phase_ns) = (10_000_000_000, 10_000_000_000);
    outcome.windows_ns = [10_000_000_000; 2];
    let flow = &mut outcome.flows[1];
    (flow.ios, flow.bytes) = (GIB / 4096, GIB);
    flow.lat.add(50_000);
    let Value::Object(facts) = json!({
        "memory_bytes": 16 * GIB, "file_system": "ext4", "mount_options": "rw,relatime",
        "disk": "nvme0n1", "disk_rotational": 0, "link_bytes_per_sec": 4_000_000_000u64,
        "cpu_governor": "performance", "virtual_machine": false, "power": "mains",
        "space_total_bytes": 100 * GIB, "space_used_bytes": 50 * GIB, "space_free_bytes": 50 * GIB,
        "noise_before": {"pressure_io": 0.5, "steal_ticks": 5, "throttled": 1},
        "noise_after": {"pressure_io": 90.0, "steal_ticks": 6, "throttled": 1},
    }) else {
        panic!()
    };
    (plan, outcome, facts)
}

fn found(
    change: impl Fn(&mut JobPlan, &mut JobOutcome, &mut Map<String, Value>),
) -> Vec<&'static str> {
    let (mut plan, mut outcome, mut facts) = scene();
    change(&mut plan, &mut outcome, &mut facts);
    let list = judged(plan, Some(outcome), &facts);
    list.iter().map(Caution::id).collect()
}

/// A plan of one job over one file.
fn plan_of(job: JobPlan) -> (Plan, FioOutcome) {
    let fio = FioPlan {
        files: vec![file(GIB)],
        jobs: vec![job],
    };
    let outcome = FioOutcome::new(&fio);
    let test = TestPlan::Fio(fio);
    let notes = Vec::new();
    (Plan { test, notes }, outcome)
}

fn judged(job: JobPlan, outcome: Option<JobOutcome>, facts: &Map<String, Value>) -> Vec<Caution> {
    let (plan, mut measured) = plan_of(job);
    measured.jobs[0] = outcome;
    cautions(&plan, &Outcome::Fio(measured), facts)
}

fn set(facts: &mut Map<String, Value>, name: &str, value: Value) {
    facts.insert(name.to_owned(), value);
}

#[test]
fn a_sound_run_has_none() {
    assert_eq!(found(|_, _, _| {}), [""; 0]);
}

#[test]
fn each_kind_is_told_where_it_is_due() {
    let mut seen = Vec::new();
    let mut due = |id: &'static str, ids: Vec<&'static str>| {
        assert_eq!(ids, [id]);
        seen.push(id);
    };
    due("fits-in-memory", found(|job, _, _| job.direct = false));
    due(
        "beyond-link",
        found(|_, _, facts| set(facts, "link_bytes_per_sec", 100_000_000.into())),
    );
    due(
        "durable-too-fast",
        found(|job, outcome, _| {
            job.dsync = true;
            outcome.flows[1].lat = Default::default();
            outcome.flows[1].lat.add(1_900);
        }),
    );
    due(
        "flush-too-fast",
        found(|_, outcome, facts| {
            set(facts, "disk_rotational", 1.into());
            outcome.syncs.count = 1;
            outcome.syncs.lat.add(20_000);
        }),
    );
    due(
        "compressible-content",
        found(|job, _, facts| {
            job.content = Content::Zeros;
            set(facts, "mount_options", "rw,compress=zstd:1".into());
        }),
    );
    due(
        "steps-down",
        found(|_, outcome, _| {
            let window = |end: u64, mib: u64| Sample {
                end_ns: end * 500_000_000,
                bytes: [0, mib << 20],
                ..Sample::default()
            };
            outcome.samples = (1..=30)
                .map(|end| window(end, if end <= 10 { 100 } else { 40 }))
                .collect();
        }),
    );
    due(
        "short-run",
        found(|_, outcome, _| {
            (outcome.window_ns, outcome.io_phase_ns) = (1_100_000, 1_100_000);
            outcome.windows_ns = [1_100_000; 2];
            outcome.flows[1].bytes = 1 << 20;
        }),
    );
    due(
        "no-local-disk",
        found(|_, _, facts| {
            facts.remove("disk");
            set(facts, "file_system", "overlay".into());
        }),
    );
    due(
        "encrypted-disk",
        found(|_, _, facts| set(facts, "disk_mapping", "CRYPT".into())),
    );
    due(
        "nearly-full",
        found(|_, _, facts| set(facts, "space_free_bytes", (5 * GIB).into())),
    );
    due(
        "on-battery",
        found(|_, _, facts| {
            set(
                facts,
                "power",
                "no mains, battery 55 % (Discharging)".into(),
            )
        }),
    );
    due(
        "cpu-governor",
        found(|_, _, facts| set(facts, "cpu_governor", "powersave".into())),
    );
    due(
        "cpu-throttled",
        found(|_, _, facts| set(facts, "noise_after", json!({"throttled": 3}))),
    );
    due(
        "virtual-machine",
        found(|_, _, facts| set(facts, "virtual_machine", true.into())),
    );
    due(
        "steal",
        found(|_, _, facts| set(facts, "noise_after", json!({"steal_ticks": 105}))),
    );
    due(
        "busy-disk",
        found(|_, _, facts| set(facts, "noise_before", json!({"pressure_io": 40.0}))),
    );
    let all: Vec<&str> = KINDS.iter().map(|kind| kind.id).collect();
    assert_eq!(seen.len(), all.len(), "each kind has its case");
    assert!(all.iter().all(|id| seen.contains(id)), "{all:?} {seen:?}");
}

/// fio's rule makes 1 ms of 0.4 ms: both rates are told.
#[test]
fn a_short_run_tells_both_rates() {
    let (plan, mut outcome, facts) = scene();
    (outcome.window_ns, outcome.windows_ns) = (400_000, [400_000; 2]);
    outcome.flows[1].bytes = 40_000;
    let list = judged(plan, Some(outcome), &facts);
    let short = list.iter().find(|caution| caution.id() == "short-run");
    let text = &short.expect("it is short").text;
    assert!(
        text.contains("40000000 B/s by the rule, 100000000 B/s by the clock"),
        "{text}"
    );
}

#[test]
fn a_dip_is_no_step() {
    let dip = |end: u64| if (10..14).contains(&end) { 10 } else { 100 };
    let samples: Vec<Sample> = (1..=40)
        .map(|end| Sample {
            end_ns: end * 500_000_000,
            bytes: [0, dip(end) << 20],
            ..Sample::default()
        })
        .collect();
    assert_eq!(step_down(&samples), None);
    assert_eq!(step_down(&samples[..15]), None, "too short to tell");
}

#[test]
fn nothing_is_said_of_a_run_that_measured_nothing() {
    let (plan, _, facts) = scene();
    assert_eq!(judged(plan.clone(), None, &facts), []);
    let (plan, _) = plan_of(plan);
    // A dd is judged by its own window.
    let dd = DdOutcome {
        read: Blocks {
            full: 1,
            partial: 0,
        },
        bytes: GIB,
        window_ns: 100_000_000,
        ..DdOutcome::default()
    };
    let ids: Vec<_> = cautions(&plan, &Outcome::Dd(dd), &facts)
        .iter()
        .map(Caution::id)
        .collect();
    assert_eq!(ids, ["beyond-link"]);
}
