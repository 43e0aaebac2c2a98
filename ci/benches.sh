#!/usr/bin/env bash
# The benches build. Those that hold contenders' results against each other run on small sizes, and so do those of single
# operations; run all with `cargo bench -p furcate-benches`. The programs written for rayon agree with their oracles, on rayon-core and on furcate's pool.
set -euo pipefail
cd "$(dirname "$0")/.."
# Not to measure: built in a tenth of the time that link-time optimization takes.
export CARGO_PROFILE_BENCH_LTO=off CARGO_PROFILE_BENCH_CODEGEN_UNITS=16
cargo bench -p furcate-benches --no-run --locked
for bench in fork_join searches sums fannkuch recpfor merge_sorts latency operations oversubscribed priorities; do
    QUICK=1 cargo bench -p furcate-benches --bench "$bench" --locked
done
# The harness: a short run of one family, and its report against itself.
results=$(mktemp -d)
bench() { cargo run --release --locked -p furcate-benches --bin furcate-bench -- "$@"; }
bench list
bench run --quick small-calls --results "$results/results.json"
bench report --results "$results/results.json" --against "$results/results.json" --svg "$results" | grep "^0 rows changed"
test -s "$results/small-calls-1.svg"
# A figure of each kind: over threads, and over a quantity.
bench papers --quick --folder "$results" kvik lace-figure prows-figure-5-5 prows-figure-5-4--1-ms
test -s "$results/kvik-figure-7.svg"
# The charts of simulated runs.
printf '%s\n' 'program,workers,TP us,efficiency,begun,lines us,locks us' '"server",2,50.0,0.9,2,1.0,0.5' | bench many-cores --out "$results"
test -s "$results/simulated-server.svg"
rm -r "$results"
QUICK=1 benches/rayon-programs.sh
# The programs of `benches/forms.sh`, without its instruments.
CARGO_INCREMENTAL=0 cargo check --quiet --locked --manifest-path benches/forms/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}/forms"
# The chains of `benches/build-cost.sh` build with both libraries.
for library in rayon furcate; do
    cargo check --quiet --locked --manifest-path benches/build-cost/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}" \
        --features "with-$library,more"
done
