"""Reads a file with DuckDB and prints its rows: python3 duckdb_rows.py FILE; the ending tells the format."""

import json
import sys

import duckdb

path = sys.argv[1]
if path.endswith("csv"):
    # nothing is guessed: texts as they stand
    rows = duckdb.read_csv(path, all_varchar=True, header=True)
elif path.endswith("tsv"):
    rows = duckdb.read_csv(path, all_varchar=True, header=True, delimiter="\t", quotechar="")
elif path.endswith("jsonl"):
    rows = duckdb.read_json(path, format="newline_delimited", sample_size=-1)
elif path.endswith("parquet"):
    rows = duckdb.read_parquet(path)
else:
    sys.exit(f"no reader for {path}")
names = rows.columns
for row in rows.fetchall():
    print(json.dumps(dict(zip(names, row))))
