//! How each part of a record stands in its line.
//!
//! Place: below [`super`], which has the record itself, the readings and the order of it all.

use super::plain::{close, number, other, real, serde, string, whole};
use super::{Write, field, list};
use crate::record::{
    CountBucket, Cpu, Depths, Details, Ios, Latency, LatencyBucket, LatencyTarget, Measurement,
    Percentile, PriorityLatency, Samples, Scope, Spread, Tool,
};
use crate::unit::Quantity;
use compact_str::CompactString;

impl Write for CompactString {
    fn write(&self, out: &mut Vec<u8>) {
        string(out, self);
    }
}

impl Write for Tool {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            name,
            version,
            implementation,
        } = self;
        out.extend_from_slice(b"{\"name\":");
        string(out, name);
        out.push(b',');
        field(out, b"\"version\":", version);
        field(out, b"\"implementation\":", implementation);
        close(out, b'}');
    }
}

impl Write for Scope {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            kind,
            group,
            job,
            jobs,
            host,
        } = self;
        out.push(b'{');
        other(out, b"\"kind\":", kind);
        field(out, b"\"group\":", &group.map(u64::from));
        field(out, b"\"job\":", job);
        field(out, b"\"jobs\":", &jobs.map(u64::from));
        field(out, b"\"host\":", host);
        close(out, b'}');
    }
}

impl Write for u64 {
    fn write(&self, out: &mut Vec<u8>) {
        whole(out, *self);
    }
}

impl Write for Percentile {
    fn write(&self, out: &mut Vec<u8>) {
        let Self { reading, p } = self;
        if !reading.is_one() {
            return serde(out, self);
        }
        out.extend_from_slice(b"{\"p\":");
        real(out, *p);
        out.push(b',');
        super::reading(out, reading);
        close(out, b'}');
    }
}

impl Write for Latency {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            min,
            max,
            mean,
            stddev,
            samples,
            percentiles,
            bins,
        } = self;
        out.push(b'{');
        field(out, b"\"min\":", min);
        field(out, b"\"max\":", max);
        field(out, b"\"mean\":", mean);
        field(out, b"\"stddev\":", stddev);
        field(out, b"\"samples\":", samples);
        list(out, b"\"percentiles\":", percentiles);
        if !bins.is_empty() {
            other(out, b"\"bins\":", bins);
        }
        close(out, b'}');
    }
}

impl<Q: Quantity> Write for Spread<Q> {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            min,
            max,
            mean,
            stddev,
            count,
            per,
        } = self;
        out.push(b'{');
        field(out, b"\"min\":", min);
        field(out, b"\"max\":", max);
        field(out, b"\"mean\":", mean);
        field(out, b"\"stddev\":", stddev);
        field(out, b"\"count\":", count);
        field(out, b"\"per\":", per);
        close(out, b'}');
    }
}

impl Write for Samples {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            bytes_per_sec,
            iops,
        } = self;
        out.push(b'{');
        field(out, b"\"bytes_per_sec\":", bytes_per_sec);
        field(out, b"\"iops\":", iops);
        close(out, b'}');
    }
}

impl Write for Ios {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            total,
            short,
            dropped,
        } = self;
        out.push(b'{');
        number(out, b"\"total\":", *total);
        number(out, b"\"short\":", *short);
        number(out, b"\"dropped\":", *dropped);
        close(out, b'}');
    }
}

impl Write for Cpu {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            user_percent,
            system_percent,
            context_switches,
            major_faults,
            minor_faults,
        } = self;
        out.push(b'{');
        field(out, b"\"user_percent\":", user_percent);
        field(out, b"\"system_percent\":", system_percent);
        field(out, b"\"context_switches\":", context_switches);
        field(out, b"\"major_faults\":", major_faults);
        field(out, b"\"minor_faults\":", minor_faults);
        close(out, b'}');
    }
}

impl Write for LatencyBucket {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            ge_ns,
            lt_ns,
            percent,
        } = self;
        out.push(b'{');
        number(out, b"\"ge_ns\":", *ge_ns);
        field(out, b"\"lt_ns\":", lt_ns);
        out.extend_from_slice(b"\"percent\":");
        percent.write(out);
        out.push(b'}');
    }
}

impl Write for Details {
    fn write(&self, out: &mut Vec<u8>) {
        let Details {
            printed,
            printed_unix_ms,
            started_unix_ms,
            syncs,
            disks,
        } = self;
        out.push(b'{');
        if let Some(printed) = printed {
            out.extend_from_slice(b"\"printed\":");
            string(out, printed);
            out.push(b',');
        }
        if let Some(at) = *printed_unix_ms {
            number(out, b"\"printed_unix_ms\":", at);
        }
        if let Some(at) = *started_unix_ms {
            number(out, b"\"started_unix_ms\":", at);
        }
        if let Some(syncs) = *syncs {
            number(out, b"\"syncs\":", syncs);
        }
        if !disks.is_empty() {
            other(out, b"\"disks\":", disks);
        }
        close(out, b'}');
    }
}

impl Write for CountBucket {
    fn write(&self, out: &mut Vec<u8>) {
        let Self { min, max, percent } = self;
        out.push(b'{');
        number(out, b"\"min\":", *min);
        field(out, b"\"max\":", max);
        out.extend_from_slice(b"\"percent\":");
        percent.write(out);
        out.push(b'}');
    }
}

impl Write for Depths {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            depth,
            submit,
            complete,
        } = self;
        out.push(b'{');
        list(out, b"\"depth\":", depth);
        list(out, b"\"submit\":", submit);
        list(out, b"\"complete\":", complete);
        close(out, b'}');
    }
}

impl Write for LatencyTarget {
    fn write(&self, out: &mut Vec<u8>) {
        serde(out, self);
    }
}

impl Write for PriorityLatency {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            priority,
            percent,
            clat_ns,
            lat_ns,
        } = self;
        out.extend_from_slice(b"{\"priority\":");
        string(out, priority);
        out.push(b',');
        field(out, b"\"percent\":", percent);
        field(out, b"\"clat_ns\":", clat_ns);
        field(out, b"\"lat_ns\":", lat_ns);
        close(out, b'}');
    }
}

impl Write for Measurement {
    fn write(&self, out: &mut Vec<u8>) {
        let Self {
            bytes_per_sec,
            bytes,
            iops,
            runtime_ns,
            runtime_ns_min,
            bytes_per_sec_min,
            bytes_per_sec_max,
            wall_ns,
            wall_covers,
            user_ns,
            system_ns,
            io_phase_ns,
            flush_ns,
            sync_ns,
            slat_ns,
            clat_ns,
            lat_ns,
            sync_lat_ns,
            priorities,
            steady_state,
            samples,
            ios,
            cpu,
            lat_distribution,
            depths,
            latency_target,
            records_in,
            records_out,
        } = self;
        out.push(b'{');
        field(out, b"\"bytes_per_sec\":", bytes_per_sec);
        field(out, b"\"bytes\":", bytes);
        field(out, b"\"iops\":", iops);
        field(out, b"\"runtime_ns\":", runtime_ns);
        field(out, b"\"runtime_ns_min\":", runtime_ns_min);
        field(out, b"\"bytes_per_sec_min\":", bytes_per_sec_min);
        field(out, b"\"bytes_per_sec_max\":", bytes_per_sec_max);
        field(out, b"\"wall_ns\":", wall_ns);
        if let Some(covers) = wall_covers {
            other(out, b"\"wall_covers\":", covers);
        }
        field(out, b"\"user_ns\":", user_ns);
        field(out, b"\"system_ns\":", system_ns);
        field(out, b"\"io_phase_ns\":", io_phase_ns);
        field(out, b"\"flush_ns\":", flush_ns);
        field(out, b"\"sync_ns\":", sync_ns);
        field(out, b"\"slat_ns\":", slat_ns);
        field(out, b"\"clat_ns\":", clat_ns);
        field(out, b"\"lat_ns\":", lat_ns);
        field(out, b"\"sync_lat_ns\":", sync_lat_ns);
        list(out, b"\"priorities\":", priorities);
        if let Some(steady) = steady_state {
            other(out, b"\"steady_state\":", steady);
        }
        field(out, b"\"samples\":", samples);
        field(out, b"\"ios\":", ios);
        field(out, b"\"cpu\":", cpu);
        list(out, b"\"lat_distribution\":", lat_distribution);
        field(out, b"\"depths\":", depths);
        field(out, b"\"latency_target\":", latency_target);
        if let Some(records) = records_in {
            other(out, b"\"records_in\":", records);
        }
        if let Some(records) = records_out {
            other(out, b"\"records_out\":", records);
        }
        close(out, b'}');
    }
}
