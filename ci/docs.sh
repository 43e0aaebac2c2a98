#!/usr/bin/env bash
set -euo pipefail
export RUSTDOCFLAGS="-D warnings"
cargo doc --workspace --no-deps --locked
