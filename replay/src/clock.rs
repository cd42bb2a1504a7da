//! Time: the clock that stamps each I/O, and the CPU time a thread used.
//!
//! A stamp is a `u64` count of nanoseconds since an arbitrary origin. Reading the time
//! stamp counter costs about 9 ns, `clock_gettime` about 21 ns; two stamps are most of
//! what one I/O on the null engine costs, so the counter is used where it can be trusted:
//! x86-64, invariant TSC (CPUID 8000_0007h, EDX bit 8), and a kernel that itself keeps
//! time with it (`current_clocksource` is `tsc`, which also means that the kernel found
//! the counters of all CPUs in step). Everywhere else `clock_gettime` is used.
//!
//! The clock is an argument of everything that measures, so that tests can use
//! [`TestClock`], whose time passes only as told.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds since the clock's origin.
pub type Stamp = u64;

/// A clock that never goes backwards on one thread.
pub trait Clock: Sync {
    /// The present time.
    fn now(&self) -> Stamp;

    /// Lets this thread sleep for so long, ns.
    fn sleep(&self, ns: u64) {
        std::thread::sleep(std::time::Duration::from_nanos(ns));
    }
}

/// The machine's clock: the calibrated time stamp counter, or `clock_gettime`.
#[derive(Debug, Clone)]
pub struct SystemClock {
    #[cfg(target_arch = "x86_64")]
    tsc: Option<Tsc>,
}

impl SystemClock {
    /// Sets up the clock, calibrating the time stamp counter for 5 ms where it is usable.
    pub fn new() -> Self {
        SystemClock {
            #[cfg(target_arch = "x86_64")]
            tsc: Tsc::usable().then(Tsc::calibrate).flatten(),
        }
    }

    /// A clock that only uses `clock_gettime(CLOCK_MONOTONIC)`.
    pub fn portable() -> Self {
        SystemClock {
            #[cfg(target_arch = "x86_64")]
            tsc: None,
        }
    }

    /// What the stamps come from: `tsc` or `clock_gettime`.
    pub fn source(&self) -> &'static str {
        #[cfg(target_arch = "x86_64")]
        if self.tsc.is_some() {
            return "tsc";
        }
        "clock_gettime"
    }

    /// How far this clock has run from CLOCK_MONOTONIC since it was calibrated, as a
    /// fraction of the time passed (1e-6 is one second in 11 days).
    pub fn drift(&self) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if let Some(tsc) = &self.tsc {
            let here = tsc.now() as f64 - tsc.origin_ns as f64;
            let there = monotonic_ns() as f64 - tsc.origin_ns as f64;
            return if there > 0.0 { here / there - 1.0 } else { 0.0 };
        }
        0.0
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[inline(always)]
    fn now(&self) -> Stamp {
        #[cfg(target_arch = "x86_64")]
        if let Some(tsc) = &self.tsc {
            return tsc.now();
        }
        monotonic_ns()
    }
}

fn timespec(clock: libc::clockid_t) -> libc::timespec {
    let mut ts = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `ts` is valid for writes; the call stores one timespec and keeps no pointer.
    let result = unsafe { libc::clock_gettime(clock, &mut ts) };
    debug_assert_eq!(result, 0, "clock_gettime of a standard clock does not fail");
    ts
}

fn monotonic_ns() -> u64 {
    let ts = timespec(libc::CLOCK_MONOTONIC);
    ts.tv_sec as u64 * 1_000_000_000 + ts.tv_nsec as u64
}

/// The calibrated time stamp counter: `ns = base + ticks * mult / 2^64` modulo 2^64. The upper
/// half of one product is all that a stamp needs, and a tick is known to 2^-64 ns.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone)]
struct Tsc {
    base: u64,
    origin_ns: u64,
    /// Length of a tick, 2^-64 ns: below 1 ns, as counters of this kind run at more than 1 GHz.
    mult: u64,
}

#[cfg(target_arch = "x86_64")]
impl Tsc {
    const CALIBRATION_NS: u64 = 5_000_000;

    fn usable() -> bool {
        use std::arch::x86_64::__cpuid;
        let invariant =
            __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0;
        let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        invariant && std::fs::read_to_string(source).is_ok_and(|text| text.trim() == "tsc")
    }

    /// Brackets `clock_gettime` with two counter reads and keeps the tightest of 50 tries,
    /// at both ends of the calibration time. A bracket is some 40 ns wide, so over 5 ms the
    /// rate is known to about ten parts in a million. `None` for a counter below 1 GHz.
    fn calibrate() -> Option<Self> {
        let (first, origin_ns) = Self::bracket();
        while monotonic_ns() - origin_ns < Self::CALIBRATION_NS {
            std::hint::spin_loop();
        }
        let (last, last_ns) = Self::bracket();
        let mult = (u128::from(last_ns - origin_ns) << 64) / u128::from((last - first).max(1));
        let mult = u64::try_from(mult).ok()?;
        Some(Tsc {
            base: origin_ns.wrapping_sub(upper_half(first, mult)),
            origin_ns,
            mult,
        })
    }

    fn bracket() -> (u64, u64) {
        let mut best = (u64::MAX, 0, 0);
        for _ in 0..50 {
            let before = ticks();
            let ns = monotonic_ns();
            let after = ticks();
            let width = after.wrapping_sub(before);
            if width < best.0 {
                best = (width, before + width / 2, ns);
            }
        }
        (best.1, best.2)
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.base.wrapping_add(upper_half(ticks(), self.mult))
    }
}

/// The upper 64 bits of the product.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn upper_half(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ticks() -> u64 {
    // SAFETY: every x86-64 CPU has RDTSC; it reads a register and touches no memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// A clock for tests: each reading lets `step` nanoseconds pass, and [`TestClock::advance`]
/// lets more pass, for instance to play a slow fsync.
#[derive(Debug, Default)]
pub struct TestClock {
    now: AtomicU64,
    step: u64,
}

impl TestClock {
    /// A clock at zero that advances by `step` ns with every reading.
    pub fn new(step: u64) -> Self {
        TestClock {
            now: AtomicU64::new(0),
            step,
        }
    }

    /// Lets `ns` nanoseconds pass.
    pub fn advance(&self, ns: u64) {
        self.now.fetch_add(ns, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Stamp {
        self.now.fetch_add(self.step, Ordering::Relaxed) + self.step
    }

    fn sleep(&self, ns: u64) {
        self.advance(ns);
    }
}

/// What the kernel charged to a thread, for the `cpu` line of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode, ns.
    pub user_ns: u64,
    /// CPU time in the kernel, ns.
    pub system_ns: u64,
    /// Voluntary and involuntary context switches.
    pub switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that needed none.
    pub minor_faults: u64,
}

impl Usage {
    /// The usage of the calling thread so far.
    pub fn of_this_thread() -> Self {
        Self::of(libc::RUSAGE_THREAD)
    }

    /// The usage of all threads of this process so far, the kernel's io_uring workers for it
    /// included.
    pub fn of_this_process() -> Self {
        Self::of(libc::RUSAGE_SELF)
    }

    fn of(who: libc::c_int) -> Self {
        // SAFETY: an all-zero rusage is a valid value of a plain C structure of integers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is valid for writes; both values of `who` are known to every Linux
        // since 2.6.26.
        let result = unsafe { libc::getrusage(who, &mut usage) };
        debug_assert_eq!(result, 0, "getrusage of oneself does not fail");
        let ns =
            |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        Usage {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
            major_faults: usage.ru_majflt as u64,
            minor_faults: usage.ru_minflt as u64,
        }
    }

    /// What one thread can have used in so much time: a figure in whole microseconds may be more.
    pub fn within(self, ns: u64) -> Usage {
        let user_ns = self.user_ns.min(ns);
        Usage {
            user_ns,
            system_ns: self.system_ns.min(ns - user_ns),
            ..self
        }
    }

    /// What was used since `before`.
    pub fn since(self, before: Usage) -> Usage {
        Usage {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
            switches: self.switches.saturating_sub(before.switches),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.switches += other.switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_clock_agrees_with_the_kernel_s() {
        let clock = SystemClock::new();
        let (ours, theirs) = (clock.now(), monotonic_ns());
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (ours, theirs) = (clock.now() - ours, monotonic_ns() - theirs);
        // 200 parts in a million of 20 ms, plus a preemption between the two readings.
        assert!(
            ours.abs_diff(theirs) < 4_000 + theirs / 100,
            "{ours} ns here, {theirs} ns there"
        );
        assert!(clock.drift().abs() < 0.01);
    }

    #[test]
    fn stamps_never_go_backwards() {
        for clock in [SystemClock::new(), SystemClock::portable()] {
            let mut last = clock.now();
            for _ in 0..10_000 {
                let now = clock.now();
                assert!(now >= last);
                last = now;
            }
        }
    }

    #[test]
    fn test_clock_moves_as_told() {
        let clock = TestClock::new(10);
        assert_eq!((clock.now(), clock.now()), (10, 20));
        clock.advance(1000);
        assert_eq!(clock.now(), 1030);
    }

    #[test]
    fn usage_counts_own_work() {
        let before = Usage::of_this_thread();
        let start = monotonic_ns();
        while monotonic_ns() - start < 30_000_000 {}
        let used = Usage::of_this_thread().since(before);
        assert!(used.user_ns + used.system_ns > 0);
        let (thread, process) = (Usage::of_this_thread(), Usage::of_this_process());
        assert!(process.user_ns + process.system_ns >= thread.user_ns + thread.system_ns);
        let bounded = Usage {
            user_ns: 27_000,
            system_ns: 3_000,
            ..used
        }
        .within(28_000);
        assert_eq!((bounded.user_ns, bounded.system_ns), (27_000, 1_000));
    }
}
