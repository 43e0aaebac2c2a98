#!/usr/bin/env bash
# The tests of the iterators and schedulers on rayon's engine, instead of furcate's own pool.
set -euo pipefail
export RUSTFLAGS="--cfg furcate_rayon"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/rayon"
cargo test -p furcate -p furcate-schedulers -p furcate-adaptors -p furcate-compat --features furcate/rayon --tests --locked
rm -rf "$CARGO_TARGET_DIR" # gigabytes of test binaries that no other step uses
