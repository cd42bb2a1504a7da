use fio_parse::record::*;
use fio_parse::*;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let log = Log::from_bytes(path.clone(), &bytes).unwrap();
    let mut lines = log.segments();
    let mut era = era::Era::default();
    let mut out = Vec::new();
    let mut version = None;
    let rec = |scope: Scope,
               direction,
               measurement,
               warnings,
               errors: Vec<JobError>,
               span: Span,
               version: Option<String>,
               log: &Log| Record {
        v: WireVersion,
        source: Source {
            name: "x".into(),
            span: Some(span),
            line: Some(log.line_column(span.start).0),
            dialect: Dialect::FioJob,
            tool: Tool {
                name: "fio".into(),
                version,
                implementation: None,
            },
        },
        machine: None,
        device: None,
        section: vec![],
        workload: None,
        run: 1,
        scope,
        direction,
        measurement,
        errors,
        interrupted: false,
        fidelity: None,
        environment: Default::default(),
        warnings,
    };
    loop {
        if let Some(g) = block::fio_group::read(&log, &mut lines) {
            for m in assemble::fio_group::measurements(&g, era) {
                let mut scope = Scope::of(ScopeKind::Group);
                scope.group = g.group;
                out.push(rec(
                    scope,
                    m.direction,
                    m.measurement,
                    m.warnings,
                    vec![],
                    m.span,
                    version.clone(),
                    &log,
                ));
            }
            continue;
        }
        if let Some(j) = block::fio_text::read(&log, &mut lines) {
            for m in assemble::fio_text::measurements(&j, era, Default::default()) {
                let mut scope = Scope::of(ScopeKind::Job);
                if let Some(h) = &j.head {
                    scope.group = Some(h.group);
                    scope.job = Some(h.name.to_string());
                    scope.jobs = h.jobs;
                    if h.name == "All clients" {
                        scope.kind = ScopeKind::AllClients;
                    }
                }
                out.push(rec(
                    scope,
                    m.direction,
                    m.measurement,
                    m.warnings,
                    assemble::fio_text::errors(&j),
                    m.span,
                    version.clone(),
                    &log,
                ));
            }
            continue;
        }
        let Some(seg) = lines.next() else { break };
        let t = lex::skip_margin(seg.text).trim_end();
        if std::env::var("REST").is_ok() {
            println!("REST {}", seg.text);
        }
        if let Some((v, n)) = era::Version::read(t)
            && n == t.len()
        {
            era = era::Era::of(v);
            version = Some(t.to_string());
        }
    }
    if std::env::var("REST").is_err() {
        let stdout = std::io::stdout();
        let _ = write_jsonl(&out, stdout.lock());
    }
}
