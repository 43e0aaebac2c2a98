#!/usr/bin/env bash
# Lints of the packages outside the workspace. (The gate lints the workspace.)
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
for package in rayon-core examples/rayon-project examples/ported benches/rayon-programs; do
    cargo clippy --manifest-path "$package/Cargo.toml" --all-targets --locked -- -D warnings
done
