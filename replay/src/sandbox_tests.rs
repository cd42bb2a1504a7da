//! The sandbox: nothing outside is touched, nothing is left.

use super::*;
use crate::stale::{Swept, sweep};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

fn entries(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

#[test]
fn is_private_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::create(home.path()).unwrap();
    let mode = fs::metadata(sandbox.path()).unwrap().mode();
    assert_eq!(mode & 0o7777, 0o700);
    sandbox.create_file("0.0").unwrap();
    assert_eq!(
        fs::metadata(sandbox.path().join("0.0")).unwrap().mode() & 0o7777,
        0o600
    );
    sandbox
        .open_file(
            "0.0",
            OpenFlags {
                write: true,
                ..OpenFlags::default()
            },
        )
        .unwrap();
    sandbox.remove().unwrap();
    assert_eq!(entries(home.path()), 0);
    assert!(
        sandbox.create_file("late").is_err(),
        "no file after the end"
    );
    drop(sandbox);
    let dropped = Sandbox::create(home.path()).unwrap();
    dropped.create_file("0.0").unwrap();
    drop(dropped);
    assert_eq!(entries(home.path()), 0);
}

#[test]
fn existing_files_and_links_are_never_opened() {
    let home = tempfile::tempdir().unwrap();
    let canary = home.path().join("canary");
    fs::write(&canary, "untouched").unwrap();
    let sandbox = Sandbox::create(home.path()).unwrap();
    symlink(&canary, sandbox.path().join("planted")).unwrap();
    assert!(sandbox.create_file("planted").is_err());
    assert!(sandbox.open_file("planted", OpenFlags::default()).is_err());
    for escape in ["../canary", "/etc/passwd", "a/../../canary"] {
        assert!(sandbox.create_file(escape).is_err(), "{escape}");
    }
    sandbox.create_file("0.0").unwrap();
    assert!(sandbox.create_file("0.0").is_err(), "made exclusively");
    // Somebody swaps the file for another, or for a link.
    fs::remove_file(sandbox.path().join("0.0")).unwrap();
    fs::hard_link(&canary, sandbox.path().join("0.0")).unwrap();
    assert!(
        sandbox
            .open_file(
                "0.0",
                OpenFlags {
                    write: true,
                    ..OpenFlags::default()
                }
            )
            .is_err()
    );
    sandbox.remove().unwrap();
    assert_eq!(fs::read_to_string(&canary).unwrap(), "untouched");
    assert_eq!(entries(home.path()), 1);
}

#[test]
fn dsync_is_not_sync() {
    let home = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::create(home.path()).unwrap();
    sandbox.create_file("0.0").unwrap();
    let flags = |flags: OpenFlags| {
        let file = sandbox
            .open_file(
                "0.0",
                OpenFlags {
                    write: true,
                    ..flags
                },
            )
            .unwrap();
        rustix::fs::fcntl_getfl(&file).unwrap().bits() as i32
    };
    let dsync = flags(OpenFlags {
        dsync: true,
        ..OpenFlags::default()
    });
    assert_eq!(
        dsync & libc::O_SYNC,
        libc::O_DSYNC,
        "O_SYNC contains O_DSYNC and one more bit"
    );
    let sync = flags(OpenFlags {
        sync: true,
        ..OpenFlags::default()
    });
    assert_eq!(sync & libc::O_SYNC, libc::O_SYNC);
    assert_eq!(flags(OpenFlags::default()) & libc::O_SYNC, 0);
}

#[test]
fn a_killed_run_s_sandbox_goes_with_the_next_and_a_live_one_stays() {
    let home = tempfile::tempdir().unwrap();
    let stale = home.path().join(".fio-replay-0123456789ab");
    fs::create_dir(&stale).unwrap();
    fs::set_permissions(&stale, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(stale.join("0.0"), "left over").unwrap();
    let foreign = home.path().join(".fio-replay-open");
    fs::create_dir(&foreign).unwrap();
    fs::set_permissions(&foreign, fs::Permissions::from_mode(0o755)).unwrap();
    let live = Sandbox::create(home.path()).unwrap();
    live.create_file("0.0").unwrap();
    let mut calls = 0;
    let swept = sweep(home.path(), &mut |_| {
        calls += 1;
        true
    });
    let all = Swept {
        removed: 1,
        found: 1,
        runs: 1,
    };
    assert_eq!(
        (swept.unwrap(), calls),
        (all, 2),
        "before the file and behind it"
    );
    assert!(!stale.exists());
    assert!(foreign.exists(), "not made by us: another mode");
    assert!(live.path().join("0.0").exists(), "its lock is held");
}

#[test]
fn a_clean_up_stops_when_asked_and_goes_on_later() {
    let home = tempfile::tempdir().unwrap();
    let stale = home.path().join(".fio-replay-0123456789ab");
    fs::create_dir(&stale).unwrap();
    fs::set_permissions(&stale, fs::Permissions::from_mode(0o700)).unwrap();
    for number in 0..10 {
        fs::write(stale.join(number.to_string()), "left over").unwrap();
    }
    let stopped = sweep(home.path(), &mut |swept| swept.removed < 3).unwrap();
    assert_eq!((stopped.removed, stopped.found), (3, 10));
    assert_eq!(entries(&stale), 7);
    assert_eq!(sweep(home.path(), &mut |_| true).unwrap().removed, 7);
    assert_eq!(entries(home.path()), 0);
}

#[test]
fn kept_files_survive_the_next_start() {
    let home = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::create(home.path()).unwrap();
    sandbox.create_file("0.0").unwrap();
    let kept = sandbox.keep().unwrap();
    drop(sandbox);
    assert_eq!(sweep(home.path(), &mut |_| true).unwrap(), Swept::default());
    assert!(kept.join("0.0").exists());
    assert_eq!(entries(home.path()), 1);
}

#[test]
fn unsafe_or_missing_directories_are_refused_in_words() {
    let home = tempfile::tempdir().unwrap();
    let missing = Sandbox::create(&home.path().join("no")).unwrap_err();
    assert!(
        missing.to_string().contains("cannot open the directory"),
        "{missing}"
    );
    let open = home.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = Sandbox::create(&open).unwrap_err();
    assert!(refused.to_string().contains("sticky"), "{refused}");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
    Sandbox::create(&open).unwrap();
    // Only root can give directories away.
    if rustix::process::geteuid().is_root() {
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::chown(&open, Some(12_345), None).unwrap();
        let refused = Sandbox::create(&open).unwrap_err();
        assert!(refused.to_string().contains("another user"), "{refused}");
        std::os::unix::fs::chown(&open, Some(0), Some(12_345)).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o775)).unwrap();
        let refused = Sandbox::create(&open).unwrap_err();
        assert!(refused.to_string().contains("group"), "{refused}");
    }
}

#[test]
fn the_floor_is_the_larger_of_5_percent_and_2_gib_but_a_quarter_at_most() {
    assert_eq!(free_space_floor(1 << 40), (1 << 40) / 20);
    assert_eq!(free_space_floor(20 << 30), 2 << 30);
    assert_eq!(free_space_floor(64 << 20), 16 << 20);
    let space = Space {
        total: 20 << 30,
        available: 3 << 30,
    };
    assert_eq!(space.usable(), 1 << 30);
    assert_eq!(
        Space {
            available: 1 << 30,
            ..space
        }
        .usable(),
        0
    );
}
