#!/usr/bin/env bash
# The specification of the pool's sleep protocol (`spec/`): a model checker visits every state of small pools. Prints how many those are.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo clippy --quiet -p furcate-spec --all-targets --release --locked -- -D warnings
cargo test -p furcate-spec --release --locked -- --nocapture --test-threads 1
