#!/usr/bin/env bash
# The benches build, and the fork-join programs run and give right results; run them with
# `cargo bench -p furcate-benches`.
set -euo pipefail
cargo bench -p furcate-benches --no-run --locked
QUICK=1 cargo bench -p furcate-benches --bench fork_join --locked
