//! Regions, files and amounts, as fio 3.33 has them and scaled down.

use fio_parse::unit::Bytes;
use fio_parse::workload::Pattern as AskedPattern;

use super::super::fio::tests::{asked, planned, target};
use super::super::{Target, TestPlan, plan};
use crate::script::{Script, Step};

#[test]
fn sizes_follow_fio_s_rules() {
    let extent = |size: Option<u64>, file: Option<u64>, offset: u64| {
        let workload = asked(|job| {
            job.size_bytes = size.map(Bytes);
            job.file_bytes = file.map(Bytes);
            job.offset_bytes = Some(Bytes(offset));
        });
        let (fio, _) = planned(&workload, &target());
        (fio.jobs[0].region, fio.files[0].bytes)
    };
    const K: u64 = 1024;
    assert_eq!(extent(Some(64 * K), None, 0), (64 * K, 64 * K));
    assert_eq!(
        extent(Some(64 * K), None, 10 * K),
        (64 * K, 74 * K),
        "the file grows by the offset"
    );
    assert_eq!(
        extent(Some(128 * K), Some(64 * K), 0),
        (64 * K, 64 * K),
        "filesize is the amount"
    );
    assert_eq!(
        extent(Some(64 * K), Some(128 * K), 32 * K),
        (96 * K, 128 * K),
        "filesize is the region, size the amount"
    );
    assert_eq!(extent(None, Some(128 * K), 0), (128 * K, 128 * K));
}

/// fio 3.33's `write_iolog` has offsets up to 124 KiB for these.
#[test]
fn of_a_given_filesize_every_part_is_reached() {
    for (size, io_size, ios) in [(64, None, 16), (64, Some(96), 24), (200, None, 32)] {
        let workload = asked(|job| {
            job.pattern = Some(AskedPattern::RandWrite);
            job.size_bytes = Some(Bytes(size << 10));
            job.io_size_bytes = io_size.map(|kib: u64| Bytes(kib << 10));
            job.file_bytes = Some(Bytes(128 << 10));
        });
        let (fio, _) = planned(&workload, &target());
        let mut script = Script::new(&fio.jobs[0]);
        let mut offsets = std::collections::BTreeSet::new();
        while let Step::Io { offset, .. } = script.next() {
            offsets.insert(offset);
        }
        assert_eq!(offsets.len(), ios, "each block once");
        assert!(offsets.last() > Some(&(64 << 10)), "{offsets:?}");
    }
}

#[test]
fn no_file_is_larger_than_the_person_says_whatever_its_clones_add() {
    const M: u64 = 1 << 20;
    for (offset, increment, size, file) in [
        (1024, 64, 64, None),
        (0, 64, 64, None),
        (0, 3, 64, None),
        (8, 16, 0, Some(128)),
    ] {
        let workload = asked(|job| {
            job.pattern = Some(AskedPattern::Write);
            job.size_bytes = (size > 0).then_some(Bytes(size * M));
            job.file_bytes = file.map(|file| Bytes(file * M));
            job.offset_bytes = Some(Bytes(offset * M));
            job.jobs = Some(3);
            job.other = vec![("offset_increment".to_owned(), format!("{increment}m"))];
        });
        let limit = Target {
            size: Some(16 * M),
            ..target()
        };
        let (fio, plan) = planned(&workload, &limit);
        let ends = fio.jobs.iter().map(|job| job.offset + job.region);
        assert!(ends.max() <= Some(16 * M), "{fio:?}");
        assert!(fio.files.iter().all(|file| file.bytes <= 16 * M));
        let whole = file.unwrap_or(offset + 2 * increment + size);
        let step = fio.jobs[1].offset - fio.jobs[0].offset;
        // The increment keeps its proportion, rounded to blocks.
        let exact = increment * M * 16 / whole;
        assert!(step <= exact && step + 4096 > exact, "{step} {exact}");
        let note = plan.notes.iter().find(|note| note.id() == "scaled-size");
        let detail = note.unwrap().detail.clone().unwrap();
        assert_eq!(
            detail.contains("and regions of"),
            file.is_none() || offset > 0,
            "{detail}"
        );
    }
}

#[test]
fn sizes_that_hang_on_the_target_are_those_of_the_device() {
    let of = |size: Option<&str>, device: Option<u64>, file: Option<u64>| {
        let workload = asked(|job| {
            job.pattern = Some(AskedPattern::Read);
            job.size_bytes = None;
            job.file_bytes = file.map(Bytes);
            job.offset_bytes = Some(Bytes(1 << 20));
            let size = size.map(|size| ("size".to_owned(), size.to_owned()));
            job.other.extend(size);
        });
        plan(&workload, &Target { device, ..target() })
            .map(|plan| match plan.test {
                TestPlan::Fio(fio) => fio.jobs[0].region >> 20,
                TestPlan::Dd(_) => unreachable!(),
            })
            .map_err(|refusals| refusals[0].to_string())
    };
    let device = Some(9 << 20);
    assert_eq!(of(None, device, None), Ok(8), "all behind the offset");
    assert_eq!(of(Some("100%"), device, None), Ok(8));
    assert_eq!(of(Some("50%"), device, None), Ok(4), "half of all of it");
    assert_eq!(of(Some("50%"), None, Some(8 << 20)), Ok(4));
    let said = of(Some("100%"), None, None).unwrap_err();
    assert!(said.contains("depends on the original target"), "{said}");
    for unreadable in ["1mm", "1.5m", "-1", "16e", "99999999999999999999", "0%"] {
        for device in [device, None] {
            let said = of(Some(unreadable), device, None).unwrap_err();
            assert!(said.contains("cannot be read"), "{unreadable}: {said}");
        }
    }
}
