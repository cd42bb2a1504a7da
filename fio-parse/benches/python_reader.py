#!/usr/bin/env python3
"""fio's normal reports and JSON, as a careful script in Python reads them: every field that fio-parse reads.

    python_reader.py text|json FILE                prints how many directions, and the MB/s
    python_reader.py check text|json FILE RECORDS  holds its reading against the records of fio-parse for the same text

FILE holds reports or JSON documents of fio 3.x one after the other. Fields: of a job its name, group, number of jobs,
error, process; of each direction bytes, bandwidth, IOPS, run time in both bases, the least, largest and mean latencies and
their deviation, all percentiles, the samples of bandwidth and IOPS; of a job the distribution of latencies, processor use,
queue depths, I/Os per call, counts, errors, latency target, steady state; the lines of group status. Figures are plain
numbers: unlike fio-parse, it has neither intervals nor places in the text nor contexts.
"""
import json
import re
import sys
import time

NUMBER = r"\s*([0-9.]+)([kKMGTP]?i?)"
HEAD = re.compile(r"^(.*): \(groupid=(\d+), jobs=(\d+)\): err=\s*(\d+)(?: \((.*)\))?: pid=(-?\d+): (.*)$")
DIRECTION = re.compile(
    r"^\s*(read|write|trim|mixed)\s*: IOPS=([0-9.]+)([kMGT]?), BW=([0-9.]+)([KMGTP]?i?)B/s \(([0-9.]+)([KkMGTP]?i?)B/s\)"
    r"\(([0-9.]+)([KMGTP]?i?)B/([0-9]+)msec\)")
LATENCY = re.compile(
    rf"^\s*(slat|clat|lat|sync) \((nsec|usec|msec)\): min={NUMBER}, max={NUMBER}, avg=\s*([0-9.]+), stdev=\s*([0-9.]+)")
PRIORITY = re.compile(
    rf"^\s*(clat|lat) prio (\S+) \((nsec|usec|msec)\): min={NUMBER}, max={NUMBER}, avg=\s*([0-9.]+), stdev=\s*([0-9.]+)")
TITLE = re.compile(r"^\s*(slat|clat|lat|sync)(?: prio (\S+) \(([0-9.]+)%(?: of IOs)?\))? percentiles \((nsec|usec|msec)\):")
PERCENTILE = re.compile(r"([0-9.]+)th=\[\s*([0-9]+)\]")
SAMPLES = re.compile(
    r"^\s*(?:bw \(\s*([A-Za-z]+)\s*/s\)|iops\s*): min=\s*([0-9]+), max=\s*([0-9]+), (?:per=\s*([0-9.]+)%, )?"
    r"avg=\s*([0-9.]+), stdev=\s*([0-9.]+)(?:, samples=\s*([0-9]+))?")
DISTRIBUTION = re.compile(r"^\s*lat \((nsec|usec|msec)\)\s*: (.*%)")
SHARE = re.compile(r"(>=)?(\d+)=([0-9.]+)%")
CPU = re.compile(r"^\s*cpu\s*: usr=([0-9.]+)%, sys=([0-9.]+)%, ctx=(\d+), majf=(\d+), minf=(\d+)")
DEPTHS = re.compile(r"^\s*(IO depths|submit|complete)\s*: (.*%)")
ISSUED = re.compile(r"^\s*issued rwts?: total=(\d+(?:,\d+)*),? short=(\d+(?:,\d+)*),? dropped=(\d+(?:,\d+)*)")
ERRORS = re.compile(r"^\s*errors\s*: total=(\d+), first_error=(\d+)/<(.*)>")
TARGET = re.compile(r"^\s*latency\s*: target=([0-9.]+)(\w*), window=([0-9.]+)(\w*), percentile=([0-9.]+)%, depth=(\d+)")
STEADY = re.compile(r"^\s*steadystate\s*: attained=(yes|no), bw=(\S+) \((\S+)\), iops=([^,]+), (.*)=([0-9.]+)(%?)")
GROUP = re.compile(
    r"^\s*(READ|WRITE|TRIM|MIXED): bw=([0-9.]+)([KMGTP]?i?)B/s \(([0-9.]+)([KkMGTP]?i?)B/s\), "
    r"([0-9.]+)([KMGTP]?i?)B/s-([0-9.]+)([KMGTP]?i?)B/s \(([0-9.]+)([KkMGTP]?i?)B/s-([0-9.]+)([KkMGTP]?i?)B/s\), "
    r"io=([0-9.]+)([KMGTP]?i?)B \(([0-9.]+)([KkMGTP]?i?)B\), run=(\d+)-(\d+)msec")
GROUP_HEAD = re.compile(r"^Run status group (\d+)")
UNIT = {"nsec": 1, "usec": 1000, "msec": 1_000_000}
SCALE = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
         "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}


def shares(text):
    return [(more == ">=", int(at), float(share)) for more, at, share in SHARE.findall(text)]


def four(found, unit):
    low, low_scale, high, high_scale, mean, deviation = found
    return {"min": float(low) * SCALE[low_scale] * unit, "max": float(high) * SCALE[high_scale] * unit,
            "mean": float(mean) * unit, "stddev": float(deviation) * unit}


def read_text(text):
    """Rows of directions and of group lines."""
    rows, groups, job, row, title, group = [], [], {}, None, None, None
    for line in text.splitlines():
        start = line.lstrip()[:3]
        if start in ("rea", "wri", "tri", "mix") and (found := DIRECTION.match(line)):
            name, iops, scale, rate, unit, twin, twin_unit, size, size_unit, msec = found.groups()
            row = {"direction": name, "iops": float(iops) * SCALE[scale], "bytes_per_sec": float(rate) * SCALE[unit],
                   "rate_twin": float(twin) * SCALE[twin_unit], "bytes": float(size) * SCALE[size_unit],
                   "runtime_ns": int(msec) * 1e6, "job": job}
            rows.append(row)
            title = None
        elif start[:1] == "|":
            if title:
                title[0].extend((float(p), int(value) * title[1]) for p, value in PERCENTILE.findall(line))
        elif start in ("sla", "cla", "lat", "syn"):
            if found := LATENCY.match(line):
                name, unit = found.group(1, 2)
                (job if name == "sync" or row is None else row).setdefault(name, {}).update(four(found.groups()[2:], UNIT[unit]))
            elif found := TITLE.match(line):
                name, priority, share, unit = found.groups()
                place = job if name == "sync" or row is None else row
                if priority:
                    place = place.setdefault("priorities", {}).setdefault(priority, {"share": float(share)})
                title = (place.setdefault(name, {}).setdefault("percentiles", []), UNIT[unit])
            elif found := DISTRIBUTION.match(line):
                unit = UNIT[found.group(1)]
                job.setdefault("distribution", []).extend((more, at * unit, share) for more, at, share in shares(found.group(2)))
            elif found := TARGET.match(line):
                job["target"] = found.groups()
            elif found := PRIORITY.match(line):
                name, priority, unit = found.group(1, 2, 3)
                if row is not None:
                    place = row.setdefault("priorities", {}).setdefault(priority, {})
                    place.setdefault(name, {}).update(four(found.groups()[3:], UNIT[unit]))
        elif start in ("bw ", "iop"):
            if (found := SAMPLES.match(line)) and row is not None:
                unit, low, high, per, mean, deviation, count = found.groups()
                scale = SCALE[unit.rstrip("B")] if unit else 1
                row["samples_" + ("bw" if unit else "iops")] = {
                    "min": int(low) * scale, "max": int(high) * scale, "mean": float(mean) * scale,
                    "stddev": float(deviation) * scale, "per": per and float(per), "count": count and int(count)}
        elif start == "cpu" and (found := CPU.match(line)):
            user, system, *counts = found.groups()
            job["cpu"] = (float(user), float(system), *map(int, counts))
        elif start in ("IO ", "sub", "com") and (found := DEPTHS.match(line)):
            job[found.group(1)] = shares(found.group(2))
        elif start == "iss" and (found := ISSUED.match(line)):
            job["issued"] = [[int(count) for count in counts.split(",")] for counts in found.groups()]
        elif start == "err" and (found := ERRORS.match(line)):
            job["errors"] = (int(found.group(1)), int(found.group(2)), found.group(3))
        elif start == "ste" and (found := STEADY.match(line)):
            job["steady"] = found.groups()
        elif start in ("REA", "WRI", "TRI", "MIX") and (found := GROUP.match(line)):
            name, *figures, shortest, longest = found.groups()
            values = [float(n) * SCALE[unit] for n, unit in zip(figures[::2], figures[1::2])]
            groups.append({"direction": name.lower(), "group": group, "bytes_per_sec": values[0], "rate_twin": values[1],
                           "bytes_per_sec_min": values[2], "bytes_per_sec_max": values[3], "min_twin": values[4],
                           "max_twin": values[5], "bytes": values[6], "bytes_twin": values[7],
                           "shortest": int(shortest) * 1e6, "runtime_ns": int(longest) * 1e6})
        elif "(groupid=" in line and (found := HEAD.match(line)):
            name, number, jobs, error, words, pid, when = found.groups()
            job = {"name": name, "group": int(number), "jobs": int(jobs), "error": int(error), "words": words,
                   "pid": int(pid), "time": when}
            row = title = None
        elif found := GROUP_HEAD.match(line):
            group, row, title = int(found.group(1)), None, None
    return rows, groups


def latency(side, kind):
    found, unit = (side[kind + "_ns"], 1) if kind + "_ns" in side else (side.get(kind, {}), 1000)
    read = {end: found[end] * unit for end in ("min", "max", "mean", "stddev") if end in found}
    read["count"] = found.get("N")
    read["percentiles"] = [(float(p), value * unit) for p, value in found.get("percentile", {}).items() if p[0].isdigit() and p != "0.00"]
    read["bins"] = [(int(bin), count) for bin, count in found.get("bins", {}).items()]
    return read


def table(table, unit=1):
    return [(at.startswith(">="), int(at.lstrip(">=")) * unit, share) for at, share in table.items() if share]


def read_json(text):
    """Rows of directions. The decoding of the standard library is written in C."""
    rows, at, decoder = [], 0, json.JSONDecoder()
    while (at := text.find("{", at)) >= 0:
        try:
            document, at = decoder.raw_decode(text, at)
        except ValueError:
            at += 1
            continue
        for job in document.get("jobs", []):
            whole = {"name": job.get("jobname"), "group": job.get("groupid"), "error": job.get("error"),
                     "options": job.get("job options"), "distribution": table(job.get("latency_ns", {}))
                     + table(job.get("latency_us", {}), 1000) + table(job.get("latency_ms", {}), 1_000_000),
                     "cpu": [job.get(name) for name in ("usr_cpu", "sys_cpu", "ctx", "majf", "minf")],
                     "target": [job.get("latency_" + name) for name in ("target", "window", "percentile", "depth")]}
            for name in ("level", "submit", "complete"):
                whole[name] = table(job.get("iodepth_" + name, {}))
            for name in ("read", "write", "trim", "mixed"):
                side = job.get(name)
                if not side or not side.get("io_bytes"):
                    continue
                row = {"direction": name, "iops": side["iops"], "bytes_per_sec": side.get("bw_bytes", side["bw"] * 1024),
                       "bytes": side["io_bytes"], "runtime_ns": side["runtime"] * 1e6, "job": whole,
                       "ios": [side.get(count, 0) for count in ("total_ios", "short_ios", "drop_ios")]}
                for kind in ("slat", "clat", "lat"):
                    row[kind] = latency(side, kind)
                for kind, scale in (("bw", 1024), ("iops", 1)):
                    deviation = "bw_dev" if kind == "bw" else "iops_stddev"
                    row["samples_" + kind] = {
                        "min": side.get(kind + "_min", 0) * scale, "max": side.get(kind + "_max", 0) * scale,
                        "mean": side.get(kind + "_mean", 0) * scale, "stddev": side.get(deviation, 0) * scale,
                        "count": side.get(kind + "_samples")}
                rows.append(row)
    return rows, []


class Check:
    """Each figure lies near the interval of fio-parse: within its width, as a script rounds where fio-parse does not."""

    def __init__(self):
        self.figures = 0

    def near(self, value, reading, what):
        slack = max(reading["hi"] - reading["lo"], reading["hi"] * 0.01, 1)
        if not reading["lo"] - slack <= value <= reading["hi"] + slack:
            sys.exit(f"{what}: {value} here, {reading['lo']} to {reading['hi']} in the record")
        self.figures += 1

    def same(self, ours, theirs, what):
        if ours != theirs:
            sys.exit(f"{what}: {ours} here, {theirs} in the record")
        self.figures += 1

    def ends(self, row, readings, what):
        for end in ("min", "max", "mean", "stddev"):
            if end in row and end in readings:
                self.near(row[end], readings[end], f"{what} {end}")

    def tables(self, ours, theirs, end, what):
        ours = [(at, share) for more, at, share in ours if share and not more]
        theirs = [(bucket[end], bucket["percent"]) for bucket in theirs if end in bucket]
        if end == "min":
            theirs = theirs[:len(ours)]
        self.same([at for at, _ in ours], [at for at, _ in theirs], what)
        for (at, share), (_, reading) in zip(ours, theirs):
            self.near(share, reading, f"{what} {at}")

    def direction(self, row, record):
        measured = record["measurement"]
        self.same(row["direction"], record["direction"], "direction")
        for name in ("iops", "bytes_per_sec", "bytes", "runtime_ns"):
            self.near(row[name], measured[name], name)
        for kind in ("slat", "clat", "lat"):
            found, read = row.get(kind, {}), measured.get(kind + "_ns", {})
            self.ends(found, read, kind)
            percentiles = read.get("percentiles", [])
            if percentiles:
                self.same([p for p, _ in found["percentiles"]], [p["p"] for p in percentiles], kind + " percentiles")
            for (p, value), reading in zip(found.get("percentiles", []), percentiles):
                self.near(value, reading, f"{kind} p{p}")
        for kind, name in (("bw", "bytes_per_sec"), ("iops", "iops")):
            self.ends(row.get("samples_" + kind, {}), measured.get("samples", {}).get(name, {}), kind + " samples")
        job, depths = row["job"], measured.get("depths", {})
        if "distribution" in job:
            self.tables(job["distribution"], measured.get("lat_distribution", []), "lt_ns", "distribution")
        for name, key in (("IO depths", "depth"), ("level", "depth")):
            if name in job:
                self.tables(job[name], depths.get(key, []), "min", name)
        for name in ("submit", "complete"):
            if name in job:
                self.tables(job[name], depths.get(name, []), "max", name)
        if "cpu" in job and "cpu" in measured:
            for value, name in zip(job["cpu"], ("user_percent", "system_percent")):
                self.near(value, measured["cpu"][name], name)
            self.same(list(job["cpu"][2:]), [measured["cpu"][n] for n in ("context_switches", "major_faults", "minor_faults")], "cpu")

    def group(self, row, record):
        measured = record["measurement"]
        self.same((row["direction"], row["group"]), (record["direction"], record["scope"]["group"]), "group")
        for name in ("bytes_per_sec", "bytes_per_sec_min", "bytes_per_sec_max", "bytes", "runtime_ns"):
            self.near(row[name], measured[name], name)


def check(read, records):
    rows, groups = read
    check, records = Check(), [json.loads(line) for line in records]
    for ours, dialects, hold in ((rows, ("fio-job", "fio-json"), check.direction), (groups, ("fio-group",), check.group)):
        theirs = [record for record in records if record["source"]["dialect"] in dialects]
        if len(ours) != len(theirs):
            sys.exit(f"{len(ours)} lines here, {len(theirs)} in the records")
        for row, record in zip(ours, theirs):
            hold(row, record)
    print(f"{check.figures} figures of {len(rows)} directions and {len(groups)} group lines agree")


def main():
    checks = sys.argv[1:2] == ["check"]
    arguments = sys.argv[2:] if checks else sys.argv[1:]
    if len(arguments) != 1 + 1 + checks or arguments[0] not in ("text", "json"):
        sys.exit(__doc__)
    with open(arguments[1], encoding="utf-8", errors="replace") as file:
        text = file.read()
    start = time.process_time()
    read = (read_text if arguments[0] == "text" else read_json)(text)
    seconds = time.process_time() - start
    if checks:
        with open(arguments[2], encoding="utf-8") as records:
            return check(read, records)
    print(f"python {arguments[0]}: {len(read[0])} directions, {len(text) / 1e6 / seconds:.1f} MB/s")


main()
