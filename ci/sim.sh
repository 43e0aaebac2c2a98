#!/usr/bin/env bash
# The pool on virtual threads: random programs under schedules of their own, the book's chapter, simulated ranks with faults, and
# lints of what only a simulation compiles.
#   ci/sim.sh         a million schedules, and 10,000 runs of ranks with faults: some ten minutes
#   ci/sim.sh short   10,000, and 300
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTFLAGS="--cfg furcate_sim" RUSTDOCFLAGS="--cfg furcate_sim"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/sim"
export SCHEDULES=1000000
if [ "${1:-}" = short ]; then export SCHEDULES=10000; fi
cargo clippy --quiet -p furcate-pool -p furcate-schedulers -p furcate-adaptors --features furcate-pool/sim --lib --release --locked -- -D warnings
cargo clippy --quiet -p furcate-sim --all-targets --release --locked -- -D warnings
cargo clippy --quiet -p furcate-cluster --lib --test simulated --example ranks --release --locked -- -D warnings
cargo test --release -p furcate-sim --locked
cargo test --release -p furcate-cluster --test simulated --locked
if [ "${1:-}" != short ]; then cargo run --release -p furcate-cluster --example ranks --locked -- faults 10000; fi
