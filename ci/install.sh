#!/usr/bin/env bash
# What the other steps need beyond cargo itself.
set -euo pipefail
rustup component add rustfmt clippy >/dev/null 2>&1 || { cargo fmt --version && cargo clippy --version; }
