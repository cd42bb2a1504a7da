#!/usr/bin/env bash
# The binary against a Python reader on the same texts, made of the fixtures: MB/s of each, and their ratio.
# Usage: side_by_side.sh [MEGABYTES]; builds the release binary first. Times are processor time on one core.
set -euo pipefail
cd "$(dirname "$0")/../.."
megabytes=${1:-30}
cargo build --release -p fio-parse --quiet
binary=${CARGO_TARGET_DIR:-target}/release/fio-parse
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fill() { # FILE PATTERN: the fixtures of fio 3 that fit, over and over
    local once="$scratch/once"
    for run in fixtures/runs/*-3.*; do
        case $run in *status* | *unified* | *kb-base* | *-json | *logs-*) continue ;; esac
        [ -f "$run/$2" ] && cat "$run/$2"
    done >"$once"
    local size times
    size=$(stat -c %s "$once")
    times=$((megabytes * 1000000 / size + 1))
    for _ in $(seq "$times"); do cat "$once"; done >"$1"
}
fill "$scratch/a.txt" normal.txt
fill "$scratch/a.json" fio.json
seconds() { # processor time of a command in seconds
    local times
    times=$({ TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>&1; } 2>&1) || return 1
    awk '{ print $1 + $2 }' <<<"$times"
}
for form in text json; do
    file=$scratch/a.${form/text/txt}
    size=$(stat -c %s "$file")
    python=$(seconds python3 fio-parse/benches/python_reader.py "$form" "$file")
    ours=$(seconds "$binary" -q "$file")
    awk -v form="$form" -v size="$size" -v python="$python" -v ours="$ours" 'BEGIN {
        printf "%-5s python %6.1f MB/s   fio-parse, file to JSON Lines %6.1f MB/s   ratio %.1f\n",
            form, size / 1e6 / python, size / 1e6 / ours, python / ours }'
done
for form in text json; do
    # whole files of the fixtures, so that nothing is cut
    part=$scratch/part.${form/text/txt}
    for run in fixtures/runs/*-3.*; do
        case $run in *status* | *unified* | *kb-base* | *-json | *logs-*) continue ;; esac
        file=$run/$([ "$form" = text ] && echo normal.txt || echo fio.json)
        [ -f "$file" ] && cat "$file"
    done >"$part"
    "$binary" -q "$part" >"$scratch/part.jsonl"
    python3 fio-parse/benches/python_reader.py check "$form" "$part" "$scratch/part.jsonl"
done
