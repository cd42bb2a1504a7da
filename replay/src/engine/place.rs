//! Where a job's thread runs and how the kernel treats it: CPUs, niceness, I/O priority.

#![allow(unsafe_code)]

use std::io;

use rustix::thread::{CpuSet, sched_setaffinity};

use crate::plan::job::Place;

/// `ioprio_set` for the calling thread (linux/ioprio.h).
const WHO_PROCESS: libc::c_int = 1;
const CLASS_SHIFT: u16 = 13;

/// Gives the calling thread a table of open files of its own, as a process of fio has: with
/// a shared one the kernel counts every use of a file in each read and write. It copies the
/// present table; files opened later, here or elsewhere, are not seen on the other side.
/// Where it is not granted nothing but speed is lost.
pub fn own_file_table() {
    // SAFETY: descriptors that exist now are in both tables. Those that this thread opens are
    // a job's test files and its ring: they are closed by this thread or by helpers that it
    // starts, which share its table, and no other thread is given one.
    let _ = unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::FILES) };
}

/// Puts the calling thread in its place. What is not granted comes back in words: the job
/// runs all the same.
pub fn settle(place: &Place) -> Vec<String> {
    let mut remarks = Vec::new();
    let mut tell = |what: String, result: io::Result<()>| {
        if let Err(error) = result {
            remarks.push(format!("{what} was not granted: {error}"));
        }
    };
    if !place.cpus.is_empty() {
        let mut set = CpuSet::new();
        place.cpus.iter().for_each(|&cpu| set.set(cpu as usize));
        let bound = sched_setaffinity(None, &set).map_err(io::Error::from);
        tell(format!("binding to CPUs {:?}", place.cpus), bound);
    }
    if place.nice != 0 {
        // SAFETY: the call takes no pointer; 0 is the calling thread on Linux.
        let result = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, place.nice) };
        tell(format!("niceness {}", place.nice), checked(result.into()));
    }
    if let Some((class, level)) = place.io_priority {
        let priority = libc::c_int::from(class << CLASS_SHIFT | level);
        // SAFETY: ioprio_set takes three integers; 0 is the calling thread.
        let result = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, priority) };
        tell(format!("I/O priority {class}/{level}"), checked(result));
    }
    remarks
}

fn checked(result: libc::c_long) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_granted_is_silent_and_what_is_not_is_told() {
        std::thread::spawn(|| {
            let usual = Place {
                cpus: vec![0],
                nice: 1,
                io_priority: Some((2, 7)),
            };
            // CPU 0 may be out of reach in a container.
            let remarks = settle(&usual);
            assert!(
                remarks.iter().all(|remark| remark.contains("CPUs")),
                "{remarks:?}"
            );
            let nowhere = Place {
                cpus: vec![1000],
                ..Place::default()
            };
            assert_eq!(settle(&nowhere).len(), 1);
            assert!(settle(&Place::default()).is_empty());
        })
        .join()
        .unwrap();
    }
}
