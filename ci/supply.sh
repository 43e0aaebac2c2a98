#!/usr/bin/env bash
# Checks whose tools a machine may lack. A check that cannot run is named as not checked.
#   ci/supply.sh deny               licenses, bans, sources and advisories of all dependencies, as `deny.toml` says: needs cargo-deny
#   ci/supply.sh minimal-versions   the published crates compile with the least versions that they name: needs nightly, and the registry
#   ci/supply.sh miri               tests of small unsafe modules under Miri: needs nightly with the component miri
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")

not_checked() { echo "supply.sh: NOT CHECKED: $*" >&2; }

deny() {
    if ! cargo deny --version >/dev/null 2>&1; then
        not_checked "dependencies; to install the tool: cargo install cargo-deny --locked"
        return
    fi
    cargo deny check licenses bans sources
    # The advisories are a git repository, which a machine with the registry alone cannot fetch.
    if cargo deny fetch db; then
        cargo deny check advisories
    else
        not_checked "advisories: their database cannot be fetched here"
    fi
}

minimal_versions() {
    if ! cargo +nightly --version >/dev/null 2>&1; then
        not_checked "minimal versions; to install nightly: rustup toolchain install nightly"
        return
    fi
    # In a copy without what users do not build: unpublished packages and development dependencies. Least versions of direct dependencies only,
    # because other crates often name versions that are too low for themselves.
    local published=(adaptors cluster derive pool rayon-engine schedulers sim trace) manifest
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --no-dereference -t "$folder"
    cd "$folder"
    for manifest in Cargo.toml "${published[@]/%//Cargo.toml}"; do
        awk '/^\[/ { development = /dev-dependencies\]$/ } !development' "$manifest" >kept
        mv kept "$manifest"
    done
    sed -i "/^default-members/d; s/^members = .*/members = [$(printf '"%s", ' "${published[@]}")]/" Cargo.toml
    # The simulator's corosensei asks for a later libc than the pool, which `ci/rayon-on-furcate.sh` builds with an early one.
    sed -i 's/^libc = .*/libc = "0.2.159"/' Cargo.toml
    cargo +nightly update --quiet -Z direct-minimal-versions
    export CARGO_TARGET_DIR=$target/minimal-versions
    # Not the cluster's feature `mpi`, which needs the C library.
    cargo check --locked --all-features -p furcate -p furcate-derive -p furcate-rayon -p furcate-trace -p furcate-sim
    cargo check --locked -p furcate-cluster
}

miri() {
    if ! cargo +nightly miri --version >/dev/null 2>&1; then
        not_checked "Miri; to install it: rustup toolchain install nightly --component miri"
        return
    fi
    # Tree borrows, and leaks, for crossbeam-epoch, which keeps garbage until the process ends.
    export MIRIFLAGS="-Zmiri-tree-borrows -Zmiri-disable-isolation -Zmiri-ignore-leaks" CARGO_TARGET_DIR=$target/miri
    # Only tests without a pool, whose threads ask the system for clocks that Miri does not have; and none that takes minutes there.
    cargo +nightly miri test --locked -p furcate-pool --lib -- \
        deque::tests:: detach::one_shot:: engine::job:: sync::task_state:: trace::ring::tests::the_last_events \
        --skip stress --skip oracle
    cargo +nightly miri test --locked -p furcate-adaptors --lib -- slice::part:: slice::sort::run::
}

case ${1:-} in
    deny) deny ;;
    minimal-versions) minimal_versions ;;
    miri) miri ;;
    *) echo "ci/supply.sh: which check? deny, minimal-versions or miri" >&2 && exit 2 ;;
esac
