//! Bounds on a finished plan: room on the disk, time, bytes written, the battery.

use super::note::Refusal;
use super::{Plan, Target, binary};

/// Whether the files fit, and the run ends in time.
pub(super) fn check_space(plan: &Plan, target: &Target) -> Result<(), Refusal> {
    let bytes = plan.file_bytes();
    if bytes > target.limits.file_bytes {
        return Err(Refusal::new(
            "too-large",
            format!(
                "the test files take {} and the limit is {}; scale the test down with --size, or \
                 permit it with --allow-large",
                binary(bytes),
                binary(target.limits.file_bytes)
            ),
        ));
    }
    if let Some(space) = target.space
        && bytes > space.usable()
    {
        return Err(Refusal::new(
            "no-space",
            format!(
                "the test files take {} and only {} can be used there, for some space must stay \
                 free; scale the test down with --size",
                binary(bytes),
                binary(space.usable())
            ),
        ));
    }
    if let Some(longest) = plan.longest_ns().max(plan.least_ns())
        && longest > target.limits.runtime_ns
    {
        return Err(Refusal::new(
            "too-long",
            format!(
                "the test takes {} s, with startdelay and pauses, and the limit is {} s; shorten it \
                 with --runtime, or permit it with --allow-long",
                longest / 1_000_000_000,
                target.limits.runtime_ns / 1_000_000_000
            ),
        ));
    }
    Ok(())
}

/// From so many bytes on a test wears flash, and empties a battery.
const MUCH: u64 = 16 << 30;
/// From such a time on a test that writes as fast as it can does.
const LONG_NS: u64 = 300_000_000_000;
/// A battery with less is for bringing the machine home.
const LOW_BATTERY: u8 = 20;

/// How much it writes, where that is much.
pub(super) fn much_to_write(plan: &Plan) -> Option<String> {
    match (plan.written_bytes(), plan.longest_ns()) {
        (Some(bytes), _) => (bytes > MUCH).then(|| binary(bytes)),
        (None, Some(longest)) => {
            (longest >= LONG_NS).then(|| format!("as much as {} s allow", longest / 1_000_000_000))
        }
        (None, None) => None,
    }
}

/// What is written wears flash and takes power.
pub(super) fn check_writes(plan: &Plan, target: &Target) -> Result<(), Refusal> {
    let bytes = plan.written_bytes();
    if let Some(bytes) = bytes
        && bytes > target.limits.written_bytes
    {
        return Err(Refusal::new(
            "too-much-written",
            format!(
                "the test writes {} and the limit is {}, for writing wears flash; scale it down with \
                 --size, or permit it with --allow-long",
                binary(bytes),
                binary(target.limits.written_bytes)
            ),
        ));
    }
    if let Some(percent) = target
        .battery_percent
        .filter(|&percent| percent < LOW_BATTERY)
        && bytes.is_none_or(|bytes| bytes > MUCH)
    {
        return Err(Refusal::new(
            "battery",
            format!(
                "the battery is at {percent} % and the test writes {}; connect the mains, or scale it \
                 down with --size to {} at most",
                bytes.map_or("as much as its time allows".to_owned(), binary),
                binary(MUCH)
            ),
        ));
    }
    Ok(())
}
