#!/usr/bin/env bash
# The benches build; run them with `cargo bench -p furcate-benches`.
set -euo pipefail
cargo bench -p furcate-benches --no-run --locked
