#!/usr/bin/env bash
# Every example runs, on small inputs.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --examples --locked
cargo run --release --locked -p furcate-demo
if cargo run --release --locked -p furcate-demo -- word; then
    echo "an argument must be an error" >&2
    exit 1
fi
cargo run --release --locked --example words
cargo run --release --locked --example words -- README.md book
cargo run --release --locked --example words -- --skewed
if cargo run --release --locked --example words -- no/such/path; then
    echo "a missing path must be an error" >&2
    exit 1
fi
cargo run --release --locked --example grep -- par_lines README.md
cargo run --release --locked --example grep -- --compare furcate README.md
cargo run --release --locked --example crawl -- 200 5
if cargo run --release --locked --example crawl -- none; then
    echo "what is no number must be an error" >&2
    exit 1
fi
cargo run --release --locked -p furcate-example-server --example server -- soak --requests 5000
cargo run --release --locked -p furcate-example-server --example server -- compare --seconds 2
if cargo run --release --locked -p furcate-example-server --example server -- soak --requests none; then
    echo "what is no number must be an error" >&2
    exit 1
fi
for example in deadline_search fannkuch find_first graph io_uring latency max_subarray merge_sort pipeline; do
    cargo run --release --locked --example "$example"
done

# Three programs under rayon and furcate, which have to print the same.
examples/ported/compare.py --rounds 1

# The trace of a program that was not changed: a file that Perfetto reads.
trace=$(mktemp -d)
FURCATE_TRACE=$trace/trace.json cargo run --release --locked --example latency
python3 - "$trace/trace.json" <<'CHECK'
import json, sys

events = json.load(open(sys.argv[1]))["traceEvents"]
depth = 0
for event in events:
    depth += {"B": 1, "E": -1}.get(event["ph"], 0)
assert depth == 0 and any(event["name"] == "leaf" for event in events), "the slices of the trace do not end"
CHECK
ci/perfetto-reads.py "$trace/trace.json"
cargo run --release --locked -p furcate-trace -- "$trace/trace.json" >"$trace/summary.txt"
grep -q "^thread" "$trace/summary.txt"
grep -q "leaf of" "$trace/trace.svg"
cargo run --release --locked -p furcate-trace --example pictures -- "$trace"
for schedule in loop adaptive size_limit; do
    cargo run --release --locked -p furcate-trace --example first_hour -- "$schedule"
done
grep -q "leaf of" "$trace/find-first.svg"
cargo run --release --locked --example words -- --skewed --files 100 --megabytes 1 --rounds 3 --compare "$trace/words.html"
grep -q "adaptive" "$trace/words.html"
rm -r "$trace"
