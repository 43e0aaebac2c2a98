#!/usr/bin/env bash
set -euo pipefail
cargo fmt --all --check
# Packages of their own.
for package in rayon-core examples/rayon-project benches/rayon-programs benches/build-cost; do
    cargo fmt --manifest-path "$package/Cargo.toml" --check
done
