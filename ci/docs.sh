#!/usr/bin/env bash
# The documentation builds without a warning, and has the words that people search for.
#   ci/docs.sh         of the workspace
#   ci/docs.sh forms   as docs.rs builds it, and without features: no link leads to an item of a feature
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
export RUSTDOCFLAGS="-D warnings"
if [ "${1:-}" = forms ]; then
    published=(-pfurcate -pfurcate-{adaptors,schedulers,pool,trace,derive,rayon,sim})
    cargo doc "${published[@]}" -p furcate-cluster --no-default-features --no-deps --locked --target-dir "$target/doc-no-features"
    export RUSTC_BOOTSTRAP=1 RUSTDOCFLAGS="-D warnings --cfg docsrs"
    cargo doc "${published[@]}" --all-features --no-deps --locked --target-dir "$target/docs-rs"
    cargo doc -p furcate-cluster --no-deps --locked --target-dir "$target/docs-rs" # docs.rs has no MPI library
    exit
fi
cargo doc --workspace --no-deps --locked
# The words of futures and tokio find our methods in the search.
for word in buffered buffer_unordered for_each_concurrent join_all spawn_blocking Semaphore; do
    grep -rqF -- "$word" "$target/doc"/search* || {
        echo "ci/docs.sh: a search for \`$word\` finds none of our methods; give the method that does its work the alias again" >&2
        exit 1
    }
done
