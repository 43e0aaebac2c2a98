#!/usr/bin/env bash
# Crates of the registry that are built on rayon, with their own tests, on furcate's pool: `rayon-core/` takes the place of the
# registry's rayon-core by a patch. Then programs that use rayon and furcate together. Takes some eight minutes.
#
#   ci/rayon-on-furcate.sh                runs everything
#   QUICK=1 ci/rayon-on-furcate.sh        leaves out petgraph, jwalk and tokei, most of whose time is the build of what their tests need
#   ci/rayon-on-furcate.sh rayon tokei    runs these parts
#   RAYON_CORE=registry ci/rayon-on-furcate.sh ...   runs the crates' tests on the registry's rayon-core, to compare
#
# The number of passed tests that is required of each crate is the one on the registry's rayon-core. After a version is raised,
# `RAYON_CORE=registry ci/rayon-on-furcate.sh PART` prints that number.
set -euo pipefail
cd "$(dirname "$0")/.."
repository=$PWD
target=${CARGO_TARGET_DIR:-$repository/target}
mkdir -p "$target"
work=$(mktemp -d "$target/rayon-on-furcate.XXXXXX")
trap 'rm -rf "$work"' EXIT
export CARGO_TARGET_DIR="${RAYON_TARGET:-$work/target}"
# What the crates say about themselves is not looked at.
export RUSTFLAGS="${RUSTFLAGS:-} --cap-lints=warn -Awarnings"
export CARGO_PROFILE_TEST_DEBUG=0 CARGO_PROFILE_DEV_DEBUG=0

fail() {
    echo "ci/rayon-on-furcate.sh: $*" >&2
    exit 1
}

patch=()
if [ "${RAYON_CORE:-furcate}" = furcate ]; then
    patch=(--config "patch.crates-io.rayon-core.path = '$repository/rayon-core'")
fi

# The sources, as the registry has them.
mkdir -p "$work/sources/src"
touch "$work/sources/src/lib.rs"
cat >"$work/sources/Cargo.toml" <<'TOML'
[package]
name = "sources"
edition = "2024"
[workspace]
[dependencies]
rayon = "=1.12.0"
rayon-core = "=1.13.0"
hashbrown = "=0.17.1"
indexmap = "=2.14.2"
ndarray = "=0.17.2"
dashmap = "=6.2.1"
petgraph = "=0.8.3"
jwalk = "=0.9.0"
tokei = "=15.0.0"
TOML
cargo fetch --quiet --manifest-path "$work/sources/Cargo.toml"
registry=$(echo "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/rayon-core-1.13.0)
registry=$(dirname "${registry%% *}")

# Fails unless the project in this folder has locked furcate's rayon-core, and no other one. Cargo ignores a patch, with a mere
# warning, if it has locked an older rayon-core: because of the lock file, or because a package asks for exactly that version.
check_lock() {
    [ ${#patch[@]} = 0 ] && return
    local entries
    entries=$(grep -A2 -x 'name = "rayon-core"' Cargo.lock) || fail "$PWD does not use rayon-core"
    [ "$(grep -c '^name' <<<"$entries")" = 1 ] && ! grep -q '^source' <<<"$entries" ||
        fail "$PWD has not locked furcate's rayon-core, but: $entries"
}

# Runs the tests of the project in this folder, so many of which must pass: `tests COUNT [ARGUMENTS OF CARGO TEST]`.
tests() {
    local expected=$1 passed log="$work/log"
    shift
    if ! timeout 400 cargo test --no-fail-fast "${patch[@]}" "$@" >"$log" 2>&1; then
        grep -vE '^(test .* ok$|running|\s+(Compiling|Running|Locking|Adding|Downloaded))' "$log" | tail -n 200 >&2
        fail "tests of $PWD fail"
    fi
    check_lock
    passed=$(awk '/^test result/ { sum += $4 } END { print sum + 0 }' "$log")
    echo "$(basename "$PWD"): $passed of $expected tests pass"
    [ "$passed" = "$expected" ] || fail "$PWD: $passed tests pass, and on the registry's rayon-core $expected"
}

# The sources of a crate, in a package of its own; with rayon as the tests need it.
project() {
    cp -r "$registry/$1" "$work/$1"
    cd "$work/$1"
    chmod -R u+w .
    rm -f rust-toolchain rust-toolchain.toml
    # Benches are not run, and criterion takes longer to build than all the rest.
    awk '/^\[/ { skips = /^\[dev-dependencies.criterion/ } !skips' "$registry/$1/Cargo.toml" >Cargo.toml
    printf '\n[workspace]\n' >>Cargo.toml
    # The crate's own lock file may have an older rayon.
    for package in "rayon 1.12.0" "rayon-core 1.13.0"; do
        cargo update --quiet "${patch[@]}" "${package% *}" --precise "${package#* }" || true
    done
}

rayon() {
    project rayon-1.12.0
    tests 332 --tests
}

# Rayon-core's tests are modules of its library. Here the library re-exports the rayon-core that is tested, and has stand-ins for
# two private functions.
rayon_core() {
    local source=$registry/rayon-core-1.13.0
    mkdir -p "$work/rayon-core-tests/src"
    cd "$work/rayon-core-tests"
    cp -r "$source/tests" "$source/src/compile_fail" .
    mv compile_fail src/
    for module in broadcast join scope spawn thread_pool; do
        mkdir "src/$module"
        # Without the tests that look into private fields (`workers_stop`, `sleeper_stop`), one that says that a thread is started
        # before the next one is named (`panic_thread_name`), and those that say that a worker which waits for a scope runs other
        # scopes' jobs, too.
        without workers_stop sleeper_stop panic_thread_name \
            mixed_lifo_order mixed_fifo_order mixed_lifo_fifo_order mixed_fifo_lifo_order \
            <"$source/src/$module/test.rs" >"src/$module/test.rs"
    done
    cp "$source/src/test.rs" src/
    cat >Cargo.toml <<'TOML'
[package]
name = "rayon-core-tests"
edition = "2021"
[workspace]
[dependencies]
rayon-core = "1.13"
[dev-dependencies]
crossbeam-utils = "0.8"
libc = "0.2"
rand = "0.9"
rand_xorshift = "0.4"
scoped-tls = "1.0"
TOML
    cat >src/lib.rs <<'RUST'
pub use rayon_core::*;
mod unwind {
    pub(crate) fn halt_unwinding<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(f))
    }
}
#[cfg(test)]
mod registry {
    pub(crate) fn in_worker<R: Send>(f: impl FnOnce(&(), bool) -> R + Send) -> R {
        rayon_core::scope(|_| f(&(), false))
    }
}
macro_rules! modules {
    ($($name:ident)*) => {$(mod $name {
        #[allow(unused_imports)]
        use {crate::unwind, rayon_core::*};
        mod test;
    })*};
}
#[cfg(test)]
modules!(broadcast join scope spawn thread_pool);
mod compile_fail;
mod test;
RUST
    tests 108
}

# Prints a Rust file without the test functions of these names.
without() {
    awk -v names=" $* " '
        skipping { if (/^}/) skipping = 0; next }
        /^#\[|^\/\/\// { held = held $0 "\n"; next }
        match($0, /^fn [a-z_0-9]+/) && index(names, " " substr($0, 4, RLENGTH - 3) " ") { held = ""; skipping = 1; next }
        { printf "%s", held; held = ""; print }
    '
}

hashbrown() {
    project hashbrown-0.17.1
    tests 168 --tests --features rayon
}

indexmap() {
    project indexmap-2.14.2
    tests 194 --tests --features rayon
}

ndarray() {
    project ndarray-0.17.2
    tests 76 --tests --features rayon
}

dashmap() {
    project dashmap-6.2.1
    tests 22 --tests --features rayon
}

petgraph() {
    project petgraph-0.8.3
    tests 348 --tests --features rayon
}

jwalk() {
    project jwalk-0.9.0
    tests 52 --tests
}

tokei() {
    project tokei-15.0.0
    # Two tests read files that are not in the registry's package.
    tests 19 --tests -- --skip jupyter_notebook_has_correct_totals --skip lf_embedded_language_is_counted
}

# Rayon's iterators and furcate's chains in one program, with furcate's engine `Rayon`; and rayon-core's API.
together() {
    cd "$repository/rayon-core"
    timeout 400 cargo test --quiet --locked
    check_lock
    # The feature that the registry's package has.
    cargo check --quiet --locked --features web_spin_lock
}

# The example project.
example() {
    cd "$repository/examples/rayon-project"
    timeout 400 cargo run --quiet --locked
    check_lock
    # Rayon's forks are traced, without a change to the program.
    FURCATE_TRACE=$work/trace.json timeout 400 cargo run --quiet --locked
    grep -q '"name":"left"' "$work/trace.json"
}

# The patch by the repository's address, with the feature that puts furcate on rayon: there is no circle of packages.
by_address() {
    git clone --quiet "$repository" "$work/clone"
    # Changes that are not committed are tested, too.
    git -C "$repository" diff HEAD --binary | git -C "$work/clone" apply --allow-empty
    git -C "$work/clone" -c user.name=ci -c user.email=ci@localhost commit --quiet --all --allow-empty --message "the change"
    mkdir -p "$work/by-address/src"
    cd "$work/by-address"
    cat >Cargo.toml <<TOML
[package]
name = "by-address"
edition = "2024"
[workspace]
[dependencies]
rayon = "1.12"
furcate = { git = "file://$work/clone", features = ["rayon"] }
[patch.crates-io]
rayon-core = { git = "file://$work/clone" }
TOML
    cat >src/main.rs <<'RUST'
use furcate::prelude::*;
fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(3).build_global().unwrap();
    let threads = (0..100).into_par_iter().map(|_| rayon::current_num_threads()).on(furcate::Rayon).max();
    assert_eq!((threads, furcate::current_num_threads()), (Some(3), 3));
}
RUST
    timeout 400 cargo run --quiet
    [ "$(grep -cx 'name = "rayon-core"' Cargo.lock)" = 1 ] && grep -A2 -x 'name = "rayon-core"' Cargo.lock | grep -q '^source = "git' ||
        fail "the patch by the repository's address is not used"
}

# The check of the lock notices a patch that cargo ignores.
ignored_patch() {
    mkdir -p "$work/ignored-patch/src"
    cd "$work/ignored-patch"
    touch src/lib.rs
    printf '[package]\nname = "ignored-patch"\n[workspace]\n[dependencies]\nrayon-core = "=1.12.1"\n' >Cargo.toml
    cargo generate-lockfile --quiet "${patch[@]}" 2>/dev/null
    if (check_lock) 2>/dev/null; then
        fail "a project with rayon-core 1.12 ignores the patch, and check_lock does not notice"
    fi
}

parts=("$@")
if [ ${#parts[@]} = 0 ]; then
    parts=(ignored_patch together example by_address rayon_core rayon hashbrown indexmap ndarray dashmap)
    [ -n "${QUICK:-}" ] || parts+=(petgraph jwalk tokei)
fi
for part in "${parts[@]}"; do
    TIMEFORMAT="$part: %0R s, %0U s of processor time"
    # In a process of its own: the part ends at the first command that fails.
    time {
        "$part" &
        wait $!
    }
done
