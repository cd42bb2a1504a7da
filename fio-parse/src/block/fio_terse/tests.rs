//! Lines of every format, whole, glued, renamed and cut.

use super::*;
use proptest::prelude::*;

/// A side of `form` whose io field is `io`; all other numbers are told by their place.
fn side_text(form: Form, io: &str) -> String {
    let mut fields = vec![io.to_owned(), "200".into()];
    let new = matches!(form, Form::Plain | Form::Long);
    if new {
        fields.push("300".into());
    }
    fields.push("400".into());
    fields.extend(["1;2;1.500000;0.500000", "3;9;4.500000;1.500000"].map(String::from));
    if new {
        fields.extend((0..20).map(|i| match i {
            0 => "99.000000%=8".to_owned(),
            _ => "0%=0".to_owned(),
        }));
    }
    if form != Form::Oldest {
        fields.push("4;11;6.000000;2.000000".into());
    }
    fields.push("150;250;100.00%;200.000000;25.000000".into());
    if form == Form::Long {
        fields.push("7;100;500;300.000000;50.000000;7".into());
    }
    fields.join(";")
}

fn tail_text() -> String {
    format!(
        "1.500000%;-nan%;10;2;3;{}",
        vec!["0.1%"; PERCENTS].join(";")
    )
}

fn line(head: &str, form: Form, sides: &[&str]) -> String {
    let sides: Vec<_> = sides.iter().map(|io| side_text(form, io)).collect();
    format!("{head};{};{}", sides.join(";"), tail_text())
}

type Seen = (u8, String, Vec<(Direction, String)>, usize);

/// Format, name, directions with their io, and the line's number of each row; the codes of problems; how many lines are left.
fn cut(text: &str) -> (Vec<Seen>, Vec<String>, usize) {
    let log = Log::from_bytes("x", text.as_bytes()).unwrap();
    let mut lines = log.segments();
    let Some(block) = read(&log, &mut lines) else {
        return (Vec::new(), Vec::new(), lines.count());
    };
    let rows = block.rows.iter().map(|row| {
        let sides = row.sides.iter().map(|(d, side)| (*d, side.io.to_owned()));
        let (number, _) = log.line_column(row.span.start);
        (
            row.format,
            row.name.to_owned(),
            sides.collect(),
            number as usize,
        )
    });
    let codes = block.problems.iter().map(|p| p.code.to_string());
    (rows.collect(), codes.collect(), lines.count())
}

#[test]
fn each_format_has_its_sides() {
    use Direction::{Mixed, Read, Trim, Write};
    type Case<'a> = (&'a str, Form, &'a [&'a str], u8, &'a [Direction]);
    let cases: &[Case<'_>] = &[
        ("job;0;0", Form::Oldest, &["5", "6"], 0, &[Read, Write]),
        ("2;job;0;0", Form::Old, &["5", "6"], 2, &[Read, Write]),
        ("2;job;0;0", Form::Plain, &["5", "6"], 2, &[Read, Write]),
        (
            "2;job;0;0",
            Form::Plain,
            &["5", "6", "7"],
            2,
            &[Read, Write, Trim],
        ),
        (
            "3;fio-3.33;job;0;0",
            Form::Plain,
            &["5", "6"],
            3,
            &[Read, Write],
        ),
        ("3;fio-3.33;job;0;0", Form::Plain, &["5"], 3, &[Mixed]),
        (
            "3;fio-3.33;job;0;0",
            Form::Plain,
            &["5", "6", "11"],
            3,
            &[Read, Write, Mixed],
        ),
        (
            "4;fio-3.33;job;0;0",
            Form::Plain,
            &["5", "6", "7"],
            4,
            &[Read, Write, Trim],
        ),
        (
            "5;fio-3.33;job;0;0",
            Form::Long,
            &["5", "6", "7"],
            5,
            &[Read, Write, Trim],
        ),
    ];
    for (head, form, sides, format, directions) in cases {
        let text = line(head, *form, sides);
        let (rows, codes, _) = cut(&text);
        let wanted: Vec<_> = directions
            .iter()
            .copied()
            .zip(sides.iter().map(|io| (*io).to_owned()))
            .collect();
        assert_eq!(rows, [(*format, "job".to_owned(), wanted, 1)], "{text}");
        assert!(codes.is_empty());
    }
}

#[test]
fn fields_land_where_they_belong() {
    let text = line("5;fio-3.33;job;3;28", Form::Long, &["5", "6", "7"]);
    let log = Log::from_bytes("x", text.as_bytes()).unwrap();
    let row = read(&log, &mut log.segments()).unwrap().rows.remove(0);
    assert_eq!(
        (row.group, row.error, row.fio),
        ("3", "28", Some("fio-3.33"))
    );
    assert_eq!(row.cpu, Some(["1.500000", "-nan", "10", "2", "3"]));
    let side = row.sides[2].1;
    assert_eq!(
        (side.io, side.bw, side.iops, side.runtime),
        ("7", "200", Some("300"), "400")
    );
    assert_eq!(side.slat, ["1", "2", "1.500000", "0.500000"]);
    assert_eq!(side.clat, ["3", "9", "4.500000", "1.500000"]);
    assert_eq!(side.lat, Some(["4", "11", "6.000000", "2.000000"]));
    assert_eq!(
        (side.percentiles[0], side.percentiles[19]),
        ("99.000000%=8", "0%=0")
    );
    assert_eq!(
        side.bw_samples,
        ["150", "250", "100.00", "200.000000", "25.000000"]
    );
    assert_eq!(side.bw_count, Some("7"));
    assert_eq!(
        side.iops_samples,
        Some(["100", "500", "300.000000", "50.000000", "7"])
    );
}

#[test]
fn names_and_descriptions_may_hold_semicolons() {
    let disk = "vda;1325;1;0;0;83;1;83;20.73%";
    for (name, behind) in [
        ("a;b", String::new()),
        (";1;2;", format!(";{disk};{disk};words; and 5%;more")),
        ("7;8;9", format!(";{disk};9;28")),
        ("", ";12;34;words".to_owned()),
    ] {
        for (format, form, sides) in [
            (3, Form::Plain, &["5", "6"][..]),
            (5, Form::Long, &["5", "6", "7"]),
        ] {
            let text = line(&format!("{format};fio-3.33;{name};0;0"), form, sides) + &behind;
            let (rows, _, _) = cut(&text);
            assert_eq!(rows[0].1, name, "{text}");
            assert_eq!(rows[0].2.len(), sides.len());
        }
    }
}

#[test]
fn counts_of_errors_stand_behind_the_disks() {
    let disk = ";vda;1325;1;0;0;83;1;83;20.73%";
    for (behind, wanted) in [
        (String::new(), None),
        (disk.to_owned(), None),
        (format!("{disk}{disk};9;28"), Some(["9", "28"])),
        (";9;28;words".to_owned(), Some(["9", "28"])),
        (format!("{disk};words"), None),
    ] {
        let text = line("3;fio-3.33;job;0;0", Form::Plain, &["5", "6"]) + &behind;
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let row = read(&log, &mut log.segments()).unwrap().rows.remove(0);
        assert_eq!(row.errors, wanted, "{behind}");
    }
}

#[test]
fn lines_of_one_report_make_one_block() {
    let row = line("3;fio-3.33;job;0;0", Form::Plain, &["5", "6"]);
    let text = format!(
        "terse_version_3;fio_version;jobname\n{row}\r\n> {row}\n;a description\nRun status\n"
    );
    let (rows, codes, left) = cut(&text);
    assert_eq!(rows.iter().map(|row| row.3).collect::<Vec<_>>(), [2, 3]);
    assert!(codes.is_empty());
    assert_eq!(left, 1);
}

#[test]
fn a_line_behind_a_progress_line_is_found() {
    let row = line("3;fio-3.42;job;0;0", Form::Plain, &["5", "6"]);
    let text = format!("Jobs: 1 (f=1): [m(1)][100.0%][eta 00m:00s]\r{row}\n");
    let log = Log::from_bytes("x", text.as_bytes()).unwrap();
    let mut lines = log.segments();
    assert!(read(&log, &mut lines).is_none());
    lines.next();
    assert_eq!(read(&log, &mut lines).unwrap().rows[0].name, "job");
}

#[test]
fn a_cut_line_keeps_what_can_be_told() {
    let whole = line("4;fio-3.33;job;0;0", Form::Plain, &["5", "6", "7"]);
    let at = |field: usize| {
        let end = whole.match_indices(';').nth(field - 1).unwrap().0;
        &whole[..end]
    };
    let (rows, codes, _) = cut(at(5 + 41 + 41 + 2));
    assert_eq!((rows[0].2.len(), codes), (2, vec!["incomplete".to_owned()]));
    // one side may be the sum of all
    let (rows, codes, left) = cut(at(5 + 41 + 20));
    assert_eq!(
        (rows.len(), codes, left),
        (0, vec!["incomplete".to_owned()], 0)
    );
}

#[test]
fn other_lines_stay() {
    for text in [
        "2;3",
        "3;4;5;6;7;8",
        "",
        "5; five",
        ";",
        "terse",
        &"a;".repeat(200),
        &"1%;".repeat(200),
    ] {
        assert_eq!(
            cut(text),
            (vec![], vec![], usize::from(!text.is_empty())),
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn any_line_does_not_panic(
        head in "[2-5]?;?(fio-3.3|2.0)?[;é]{0,3}",
        fields in prop::collection::vec(prop::sample::select(vec!["0", "1.5", "0.1%", "1%=2", "x", ""]), 0..200),
    ) {
        cut(&format!("{head};{}", fields.join(";")));
    }
}
