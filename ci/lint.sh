#!/usr/bin/env bash
set -euo pipefail
cargo clippy --workspace --all-targets --locked -- -D warnings
# Packages of their own.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
for package in rayon-core examples/rayon-project examples/ported benches/rayon-programs; do
    cargo clippy --manifest-path "$package/Cargo.toml" --all-targets --locked -- -D warnings
done
