#!/usr/bin/env bash
# A program whose panics abort works too: nothing depends on unwinding but the panics themselves.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/abort"
profile='profile.release.panic="abort"'
cargo run --release --config "$profile" --locked -p furcate-examples --example max_subarray
# A panic ends the process, by SIGABRT.
status=0
cargo run --release --config "$profile" --locked -p furcate-pool --example panics || status=$?
if [ "$status" != 134 ]; then
    echo "a panic in a join must abort the process, but it ended with status $status" >&2
    exit 1
fi
