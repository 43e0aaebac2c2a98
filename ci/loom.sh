#!/usr/bin/env bash
# All loom models: exhaustive checks of the lock-free parts under every interleaving loom knows.
set -euo pipefail
export RUSTFLAGS="--cfg loom"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
cargo test -p furcate-pool -p furcate-schedulers --lib --release --locked -- models --nocapture
