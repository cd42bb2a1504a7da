#!/usr/bin/env python3
"""fio-compare beside pandas and DuckDB: the same medians and ratios from the same file.

    python3 beside.py FIO_COMPARE [--records N] [--rounds N] [--folder DIR] [--parquet-records N]

Needs pandas and duckdb, best in a virtual environment. Makes records from tests/data/laptops.jsonl
(each with a run number and a rate of its own), lets all three answer the same question (median
bandwidth by test and machine, ratio to the first machine), checks that the answers agree, and
prints the medians of the times, each of a fresh process. Then ten times as many rows of Parquet, in
one file and in folders as Hive partitions them: time and memory. Run it on a quiet machine.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
FIRST = "MBP 2018"

PANDAS = """
import json, sys
import pandas as pd
frame = pd.read_json(sys.argv[1], lines=True, engine=sys.argv[2])
flat = pd.DataFrame({
    "test": [s[-1]["text"] for s in frame["section"]],
    "machine": [m["text"] for m in frame["machine"]],
    "rate": [m["bytes_per_sec"]["value"] for m in frame["measurement"]],
})
medians = flat.groupby(["test", "machine"])["rate"].median().unstack()
ratios = medians.div(medians[sys.argv[3]], axis=0)
print(json.dumps([[t, m, medians.loc[t, m], ratios.loc[t, m]] for t in medians.index for m in medians]))
"""

DUCKDB = """
import json, sys
import duckdb
columns = {
    "section": "STRUCT(text VARCHAR)[]",
    "machine": "STRUCT(text VARCHAR)",
    "measurement": "STRUCT(bytes_per_sec STRUCT(value DOUBLE))",
}
schema = "{" + ", ".join(f"{k}: '{v}'" for k, v in columns.items()) + "}"
print(json.dumps(duckdb.sql(f'''
    WITH medians AS (
        SELECT section[-1].text AS test, machine.text AS machine,
               median(measurement.bytes_per_sec.value) AS rate
        FROM read_json('{sys.argv[1]}', format = 'newline_delimited', columns = {schema})
        GROUP BY ALL)
    SELECT m.test, m.machine, m.rate, m.rate / b.rate
    FROM medians m JOIN medians b ON m.test = b.test AND b.machine = '{sys.argv[2]}'
''').fetchall()))
"""


def make(path, count):
    """Writes records; each is a template of the fixture with a rate of its own."""
    templates = []
    for line in (HERE.parent / "tests/data/laptops.jsonl").read_text().splitlines():
        record = json.loads(line)
        rate = record["measurement"]["bytes_per_sec"]
        text = json.dumps(record, separators=(",", ":"))
        old = f'"bytes_per_sec":{json.dumps(rate, separators=(",", ":"))}'
        head, tail = text.split(old, 1)
        head, mid = head.split(f'"run":{record["run"]},', 1)
        templates.append((rate["value"], head, mid, tail))
    draw = random.Random(1)
    with open(path, "w") as out:
        for run in range(1, count + 1):
            middle, head, mid, tail = templates[draw.randrange(len(templates))]
            rate = middle * draw.gauss(1, 0.05)
            figure = f'{{"value":{rate:.1f},"lo":{rate - 1000:.1f},"hi":{rate + 1000:.1f}}}'
            out.write(f'{head}"run":{run},{mid}"bytes_per_sec":{figure}{tail}\n')


def timed(command):
    """Runs a command; gives its output, seconds and the peak of its memory in MiB."""
    start = time.monotonic()
    done = subprocess.run(
        ["/usr/bin/time", "-f", "%M", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    seconds = time.monotonic() - start
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed: {done.stderr}")
    return done.stdout, seconds, int(done.stderr.split()[-1]) / 1024


def ours(text):
    cells = json.loads(text)["cells"]
    return {(c["test"], c["machine"]): (c["value"], c["ratio"]) for c in cells}


def theirs(text):
    return {(t, m): (value, ratio) for t, m, value, ratio in json.loads(text)}


def check(name, got, want):
    if got.keys() != want.keys():
        sys.exit(f"{name}: has {sorted(got)}, expected {sorted(want)}")
    for place, values in want.items():
        for a, b in zip(got[place], values):
            if abs(a / b - 1) > 1e-9:
                sys.exit(f"{name}: {place} is {a}, expected {b}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fio_compare")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--parquet-records", type=int, default=10_000_000)
    parser.add_argument("--parts", type=int, default=100, help="folders of each machine's Parquet files")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--no-pandas", action="store_true", help="time DuckDB only")
    args = parser.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="fio-compare-bench-"))
    folder.mkdir(exist_ok=True)
    lines = folder / f"{args.records}.jsonl"
    if not lines.exists():
        make(lines, args.records)
    print(f"{args.records} records, {lines.stat().st_size / 1e6:.0f} MB of JSON Lines, {args.rounds} rounds")
    contestants = {
        "fio-compare": [args.fio_compare, "-q", "--base", FIRST, "--format", "json", str(lines)],
        "DuckDB": [sys.executable, "-c", DUCKDB, str(lines), FIRST],
    }
    if not args.no_pandas:
        contestants["pandas"] = [sys.executable, "-c", PANDAS, str(lines), "ujson", FIRST]
    answers, seconds, memory = {}, {}, {}
    for _ in range(args.rounds):
        for name, command in contestants.items():
            text, took, peak = timed(command)
            answers[name] = ours(text) if name == "fio-compare" else theirs(text)
            seconds.setdefault(name, []).append(took)
            memory[name] = max(memory.get(name, 0), peak)
    for name, answer in answers.items():
        check(name, answer, answers["DuckDB"])
    mine = statistics.median(seconds["fio-compare"])
    for name, times in seconds.items():
        middle = statistics.median(times)
        print(f"  {name:12} {middle:7.2f} s  {middle / mine:5.2f}x  {memory[name]:6.0f} MiB at most")
    print("  all agree")

    flat = folder / f"{args.records}.parquet"
    if not flat.exists():
        timed([args.fio_compare, "-q", str(lines), "--export", str(flat)])
    large = folder / f"{args.parquet_records}.parquet"
    if not large.exists():
        import duckdb

        copies = args.parquet_records // args.records
        duckdb.sql(f"""
            COPY (SELECT * REPLACE (CAST(CAST(run AS BIGINT) + {args.records} * i AS VARCHAR) AS run)
                  FROM '{flat}', range({copies}) AS copies(i))
            TO '{large}' (FORMAT parquet, COMPRESSION zstd)
        """)
    print(f"{args.parquet_records} rows of Parquet, {large.stat().st_size / 1e6:.0f} MB")
    text, took, peak = timed([args.fio_compare, "-q", "--base", FIRST, "--format", "json", str(large)])
    # Every record as often as in the lines, so the medians are the same.
    check("Parquet", ours(text), answers["DuckDB"])
    print(f"  {'fio-compare':12} {took:7.2f} s         {peak:6.0f} MiB at most")

    lake = folder / f"{args.parquet_records}.lake"
    if not lake.exists():
        import duckdb

        duckdb.sql("SET threads = 1")
        duckdb.sql(f"""
            COPY (SELECT *, CAST(run AS BIGINT) % {args.parts} AS part FROM '{large}')
            TO '{lake}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (machine, part))
        """)
    files = list(lake.rglob("*.parquet"))
    print(f"the same rows in {len(files)} files below machine=.../part=...")
    text, took, peak = timed(
        [args.fio_compare, "-q", "-r", "--ignore", "folder", "--base", FIRST, "--format", "json", str(lake)]
    )
    check("lake", ours(text), answers["DuckDB"])
    print(f"  {'fio-compare':12} {took:7.2f} s         {peak:6.0f} MiB at most")


if __name__ == "__main__":
    main()
