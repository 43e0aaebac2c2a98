#!/usr/bin/env bash
# The library builds with no feature, and with each one alone that a user would name; without `tokio` a panic of tokio's says what to do.
set -euo pipefail
cd "$(dirname "$0")/.."
for features in "" rayon derive tokio stream jobserver indicatif tracing; do
    cargo clippy --quiet -p furcate --no-default-features --features "$features" --lib --locked -- -D warnings
    echo "ok: ${features:-no feature}"
done
cargo clippy --quiet -p furcate-trace --no-default-features --lib --locked -- -D warnings
echo "ok: furcate-trace without pictures"
cargo test -p furcate --test no_reactor --locked
