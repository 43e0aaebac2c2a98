#!/usr/bin/env bash
# The tests of everything unsafe under AddressSanitizer, which the nightly toolchain has.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo +nightly --version >/dev/null || { echo "ci/asan.sh needs a nightly toolchain: rustup toolchain install nightly" >&2; exit 1; }
target=x86_64-unknown-linux-gnu
# Forks in the form of optimized builds: see `fork` in `pool/src/api/join.rs`.
export RUSTFLAGS="-Zsanitizer=address --cfg furcate_inline_forks"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/asan"
# Leaks are not looked for: some tests forget values on purpose, and pools are leaked to live as long as the process.
export ASAN_OPTIONS=detect_leaks=0
# Not the tests of small stacks and of memory at rest: the sanitizer needs more of both.
cargo +nightly test -p furcate-pool --lib --tests --target "$target" --locked -- \
    --skip stack --skip a_thousand_pools_leave_nothing_behind
cargo +nightly test -p furcate-adaptors --lib --target "$target" --locked
cargo +nightly test -p furcate-adaptors --test all --target "$target" --locked -- \
    drops:: drain:: collect:: slices::
