#!/usr/bin/env bash
# The README's way to furcate, as a stranger goes it: a clean clone, a new package beside it, the README's dependency
# lines, and every Rust block of the README as a program of that package.
set -euo pipefail
cd "$(dirname "$0")/.."
repository=$PWD
target=${CARGO_TARGET_DIR:-$repository/target}/install
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone --quiet "$repository" "$folder/furcate"
# What is not committed yet is to be tested too.
git diff HEAD --binary | git -C "$folder/furcate" apply --allow-empty
readme=$folder/furcate/README.md

# The dependency lines of the README.
path_line=$(grep -x 'furcate = { path = "../furcate" }' "$readme") || {
    echo 'ci/install-as-user.sh: the README has no line `furcate = { path = "../furcate" }`' >&2
    exit 1
}
async_io_line=$(grep -m1 -E '^async-io = ' "$readme") || {
    echo 'ci/install-as-user.sh: the README does not name the dependency `async-io` that its example of waiting needs' >&2
    exit 1
}
tokio_line=$(grep -m1 -E '^tokio = ' "$readme") || {
    echo 'ci/install-as-user.sh: the README does not name the dependency `tokio` that its example with tokio needs' >&2
    exit 1
}
if grep -E '^furcate = "' "$readme"; then
    echo "ci/install-as-user.sh: the README names a version that is not published" >&2
    exit 1
fi

# A package with the README's Rust blocks: `main` for the first one, `block-N` for the others. Those that are not to be run
# need a feature, and wait for the second package.
package=$folder/hello
cargo new --quiet --vcs none "$package"
awk -v folder="$package/src" '
    /^```rust(,no_run)?$/ {
        inside = 1
        if (!blocks++) { name = folder "/main.rs" }
        else if (/no_run/) { name = folder "/no_run/block-" blocks ".rs" }
        else { name = folder "/bin/block-" blocks ".rs" }
        print "fn main() {" > name
        next
    }
    /^```$/ && inside { inside = 0; print "}" >> name; close(name); next }
    inside { print >> name }
    END { print blocks " Rust blocks in the README" }
' <(mkdir -p "$package/src/bin" "$package/src/no_run" && cat "$readme")
{ echo "$path_line"; echo "$async_io_line"; } >>"$package/Cargo.toml"
cp "$repository/Cargo.lock" "$package/" # the versions that are tested, and no look at the registry
cd "$package"
export CARGO_TARGET_DIR=$target
cargo build --quiet --offline --bins
for program in src/main.rs src/bin/*.rs; do
    name=$(basename "$program" .rs)
    [ "$name" = main ] && name=hello
    cargo run --quiet --offline --bin "$name" || {
        echo "ci/install-as-user.sh: a program of the README fails: $name" >&2
        cat "$program" >&2
        exit 1
    }
done

# The same package with the repository's address instead of a path, and each feature that the book lists.
features=$(sed -n '/^| feature /,/^$/s/^| `\([a-z_-]*\)` .*/\1/p' "$folder/furcate/book/src/install.md" | paste -sd,)
[ -n "$features" ] || {
    echo "ci/install-as-user.sh: book/src/install.md has no table of features" >&2
    exit 1
}
cat >"$folder/git.toml" <<EOF_GIT
[dependencies]
furcate = { git = "file://$folder/furcate", features = [$(sed 's/[a-z_-]*/"&"/g' <<<"$features")] }
EOF_GIT
sed -i '/^\[dependencies\]/,$d' Cargo.toml
cat "$folder/git.toml" >>Cargo.toml
{ echo "$async_io_line"; echo "$tokio_line"; } >>Cargo.toml
mv src/no_run/* src/bin/
# The clone needs its changes committed for that.
git -C "$folder/furcate" -c user.name=ci -c user.email=ci@localhost commit --quiet --all --allow-empty --message "the change"
cargo check --quiet --bins
echo "furcate works by path and by git, with the features $features"
