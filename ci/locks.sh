#!/usr/bin/env bash
# Every lock file is up to date: that of the workspace, and those of the packages outside it.
set -euo pipefail
cd "$(dirname "$0")/.."
for lock in Cargo.lock $(git ls-files '*/Cargo.lock'); do
    manifest=$(dirname "$lock")/Cargo.toml
    cargo metadata --quiet --locked --format-version 1 --manifest-path "$manifest" >/dev/null || {
        echo "ci/locks.sh: $lock is stale; run: cargo update --workspace --manifest-path $manifest" >&2
        exit 1
    }
done
