//! The statistics against scipy's numbers, over the sample pairs of `data/stats.json`.
//! How that file was made: see `data/README.md`.

use compare::stats;
use serde_json::Value;

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_f64().unwrap())
        .collect()
}

fn sorted(v: &Value) -> Vec<f64> {
    let mut values = numbers(v);
    values.sort_by(f64::total_cmp);
    values
}

#[track_caller]
fn close(what: &str, got: f64, want: f64, relative: f64) {
    let scale = want.abs().max(1e-300);
    assert!(
        (got - want).abs() / scale <= relative,
        "{what}: got {got}, want {want}"
    );
}

#[test]
fn medians_intervals_p_values_and_geomeans_equal_scipys() {
    let data: Value = serde_json::from_str(include_str!("data/stats.json")).unwrap();
    let cases = data["cases"].as_array().unwrap();
    assert!(cases.len() >= 20);
    let mut p_values = Vec::new();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let mut medians = Vec::new();
        for side in ["a", "b"] {
            let sample = sorted(&case[side]);
            let got = stats::median_interval(&sample, 0.95).unwrap();
            close(
                name,
                got.median,
                case[format!("median_{side}")].as_f64().unwrap(),
                1e-14,
            );
            let want = &case[format!("interval_{side}")];
            assert_eq!(
                got.lo,
                want[0].as_f64().unwrap_or(f64::NEG_INFINITY),
                "{name} lo"
            );
            assert_eq!(
                got.hi,
                want[1].as_f64().unwrap_or(f64::INFINITY),
                "{name} hi"
            );
            close(name, got.confidence, want[2].as_f64().unwrap(), 1e-9);
            medians.push(got.median);
        }
        let p = stats::compare(&numbers(&case["a"]), &numbers(&case["b"]))
            .unwrap()
            .p;
        close(name, p, case["p"].as_f64().unwrap(), 1e-9);
        p_values.push(p);
        let geomean = stats::geomean(&medians).unwrap();
        close(
            name,
            geomean,
            case["geomean_of_medians"].as_f64().unwrap(),
            1e-12,
        );
    }
    for (got, want) in stats::holm(&p_values).iter().zip(numbers(&data["holm"])) {
        close("holm", *got, want, 1e-9);
    }
}
