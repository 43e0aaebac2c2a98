#!/usr/bin/env bash
# No change of the public API that Semantic Versioning forbids goes unseen: cargo-semver-checks compares the crates with the last release,
# a tag v*. A commit that breaks the API on purpose says so in the changelog. Before the first release, whose changelog lists no changes, the
# script compares with the commit in `ci/semver-baseline`, and such a commit names itself there.
# It is no step of `ci/full.sh`, because it builds cargo-semver-checks, which takes minutes. Run it before a release, and after a change of the API.
set -euo pipefail
cd "$(dirname "$0")/.."

tools="$PWD/target/tools"
if ! "$tools/bin/cargo-semver-checks" semver-checks --version >/dev/null 2>&1 &&
    ! cargo install --quiet cargo-semver-checks --version 0.51.0 --locked --root "$tools"; then
    echo "semver.sh: NOT CHECKED: cargo-semver-checks cannot be installed here" >&2
    exit 0
fi
baseline=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || cat ci/semver-baseline)
if ! git cat-file -e "$baseline^{commit}" 2>/dev/null; then
    echo "semver.sh: NOT CHECKED: this clone does not have $baseline" >&2
    exit 0
fi
crates=(furcate-trace furcate-pool furcate-schedulers furcate-adaptors furcate)
"$tools/bin/cargo-semver-checks" semver-checks --baseline-rev "$baseline" "${crates[@]/#/--package=}"
