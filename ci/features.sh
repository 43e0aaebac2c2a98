#!/usr/bin/env bash
# The crates build with no feature, and with each one alone.
set -euo pipefail
export RUSTFLAGS="-D warnings"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/features"
for features in "" rayon derive tokio stream indicatif; do
    cargo check -p furcate --no-default-features --features "$features" --locked --lib --examples
done
