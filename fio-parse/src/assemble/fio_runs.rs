//! Records that are of one run of fio though they do not stand together.
//!
//! *Several formats.* `--output-format=normal,terse,json` prints terse lines, then JSON, then the normal report of the
//! same run. A job that stands in several of them, one after the other with nothing between that starts another run,
//! with the same name, group, direction, run time and bytes, is one job. It is told once: by JSON, which is exact, else
//! by the normal report. What only the other format says (group lines) gets the number of the same run.
//!
//! *Several servers.* A client prints the report of each server, jobs and groups, and then `All clients`. Each server whose
//! name is told has a run of its own, and so has the sum. Where names are missing, those parts and the sum are one run,
//! so that the sum is not counted beside its parts.

use crate::record::{Dialect, Direction, Record, ScopeKind};
use std::collections::HashMap;

/// What a record must share with its twin before figures are looked at.
type Key<'r> = (&'r str, Option<u32>, Direction);

/// Formats in the order of preference; none for what has no twin.
fn rank(record: &Record) -> Option<usize> {
    if !matches!(
        record.scope.kind,
        ScopeKind::Job | ScopeKind::Client | ScopeKind::AllClients
    ) {
        return None;
    }
    match record.source.dialect {
        Dialect::FioJson => Some(0),
        Dialect::FioJob => Some(1),
        Dialect::FioTerse => Some(2),
        _ => None,
    }
}

/// Takes out records that say again what another format says better, and gives what is of one run one number.
///
/// `borders` are the places, rising, where another run starts.
pub(super) fn join(records: &mut Vec<Record>, borders: &[u32]) {
    let mut formats = [false; 3];
    let mut clients = false;
    for record in records.iter() {
        if let Some(rank) = rank(record) {
            formats[rank] = true;
        }
        clients |= record.scope.kind == ScopeKind::AllClients;
    }
    let several = formats.into_iter().filter(|&has| has).count() > 1;
    if !several && !clients {
        return;
    }
    let ranks: Vec<Option<usize>> = records.iter().map(rank).collect();
    // the number that each run gets
    let last = records.iter().map(|record| record.run).max().unwrap_or(0);
    let mut runs: Vec<u32> = (0..=last).collect();
    let mut twin_of: HashMap<usize, usize> = HashMap::new();
    let mut start = 0;
    while start < records.len() {
        let stretch = |record: &Record| {
            let at = record.source.span.map_or(0, |span| span.start);
            borders.partition_point(|border| *border <= at)
        };
        let here = stretch(&records[start]);
        let length = records[start..]
            .iter()
            .take_while(|record| stretch(record) == here)
            .count();
        if several {
            pair(
                &records[start..start + length],
                &ranks[start..start + length],
                start,
                &mut twin_of,
            );
        }
        join_clients(&records[start..start + length], &mut runs);
        start += length;
    }
    for (dropped, kept) in &twin_of {
        runs[records[*dropped].run as usize] = runs[records[*kept].run as usize];
    }
    if !twin_of.is_empty() {
        let mut index = 0;
        records.retain(|_| {
            index += 1;
            !twin_of.contains_key(&(index - 1))
        });
    }
    // numbers stay without gaps
    let mut numbers = vec![0; runs.len()];
    for record in records.iter() {
        numbers[runs[record.run as usize] as usize] = 1;
    }
    let mut count = 0;
    for number in &mut numbers {
        count += *number;
        *number = count;
    }
    for record in records.iter_mut() {
        record.run = numbers[runs[record.run as usize] as usize];
    }
}

/// Gives the sum over all clients, and the parts of it whose server is not told, the number of their first. Groups right
/// behind the sum are such parts: those of the last server.
fn join_clients(records: &[Record], runs: &mut [u32]) {
    let mut parts: Vec<u32> = Vec::new();
    let mut sum = None;
    let mut last = None;
    for record in records {
        let unnamed = record.scope.host.is_none();
        match (record.scope.kind, sum) {
            (ScopeKind::AllClients, _) => {
                if last != Some(record.run) {
                    parts.push(record.run);
                }
                let first = *parts.first().unwrap_or(&runs[record.run as usize]);
                for part in parts.drain(..) {
                    runs[part as usize] = first;
                }
                sum = Some(first);
            }
            (ScopeKind::Group, Some(first)) if unnamed => {
                runs[record.run as usize] = first;
            }
            (ScopeKind::Group, Some(_)) => {}
            _ => {
                sum = None;
                if unnamed && parts.last() != Some(&record.run) {
                    parts.push(record.run);
                }
            }
        }
        last = (record.scope.kind == ScopeKind::AllClients).then_some(record.run);
    }
}

/// Finds the twins of one stretch of text: the first of a name in one format with the first in the other, and so on.
fn pair(
    records: &[Record],
    ranks: &[Option<usize>],
    offset: usize,
    twin_of: &mut HashMap<usize, usize>,
) {
    let mut by_key: HashMap<Key<'_>, [Vec<usize>; 3]> = HashMap::new();
    for (index, (record, rank)) in records.iter().zip(ranks).enumerate() {
        if let Some(rank) = *rank {
            let key = (
                record.scope.job.as_deref().unwrap_or(""),
                record.scope.group,
                record.direction,
            );
            by_key.entry(key).or_default()[rank].push(index);
        }
    }
    for formats in by_key.values() {
        for (better, worse) in [(0, 1), (0, 2), (1, 2)] {
            for (&kept, &dropped) in formats[better].iter().zip(&formats[worse]) {
                if same_run(&records[kept], &records[dropped]) {
                    twin_of.entry(dropped + offset).or_insert(kept + offset);
                }
            }
        }
    }
}

/// Whether run time and bytes of both can be the same.
fn same_run(a: &Record, b: &Record) -> bool {
    let (a, b) = (&a.measurement, &b.measurement);
    match (&a.bytes, &b.bytes, &a.runtime_ns, &b.runtime_ns) {
        (Some(bytes), Some(twin), Some(time), Some(same)) => {
            bytes.possible().meet(&twin.possible()).is_some()
                && time.possible().meet(&same.possible()).is_some()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::record::Dialect;
    use crate::source::Log;

    const JSON: &str = r#"{
  "fio version" : "fio-3.33",
  "jobs" : [ { "jobname" : "si", "groupid" : 0, "error" : 0,
    "read" : { "io_bytes" : 37654528, "io_kbytes" : 36772, "bw_bytes" : 49741780, "bw" : 48575, "iops" : 12143.989432, "runtime" : 757, "total_ios" : 9193 } } ]
}
"#;
    const TEXT: &str = "
si: (groupid=0, jobs=1): err= 0: pid=8090: Mon Nov 30 14:42:24 2026
  read: IOPS=12.1k, BW=47.4MiB/s (49.7MB/s)(35.9MiB/757msec)

Run status group 0 (all jobs):
   READ: bw=47.4MiB/s (49.7MB/s), 47.4MiB/s-47.4MiB/s (49.7MB/s-49.7MB/s), io=35.9MiB (37.7MB), run=757-757msec
";

    fn read(text: &str) -> Vec<(Dialect, u32)> {
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        crate::parse(&log)
            .records
            .iter()
            .map(|r| (r.source.dialect, r.run))
            .collect()
    }

    #[test]
    fn one_run_in_two_formats_is_told_once() {
        assert_eq!(
            read(&format!("{JSON}{TEXT}")),
            [(Dialect::FioJson, 1), (Dialect::FioGroup, 1)]
        );
        // other figures, or something between that starts a run: two runs
        let other = TEXT.replace("757msec", "758msec").replace("-757", "-758");
        let apart = [
            (Dialect::FioJson, 1),
            (Dialect::FioJob, 2),
            (Dialect::FioGroup, 2),
        ];
        assert_eq!(read(&format!("{JSON}{other}")), apart);
        assert_eq!(read(&format!("{JSON}fio-3.33\n{TEXT}")), apart);
    }

    #[test]
    fn all_clients_are_one_run_with_each_of_them() {
        let sum = TEXT.replace(
            "si: (groupid=0, jobs=1): err= 0: pid=8090",
            "All clients: (groupid=0, jobs=2): err= 0: pid=0",
        );
        let second = TEXT.replace("pid=8090", "pid=8091");
        let job = (Dialect::FioJob, 1);
        let group = (Dialect::FioGroup, 1);
        let one = [job, group, job, group, job, group];
        assert_eq!(read(&format!("{TEXT}{second}{sum}")), one);
        let again = one.map(|(dialect, _)| (dialect, 2));
        assert_eq!(
            read(&format!("{TEXT}{second}{sum}{TEXT}{second}{sum}")),
            [one, again].concat()
        );
    }
}
