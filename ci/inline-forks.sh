#!/usr/bin/env bash
# The tests of the pool and of the schedulers with forks in the form of optimized builds. (A debug build compiles one fork for all
# closures: see `fork` in `pool/src/api/join.rs`.)
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTFLAGS="--cfg furcate_inline_forks"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/inline-forks"
cargo test -p furcate-pool -p furcate-schedulers --lib --tests --locked
