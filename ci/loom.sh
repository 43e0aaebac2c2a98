#!/usr/bin/env bash
# All loom models: checks of the lock-free parts under every interleaving loom knows, or every one with few preemptions.
# Each model prints how many that were.
set -euo pipefail
export RUSTFLAGS="--cfg loom"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
for package in furcate-pool furcate-schedulers furcate-cluster; do
    cargo test -p "$package" --lib --release --locked -- models --nocapture
done
