#!/usr/bin/env bash
# The pool's tests, and those of detached computations on it, under ThreadSanitizer, which the nightly toolchain has.
#
# It knows no stand-alone fences, so of the deque it sees too little synchronization where a fence does the work, never
# too much; and it does not instrument the standard library: what that is reported for is named in tsan.supp.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo +nightly --version >/dev/null || { echo "ci/tsan.sh needs a nightly toolchain: rustup toolchain install nightly" >&2; exit 1; }
target=x86_64-unknown-linux-gnu
# Forks in the form of optimized builds: see `fork` in `pool/src/api/join.rs`.
export RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer --cfg furcate_inline_forks"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/tsan"
export TSAN_OPTIONS="suppressions=$PWD/ci/tsan.supp halt_on_error=0"
# (Tests that use up a small stack use it up sooner here; the sanitizer does not follow a fork, and ends a forked child that starts threads.)
# Three tests run short calls in large numbers. On a busy machine each call waits for its turn at a processor here, because the sanitizer makes
# the looks between two calls so long that they yield: 3 to 6 ms for each.
cargo +nightly test --no-fail-fast -p furcate-pool --lib --tests --target "$target" --locked -- \
    --skip a_hundred_thousand_single_posts --skip short_calls_in_a_row_wake_nobody --skip another_thread_drives_while_the_driver_is_in_a_long_job \
    --skip stack --skip deep --skip a_forked_child_says_so --skip a_forked_child_leaves_busy_pools_to_the_parent \
    --skip a_thousand_pools_leave_nothing_behind "$@"
cargo +nightly test --no-fail-fast -p furcate-schedulers --test all --target "$target" --locked -- detached::
