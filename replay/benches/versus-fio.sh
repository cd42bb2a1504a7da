#!/bin/sh
# fio against fio-replay, run by run in turns on the same file or device: paired ratios with their medians.
#
#   replay/benches/versus-fio.sh [OPTIONS] [CASE...]       all cases without one; --list shows them
#
# Needs fio and python3 (and dd for the cases of dd). Options are those of versus_fio.py beside it, among them
# --dir DIR (test files, on the file system to be measured), --device DEV (a block device bound by the CPU, such as
# zram; only read), --pairs N, --seconds S and --as-fio.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
cargo build --quiet --release -p replay
exec python3 "$here/versus_fio.py" --replay "${CARGO_TARGET_DIR:-target}/release/fio-replay" "$@"
