#!/usr/bin/env bash
# The least version of Rust, and other targets: the library compiles for them, and runs on one without threads.
#
# A toolchain that rustup cannot install here is named as not checked, because machines without a network run this script too.
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTFLAGS="-D warnings"
export CARGO_TARGET_DIR="$PWD/target/targets"

not_checked() { echo "targets.sh: NOT CHECKED: $*" >&2; }

least=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if rustup toolchain install "$least" --profile minimal >/dev/null 2>&1; then
    # The libraries only: what the tests depend on may need a later version. Another version has other lints.
    RUSTFLAGS="--cap-lints allow" cargo "+$least" check --locked -p furcate --all-features
    RUSTFLAGS="--cap-lints allow" cargo "+$least" check --locked -p furcate-cluster
    RUSTFLAGS="--cap-lints allow" cargo "+$least" check --locked -p furcate-sim
    echo "ok: Rust $least"
else
    not_checked "Rust $least"
fi

for target in i686-unknown-linux-gnu aarch64-apple-darwin x86_64-pc-windows-msvc wasm32-unknown-unknown; do
    if rustup target add "$target" >/dev/null 2>&1; then
        cargo check --locked -p furcate --target "$target"
        if [[ $target == *-darwin || $target == *-windows-* ]]; then cargo check --locked -p furcate-sim --target "$target"; fi
        echo "ok: $target compiles"
    else
        not_checked "$target"
    fi
done

if rustup target list --installed | grep -q wasm32-unknown-unknown; then
    if ! command -v node >/dev/null; then
        sudo=$([[ $EUID -eq 0 ]] || echo sudo)
        $sudo apt-get update -qq
        $sudo apt-get install -qq -y --no-install-recommends nodejs >/dev/null
    fi
    cargo build --quiet --release --manifest-path tests/wasm/Cargo.toml --target wasm32-unknown-unknown
    node tests/wasm/run.mjs "$CARGO_TARGET_DIR/wasm32-unknown-unknown/release/furcate_wasm_test.wasm"
fi
