//! What is said to the person: on stderr all talk, on request the list of differences. Texts
//! from outside are shown so that a terminal obeys nothing in them.

use std::io::{self, Write};
use std::time::Duration;

use crate::caution::KINDS as CAUTIONS;
use crate::clock::SystemClock;
use crate::input::Found;
use crate::outcome::Outcome;
use crate::plan::note::{KINDS, plain_text};
use crate::plan::{Refusal, Verdict};
use crate::self_test;

/// A workload by its number and what it asks for.
pub(super) fn title(number: usize, found: &Found) -> String {
    let shared = match found.results {
        0 | 1 => String::new(),
        results => format!(" (shared by {results} results)"),
    };
    format!(
        "workload {}: {}{shared}",
        number + 1,
        plain_text(&found.workload.key)
    )
}

/// Writes to stderr. Talk that nobody can take, on a full disk or a closed pipe, must not end
/// a run, so errors are ignored.
pub(super) fn talk(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// A line of this program's own.
pub(super) fn say(message: &str) {
    // Messages quote texts from outside.
    let lines: Vec<String> = message.lines().map(plain_text).collect();
    talk(&format!("fio-replay: {}\n", lines.join("\n")));
}

/// Why a workload is not run.
pub(super) fn say_refused(number: usize, found: &Found, refusals: &[Refusal]) {
    say(&format!("refused {}", title(number, found)));
    for refusal in refusals {
        talk(&format!("  {}\n", located(found, refusal)));
    }
}

/// A refusal with the places of its option in the text.
pub(super) fn located(found: &Found, refusal: &Refusal) -> String {
    /// More places of the same option are the same slip of the pen.
    const MOST: usize = 4;
    let (Some(option), Some(origin)) = (&refusal.option, &found.origin) else {
        return refusal.to_string();
    };
    let name = plain_text(&origin.name);
    let spots = origin.option(option, &refusal.sections);
    let mut places: Vec<String> = spots
        .iter()
        .take(MOST)
        .map(|(line, column)| format!("{name}:{line}:{column}"))
        .collect();
    if spots.len() > MOST {
        places.push(format!("{} more", spots.len() - MOST));
    }
    match places[..] {
        [] => refusal.to_string(),
        _ => format!("{refusal} ({})", places.join(", ")),
    }
}

/// What the system did not grant.
pub(super) fn remarks(outcome: &Outcome) {
    if let Outcome::Fio(outcome) = outcome {
        let remarks = outcome.jobs.iter().flatten().flat_map(|job| &job.remarks);
        remarks.for_each(|remark| say(remark));
    }
}

/// What the instrument costs.
pub(super) fn show_costs(out: &mut dyn Write) -> io::Result<()> {
    const EACH: Duration = Duration::from_millis(50);
    let clock = SystemClock::new();
    writeln!(
        out,
        "clock: {}, precision {} ns, drift {:.1e}",
        clock.source(),
        self_test::precision(&clock),
        clock.drift()
    )?;
    for cost in self_test::costs(&clock, EACH) {
        writeln!(out, "{:>10.2} ns per I/O: {}", cost.ns, cost.part)?;
    }
    Ok(())
}

/// A warning where the instrument is part of what it measured: its cost is more than a
/// twentieth of the time between two I/Os.
pub(super) fn check_overhead(outcome: &Outcome, cost_ns: [f64; 2]) {
    let Outcome::Fio(outcome) = outcome else {
        return;
    };
    for job in outcome.jobs.iter().flatten() {
        let ios = job.flows[0].ios + job.flows[1].ios;
        let each_ns = job.window_ns as f64 / ios.max(1) as f64;
        let [alone, together] = cost_ns;
        let batched = job.depths[1..].iter().any(|&level| level > 0);
        let cost = if batched { together } else { alone };
        let share = cost * 100.0 / each_ns.max(1.0);
        if ios > 0 && share > self_test::NOTABLE_PERCENT {
            say(&format!(
                "the instrument takes {cost:.0} of {each_ns:.0} ns per I/O ({share:.0} %): it is part \
                 of what was measured"
            ));
        }
    }
}

/// All ids with their meaning.
pub(super) fn explain_fidelity(out: &mut dyn Write) -> io::Result<()> {
    for level in [Verdict::Exact, Verdict::Equivalent, Verdict::Deviates] {
        writeln!(out, "{level}:")?;
        for kind in KINDS.iter().filter(|kind| kind.level == level) {
            write!(out, "  {}: {}", kind.id, kind.why)?;
            if !kind.affects.is_empty() {
                write!(out, " (spoils {})", kind.affects.join(", "))?;
            }
            writeln!(out)?;
        }
    }
    writeln!(out, "said of figures, whatever the original was:")?;
    for kind in CAUTIONS {
        writeln!(out, "  {}: {}", kind.id, kind.why)?;
    }
    Ok(())
}
