#!/usr/bin/env python3
"""The main fields of fio's normal reports and JSON, as a careful script in Python reads them.

    python_reader.py text|json FILE      prints how many jobs and directions, and the MB/s
    python_reader.py check FILE RECORDS  holds its reading against the records of fio-parse for the same text

FILE holds reports or JSON documents one after the other. Fields: bytes, bandwidth, IOPS, run time, the least, largest
and mean latencies, and all percentiles: fewer than fio-parse reads, and without intervals.
"""
import json
import re
import sys
import time

DIRECTION = re.compile(
    r"^\s*(read|write|trim|mixed)\s*: IOPS=([0-9.]+)([kMGT]?), BW=([0-9.]+)([KMGTP]?i?)B/s \(.*?\)\(([0-9.]+)([KMGTP]?i?)B/([0-9]+)msec\)")
LATENCY = re.compile(
    r"^\s*(slat|clat|lat) \((nsec|usec|msec)\): min=\s*([0-9.]+)([kM]?), max=\s*([0-9.]+)([kM]?), avg=\s*([0-9.]+), stdev=\s*([0-9.]+)")
TITLE = re.compile(r"^\s*(slat|clat|lat) percentiles \((nsec|usec|msec)\):")
PERCENTILE = re.compile(r"([0-9.]+)th=\[\s*([0-9]+)\]")
UNIT = {"nsec": 1, "usec": 1000, "msec": 1_000_000}
SCALE = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
         "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}


def read_text(text):
    rows, row, title = [], None, None
    for line in text.splitlines():
        found = DIRECTION.match(line)
        if found:
            name, iops, scale, rate, rate_unit, size, size_unit, msec = found.groups()
            row = {"direction": name, "iops": float(iops) * SCALE[scale], "bytes_per_sec": float(rate) * SCALE[rate_unit],
                   "bytes": float(size) * SCALE[size_unit], "runtime_ns": int(msec) * 1e6}
            rows.append(row)
            title = None
            continue
        if row is None:
            continue
        found = LATENCY.match(line)
        if found:
            name, unit, low, low_scale, high, high_scale, mean, deviation = found.groups()
            unit = UNIT[unit]
            row[name] = {"min": float(low) * SCALE[low_scale] * unit, "max": float(high) * SCALE[high_scale] * unit,
                         "mean": float(mean) * unit, "stddev": float(deviation) * unit}
            continue
        found = TITLE.match(line)
        if found:
            title = (row.setdefault(found.group(1), {}).setdefault("percentiles", []), UNIT[found.group(2)])
            continue
        if title and "th=[" in line:
            title[0].extend((float(p), int(value) * title[1]) for p, value in PERCENTILE.findall(line))
        elif line.lstrip().startswith(("Run status", "cpu")):
            row = title = None
    return rows


def read_json(text):
    rows, at, decoder = [], 0, json.JSONDecoder()
    while (at := text.find("{", at)) >= 0:
        try:
            document, at = decoder.raw_decode(text, at)
        except ValueError:
            at += 1
            continue
        for job in document.get("jobs", []):
            for name in ("read", "write", "trim", "mixed"):
                side = job.get(name)
                if not side or not side.get("io_bytes"):
                    continue
                row = {"direction": name, "iops": side["iops"], "bytes_per_sec": side.get("bw_bytes", side["bw"] * 1024),
                       "bytes": side["io_bytes"], "runtime_ns": side["runtime"] * 1e6}
                for kind in ("slat", "clat", "lat"):
                    latency, unit = (side[kind + "_ns"], 1) if kind + "_ns" in side else (side.get(kind, {}), 1000)
                    row[kind] = {end: latency[end] * unit for end in ("min", "max", "mean", "stddev") if end in latency}
                    row[kind]["percentiles"] = [(float(p), value * unit) for p, value in latency.get("percentile", {}).items()
                                                if p[0].isdigit()]
                rows.append(row)
    return rows


def check(text, records):
    """Each figure lies near the interval of fio-parse: within its width, as a script rounds where fio-parse does not."""
    ours = read_text(text)
    theirs = [r for r in map(json.loads, records) if r["source"]["dialect"] == "fio-job"]
    if len(ours) != len(theirs):
        sys.exit(f"{len(ours)} directions here, {len(theirs)} in the records")
    compared = 0

    def near(value, reading, what):
        nonlocal compared
        slack = max(reading["hi"] - reading["lo"], reading["hi"] * 0.01, 1)
        if not reading["lo"] - slack <= value <= reading["hi"] + slack:
            sys.exit(f"{what}: {value} here, {reading['lo']} to {reading['hi']} in the record")
        compared += 1

    for row, record in zip(ours, theirs):
        measured = record["measurement"]
        if row["direction"] != record["direction"]:
            sys.exit(f"{row['direction']} here, {record['direction']} in the record")
        for name in ("iops", "bytes_per_sec", "bytes", "runtime_ns"):
            near(row[name], measured[name], name)
        for kind in ("slat", "clat", "lat"):
            latency = measured.get(kind + "_ns", {})
            for end in ("min", "max", "mean", "stddev"):
                if end in row.get(kind, {}):
                    near(row[kind][end], latency[end], f"{kind} {end}")
            for (p, value), reading in zip(row.get(kind, {}).get("percentiles", []), latency.get("percentiles", [])):
                if p != reading["p"]:
                    sys.exit(f"{kind}: p{p} here, p{reading['p']} in the record")
                near(value, reading, f"{kind} p{p}")
    print(f"{compared} figures of {len(ours)} directions agree")


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("text", "json", "check"):
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="utf-8", errors="replace") as file:
        text = file.read()
    if sys.argv[1] == "check":
        with open(sys.argv[3], encoding="utf-8") as records:
            return check(text, records)
    start = time.process_time()
    rows = (read_text if sys.argv[1] == "text" else read_json)(text)
    seconds = time.process_time() - start
    print(f"python {sys.argv[1]}: {len(rows)} directions, {len(text) / 1e6 / seconds:.1f} MB/s")


main()
