#!/usr/bin/env bash
# The benches build. Those that hold contenders' results against each other run on small sizes, and so do those of single
# operations; run all with `cargo bench -p furcate-benches`. The programs written for rayon agree with their oracles, on rayon-core and on furcate's pool.
set -euo pipefail
cargo bench -p furcate-benches --no-run --locked
for bench in fork_join searches sums fannkuch recpfor latency operations; do
    QUICK=1 cargo bench -p furcate-benches --bench "$bench" --locked
done
QUICK=1 benches/rayon-programs.sh
# The programs of `benches/forms.sh`, without its instruments.
CARGO_INCREMENTAL=0 cargo check --quiet --locked --manifest-path benches/forms/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}/forms"
# The chains of `benches/build-cost.sh` build with both libraries.
for library in rayon furcate; do
    cargo check --quiet --locked --manifest-path benches/build-cost/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}" \
        --features "with-$library,more"
done
