//! `--list`: what there is to project on, to filter by and to measure.

use crate::frame::Frame;
use crate::keys::UNKNOWN;
use crate::metric::Metric;

/// The keys with the values that occur, then the metrics that have values.
pub fn list(frame: &Frame) -> Result<String, String> {
    const SHOWN: usize = 8;
    let mut out = String::from("keys\n");
    for (key, texts) in &frame.key_texts {
        let values: Vec<&str> = texts
            .iter()
            .map(String::as_str)
            .filter(|t| !t.is_empty())
            .collect();
        if values.iter().all(|t| *t == UNKNOWN) {
            continue;
        }
        let more = values.len().saturating_sub(SHOWN);
        let mut line = values[..values.len().min(SHOWN)].join(", ");
        if more > 0 {
            line.push_str(&format!(", ... {more} more"));
        }
        out.push_str(&format!(
            "  {:<15} {:>5}  {line}\n",
            key.name(),
            values.len()
        ));
    }
    out.push_str("metrics\n");
    let present = crate::query::present(frame, Metric::PLAIN).map_err(|e| e.to_string())?;
    for metric in present {
        out.push_str(&format!(
            "  {:<15}        {}\n",
            metric.to_string(),
            metric.title()
        ));
    }
    out.push_str("  and clat-, slat-, lat-, sync- with min, mean, max, stddev or a percentile, as clat-p99;\n  bw-, iops- with min, mean, max or stddev, of samples over time\n");
    Ok(out)
}
