#!/usr/bin/env bash
set -euo pipefail
# The pictures are the ones that the script draws. (The test `division_trees` checks the trees that they show.)
book/pictures.py --check
# The table of rayon's items.
ci/surface.py --check
# As docs.rs does: with the features that an item needs beside it.
RUSTC_BOOTSTRAP=1 RUSTDOCFLAGS="-D warnings --cfg docsrs" cargo doc -p furcate -p furcate-adaptors -p furcate-schedulers -p furcate-pool --all-features --no-deps --locked --target-dir "${CARGO_TARGET_DIR:-target}/docs-rs"
export RUSTDOCFLAGS="-D warnings"
cargo doc --workspace --no-deps --locked
# Without features: no link leads to an item of a feature.
cargo doc -p furcate-schedulers -p furcate-adaptors -p furcate --no-default-features --no-deps --locked --target-dir "${CARGO_TARGET_DIR:-target}/doc-no-features"

# The words of futures and tokio find our methods in the search.
doc=${CARGO_TARGET_DIR:-target}/doc
for word in buffered buffer_unordered for_each_concurrent join_all spawn_blocking Semaphore; do
    grep -rqF -- "$word" "$doc"/search* || {
        echo "ci/docs.sh: a search for \`$word\` finds none of our methods; give the method that does its work the alias again" >&2
        exit 1
    }
done
