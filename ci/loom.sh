#!/usr/bin/env bash
# Loom models: checks of the lock-free parts under every interleaving loom knows, or every one with few preemptions.
# Each model prints how many that were.
#   ci/loom.sh         all models
#   ci/loom.sh short   those that take less than some seconds
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTFLAGS="--cfg loom"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
for package in furcate-pool furcate-schedulers furcate-cluster; do
    cargo test -p "$package" --lib --release --locked -- models --nocapture
done
