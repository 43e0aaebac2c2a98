#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "$0")/.."
cargo fmt --all --check
# Packages of their own.
for package in rayon-core examples/rayon-project examples/ported tests/wasm benches/rayon-programs benches/build-cost benches/forms; do
    cargo fmt --manifest-path "$package/Cargo.toml" --check
done
