#!/usr/bin/env bash
# The tests of the schedulers, and the combinations of everything with everything, on rayon's engine instead of furcate's own pool.
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTFLAGS="--cfg furcate_rayon"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/rayon"
cargo test -p furcate-tests -p furcate-schedulers --lib --tests --locked
