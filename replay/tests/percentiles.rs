//! fio's own bins, fed to our histogram, must give fio's own percentiles.

use std::path::Path;

use replay::hist::Histogram;
use serde_json::Value;

#[test]
fn a13_bins_of_real_runs_give_fio_s_percentiles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/runs/fio-3.33-bins");
    let mut compared = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let run: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for job in run["jobs"].as_array().unwrap() {
            for (part, kind) in [
                ("read", "clat_ns"),
                ("write", "clat_ns"),
                ("sync", "lat_ns"),
            ] {
                let Some(latency) = job.get(part).and_then(|part| part.get(kind)) else {
                    continue;
                };
                let mut hist = Histogram::new();
                for (value, count) in latency["bins"].as_object().unwrap() {
                    hist.add_many(value.parse().unwrap(), count.as_u64().unwrap());
                }
                assert_eq!(hist.total(), latency["N"].as_u64().unwrap());
                let mut wanted: Vec<(f64, u64)> = latency["percentile"]
                    .as_object()
                    .unwrap()
                    .iter()
                    .map(|(p, value)| (p.parse().unwrap(), value.as_u64().unwrap()))
                    .collect();
                wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
                let asked: Vec<f64> = wanted.iter().map(|&(p, _)| p).collect();
                let fio: Vec<u64> = wanted.iter().map(|&(_, value)| value).collect();
                assert_eq!(hist.percentiles(&asked), fio, "{} {part}", path.display());
                // The bins come back as they went in: the layout is the same.
                for (value, count) in hist.bins() {
                    assert_eq!(latency["bins"][value.to_string()].as_u64(), Some(count));
                }
                compared += fio.len();
            }
        }
    }
    assert!(
        compared >= 5 * 17,
        "only {compared} percentiles were compared"
    );
}
