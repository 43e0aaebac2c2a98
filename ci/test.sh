#!/usr/bin/env bash
# The README's test command; then the tests of what debug builds compile differently from optimized ones.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --workspace
ci/inline-forks.sh
