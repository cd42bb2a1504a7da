//! Which engine plays which of fio's, and how deep its queue really is.

use fio_parse::workload::Job;

use super::Draft;
use super::job::{EngineKind, Submission, Syncs};
use super::meant::hint;
use super::options::Choices;

/// fio's own default on Linux is psync; `aio` and `linuxaio` are other names of libaio.
pub(super) fn asked_engine(job: &Job) -> &str {
    match job.engine.as_deref() {
        None => "psync",
        Some("aio" | "linuxaio") => "libaio",
        Some(engine) => engine,
    }
}

/// How a job's I/O is played.
pub(super) struct Chosen {
    pub engine: EngineKind,
    /// The depth that it really has.
    pub depth: u32,
    /// The engine that was asked for, by the job or with `--engine`.
    pub asked: String,
}

/// The engine to use for so many files.
pub(super) fn engine(
    job: &Job,
    direct: bool,
    asked_depth: u32,
    files: u32,
    submission: Submission,
    draft: &mut Draft<'_>,
) -> Option<Chosen> {
    let asked = asked_engine(job);
    if submission == Submission::Offload
        && let Some(engine) = offloaded(asked, draft)
    {
        return Some(Chosen {
            engine,
            depth: asked_depth,
            asked: asked.to_owned(),
        });
    }
    // What plays it, and what there is to say of that.
    let (usual, told): (EngineKind, Option<(&'static str, Option<&str>)>) = match asked {
        "psync" => (EngineKind::Sync, None),
        "sync" | "pvsync" | "pvsync2" => (EngineKind::Sync, Some(("engine-as-psync", Some(asked)))),
        "io_uring" => (EngineKind::Uring, None),
        "libaio" if direct => (EngineKind::Uring, Some(("libaio-direct-as-uring", None))),
        "libaio" => (EngineKind::Sync, Some(("libaio-buffered-serial", None))),
        "posixaio" => (EngineKind::Helper, Some(("posixaio-linux-serial", None))),
        "windowsaio" | "solarisaio" => (
            EngineKind::Uring,
            Some(("engine-of-another-system", Some(asked))),
        ),
        "vsync" => (EngineKind::Vector, Some(("vsync-gathers", None))),
        "mmap" => (EngineKind::Mmap, None),
        "null" => (EngineKind::Null, Some(("null-engine", None))),
        _ => {
            draft.refuse_about("engine", "ioengine", refused_engine(asked));
            return None;
        }
    };
    if asked == "mmap" && draft.target.engine == Some(EngineKind::Uring) {
        let why = "mmap measures page faults, which io_uring has none of; leave --engine out";
        draft.refuse_about("engine", "ioengine", why.to_owned());
    }
    let (mut engine, mut name) = (usual, asked);
    if let Some(wanted) = draft.target.engine.filter(|&wanted| wanted != usual) {
        draft.note_with("engine-override", format!("{} for {asked}", wanted.name()));
        engine = wanted;
        // It has no name with fio, which knows it as a way to use others.
        if wanted != EngineKind::Offload {
            name = wanted.name();
        }
    } else if let Some((id, detail)) = told {
        match detail {
            Some(detail) => draft.note_with(id, detail.to_owned()),
            None => draft.note(id),
        }
    }
    if engine == EngineKind::Uring
        && let Err(why) = &draft.target.uring
    {
        let why = why.clone();
        draft.note_with("uring-unavailable", why);
        engine = EngineKind::Sync;
    }
    if engine == EngineKind::Mmap && direct {
        draft.note("mmap-ignores-direct");
    }
    if matches!(engine, EngineKind::Uring | EngineKind::Helper) {
        draft.note("clat-holds-submission");
    }
    if engine == EngineKind::Uring {
        draft.note(if draft.target.as_fio {
            "as-fio"
        } else {
            "uring-at-its-best"
        });
    }
    if draft.target.batch_stamps {
        draft.note("stamp-batch");
    }
    let depth = match engine {
        // A helper does one I/O at a time; the others wait in its queue, and their latency
        // holds the wait, as with fio.
        EngineKind::Uring
        | EngineKind::Null
        | EngineKind::Vector
        | EngineKind::Offload
        | EngineKind::Helper => asked_depth,
        EngineKind::Sync | EngineKind::Mmap => 1,
    };
    let effective = match engine {
        EngineKind::Helper => asked_depth.min(files),
        _ => depth,
    };
    if effective < asked_depth {
        let detail = format!("asked {asked_depth}, effective {effective}");
        match asked {
            "psync" | "sync" | "pvsync" | "pvsync2" | "mmap" => {
                draft.note_with("sync-engine-depth-one", detail)
            }
            "posixaio" => draft.note_with("depth-illusory", detail),
            _ => {}
        }
    }
    Some(Chosen {
        engine,
        depth,
        asked: name.to_owned(),
    })
}

/// The engine for `io_submit_mode=offload`, where the asked one is played with it at all.
fn offloaded(asked: &str, draft: &mut Draft<'_>) -> Option<EngineKind> {
    match asked {
        "psync" | "sync" | "pvsync" | "pvsync2" | "libaio" | "io_uring" | "posixaio" => {}
        "null" => return None,
        _ => {
            let why = format!("io_submit_mode=offload is not played with {asked}; psync is");
            draft.refuse_about("option", "io_submit_mode", why);
            return None;
        }
    }
    if draft
        .target
        .engine
        .is_some_and(|wanted| wanted != EngineKind::Offload)
    {
        return None;
    }
    draft.note("offload-threads");
    Some(EngineKind::Offload)
}

/// Options that only some engines have: fio refuses them with any other.
const OF_ENGINES: &[(&str, &[&str])] = &[
    ("hipri", &["io_uring", "pvsync2"]),
    ("uncached", &["io_uring", "pvsync2"]),
    ("nowait", &["io_uring", "pvsync2", "libaio"]),
    ("sqthread_poll", &["io_uring"]),
    ("force_async", &["io_uring"]),
];

/// Whether the engine has the options that are asked of it, and can do them at once.
pub(super) fn check_engine_options(
    job: &Job,
    choices: &Choices,
    syncs: Syncs,
    draft: &mut Draft<'_>,
) {
    let (asked, ring) = (asked_engine(job), choices.ring);
    let on = [
        ring.poll,
        ring.uncached,
        ring.nowait,
        ring.kernel_thread,
        ring.force_async,
    ];
    for ((option, engines), _) in OF_ENGINES.iter().zip(on).filter(|(_, on)| *on) {
        if !engines.contains(&asked) {
            let why = format!(
                "{asked} has no option {option}, and fio refuses it too; {} has it",
                engines.join(", ")
            );
            draft.refuse_about("engine-option", option, why);
        }
    }
    if choices.submission == Submission::Offload && on.contains(&true) {
        let why = "io_submit_mode=offload is not played together with options of the engine";
        draft.refuse_about("engine-option", "io_submit_mode", why.to_owned());
    }
    if ring.poll && asked == "io_uring" {
        if job.direct != Some(true) {
            let why = "hipri polls the device, which takes direct=1; fio fails without it too";
            draft.refuse_about("engine-option", "hipri", why.to_owned());
        }
        if syncs.fsync_every > 0 || syncs.fdatasync_every > 0 {
            let why = "hipri polls for reads and writes only, so an fsync in the queue fails, in fio too; leave out one of them";
            draft.refuse_about("engine-option", "hipri", why.to_owned());
        }
    }
    if ring.uncached {
        draft.note("uncached-by-new-flag");
    }
}

fn refused_engine(engine: &str) -> String {
    let why = match engine {
        "net" | "netsplice" | "rdma" | "rbd" | "rados" | "http" | "nbd" | "nfs" | "gfapi"
        | "gfapi_async" | "libiscsi" | "libhdfs" | "dfs" | "ime" => "needs a server on the network",
        "io_uring_cmd" | "sg" | "libzbc" | "mtd" | "dev-dax" | "libpmem" | "pmemblk" | "xnvme"
        | "spdk" | "libblkio" => "works on raw devices, which are never touched",
        "cpuio" => "burns CPU and moves no data",
        "exec" => "runs programs",
        engine if engine.starts_with("external") || engine.ends_with(".so") => "loads foreign code",
        _ => "is not known or not supported",
    };
    format!(
        "the engine {engine} {why}; psync, sync, pvsync, pvsync2, vsync, io_uring, libaio, posixaio, \
         mmap and null are played, and --engine overrides none of these refusals{}",
        hint("ioengine", engine)
    )
}
