#!/usr/bin/env bash
# Fills corpus/ from the committed fixtures and seeds, and from folders of logs named as arguments.
# Nothing in them is run: files are copied, and lines that name fio or dd are cut out as they stand.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p corpus/{parse,jsonl,command,job_file}
for target in parse jsonl command job_file; do
    [ -d "seeds/$target" ] && cp -r "seeds/$target/." "corpus/$target/"
done
name() { sha1sum <"$1" | cut -c1-40; }
find ../../fixtures "$@" -type f -size -64k | while IFS= read -r file; do
    hash=$(name "$file")
    case $file in
        *.jsonl) cp "$file" "corpus/jsonl/$hash" ;;
        *.toml | *.md | *.tsv | *.stderr) ;;
        *.fio) cp "$file" "corpus/job_file/$hash"; cp "$file" "corpus/parse/$hash" ;;
        *) cp "$file" "corpus/parse/$hash" ;;
    esac
done
# each command with the two lines behind it, as it may go on there
{ grep -rhaE -A2 '(^|[^a-z])(fio .*-|dd .*=)' --include='*.txt' --include='*.md' --include='*.sh' ../../fixtures "$@" || true; } |
    awk 'BEGIN { RS = "--\n" } length($0) < 4000 { file = sprintf("corpus/command/line-%05d", ++n); printf "%s", $0 > file; close(file) }'
for target in parse jsonl command job_file; do printf '%s: %s inputs\n' "$target" "$(find "corpus/$target" -type f | wc -l)"; done
