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
    assert_eq!(sandbox.remove().unwrap(), None);
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
    let told = sandbox.remove().unwrap().unwrap();
    assert!(told.ends_with("did not make: 0.0, planted"), "{told}");
    assert_eq!(fs::read_to_string(&canary).unwrap(), "untouched");
    assert_eq!(entries(home.path()), 2, "what was planted stays");
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

/// What a killed run leaves: so many files, and the list of them.
fn left_over(home: &Path, files: usize) -> PathBuf {
    let stale = home.join(".fio-replay-0123456789ab");
    fs::create_dir(&stale).unwrap();
    fs::set_permissions(&stale, fs::Permissions::from_mode(0o700)).unwrap();
    let directory = File::open(&stale).unwrap();
    let mut journal = Journal::create(&directory).unwrap();
    for number in 0..files {
        let name = number.to_string();
        let file = File::create(stale.join(&name)).unwrap();
        journal.add(&name, Identity::of(&file).unwrap()).unwrap();
    }
    stale
}

#[test]
fn a_killed_run_s_sandbox_goes_with_the_next_and_a_live_one_stays() {
    let home = tempfile::tempdir().unwrap();
    let stale = left_over(home.path(), 1);
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
        ((all, Vec::new()), 2),
        "before the file and behind it"
    );
    assert!(!stale.exists());
    assert!(live.path().join("0.0").exists(), "its lock is held");
}

#[test]
fn a_directory_that_only_looks_like_a_sandbox_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let foreign = home.path().join(".fio-replay-dddddddddddd");
    fs::create_dir(&foreign).unwrap();
    fs::set_permissions(&foreign, fs::Permissions::from_mode(0o700)).unwrap();
    let theirs = foreign.join("thesis.tex");
    fs::write(&theirs, "years").unwrap();
    let nothing = (Swept::default(), Vec::new());
    let swept = || sweep(home.path(), &mut |_| true).unwrap();
    assert_eq!(swept(), nothing, "it has no list");
    // A copy of a sandbox is none, and neither is one whose list names another.
    let stale = left_over(home.path(), 1);
    let list = fs::read(stale.join(".made-by-fio-replay")).unwrap();
    fs::remove_dir_all(&stale).unwrap();
    fs::write(foreign.join(".made-by-fio-replay"), list).unwrap();
    fs::write(foreign.join("0"), "a copy").unwrap();
    assert_eq!(swept(), nothing, "its list is a copy");
    assert_eq!(entries(&foreign), 3);
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "years");
}

#[test]
fn what_others_put_into_a_sandbox_stays_and_is_told() {
    // After a run, and after one that was killed.
    for killed in [false, true] {
        let home = tempfile::tempdir().unwrap();
        let live = (!killed).then(|| Sandbox::create(home.path()).unwrap());
        let place = match &live {
            Some(sandbox) => {
                sandbox.create_file("0").unwrap();
                sandbox.path().to_owned()
            }
            None => left_over(home.path(), 2),
        };
        // The test file 0 stays as it is; 1 was replaced.
        fs::write(place.join("new"), "theirs").unwrap();
        fs::rename(place.join("new"), place.join("1")).unwrap();
        fs::write(place.join("mine"), "theirs").unwrap();
        symlink("/etc/passwd", place.join("link")).unwrap();
        fs::create_dir(place.join("folder")).unwrap();
        let told = match live {
            Some(sandbox) => vec![sandbox.remove().unwrap().unwrap()],
            None => sweep(home.path(), &mut |_| true).unwrap().1,
        };
        let place_text = place.display().to_string();
        assert!(told[0].starts_with(&place_text), "{told:?}");
        assert!(
            told[0].ends_with(": 1, folder, link and 1 more"),
            "{told:?}"
        );
        assert_eq!(entries(&place), 4, "killed: {killed}");
        assert_eq!(fs::read_to_string(place.join("mine")).unwrap(), "theirs");
        assert_eq!(fs::read_to_string(place.join("1")).unwrap(), "theirs");
        let later = sweep(home.path(), &mut |_| true).unwrap();
        assert_eq!(later, (Swept::default(), Vec::new()), "it is theirs now");
    }
}

#[test]
fn a_clean_up_stops_when_asked_and_goes_on_later() {
    let home = tempfile::tempdir().unwrap();
    let stale = left_over(home.path(), 10);
    let (stopped, _) = sweep(home.path(), &mut |swept| swept.removed < 3).unwrap();
    assert_eq!((stopped.removed, stopped.found), (3, 10));
    assert_eq!(entries(&stale), 8, "seven files and the list");
    assert_eq!(sweep(home.path(), &mut |_| true).unwrap().0.removed, 7);
    assert_eq!(entries(home.path()), 0);
}

#[test]
fn kept_files_survive_the_next_start() {
    let home = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::create(home.path()).unwrap();
    sandbox.create_file("0.0").unwrap();
    let kept = sandbox.keep().unwrap();
    drop(sandbox);
    let nothing = (Swept::default(), Vec::new());
    assert_eq!(sweep(home.path(), &mut |_| true).unwrap(), nothing);
    assert!(kept.join("0.0").exists());
    assert_eq!(entries(&kept), 1, "the list is gone");
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
