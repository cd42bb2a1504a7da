#!/usr/bin/env bash
# Fuzzes every target for SECONDS, JOBS of them at a time (all by default), and prints what came of it.
# Usage: run.sh SECONDS [TARGET…]; folders in CORPORA (split at blanks) give more seeds. Exit 1 if anything was found.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:?expected how many seconds to fuzz each target}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(parse jsonl command job_file)
jobs=${JOBS:-${#targets[@]}}
# sanitizer coverage is a flag of nightly compilers, which a stable one takes with this
export RUSTC_BOOTSTRAP=1
# shellcheck disable=SC2086
bash seed.sh ${CORPORA:-}
# no code of this crate is unsafe, so address checks would find nothing and cost most of the speed
cargo fuzz build --fuzz-dir . --sanitizer none
one() {
    # the limit holds for one input; the target itself needs far less
    cargo fuzz run --fuzz-dir . --sanitizer none "$1" -- -max_total_time="$2" -max_len=65536 -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -verbosity=1 >"log.$1" 2>&1
}
export -f one
status=0
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c "one {} $seconds" || status=1
printf '%-9s %10s %9s %9s %10s %9s  %s\n' target execs exec/s cover features corpus found
for target in "${targets[@]}"; do
    last=$(grep -aE '^#[0-9]+.*cov: ' "log.$target" | tail -1 || true)
    field() { sed -nE "s|.*$1: ([0-9]+).*|\1|p" <<<"$last"; }
    execs=$(sed -nE 's/^#([0-9]+).*/\1/p' <<<"$last")
    found=$(grep -aE 'SUMMARY|panicked at' "log.$target" | head -1 || true)
    printf '%-9s %10s %9s %9s %10s %9s  %s\n' "$target" "${execs:--}" "$(field exec/s)" "$(field cov)" "$(field ft)" \
        "$(find "corpus/$target" -type f | wc -l)" "${found:-nothing}"
done
exit $status
