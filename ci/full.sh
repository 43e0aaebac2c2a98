#!/usr/bin/env bash
# Everything: the gate, and the steps that take too long for it.
#   ci/full.sh                  all steps (some 50 minutes on two cores)
#   ci/full.sh --since COMMIT   without the steps that the folders changed since COMMIT cannot touch
#   ci/full.sh STEP ...         these steps
cd "$(dirname "$0")/.."
source ci/step.sh
export CARGO_INCREMENTAL=0

library="trace pool schedulers adaptors derive src"
# A step in each line: its name, its command, and the folders that it tests. Changes of these, of ci/, .ci/, or of the workspace's Cargo files
# run it.
steps="
gate             | .ci/run                   | *
lint-outside     | ci/lint.sh                | $library rayon-engine rayon-core examples benches
book             | ci/book.sh                | book README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md benches/README.md examples/README.md
docs-forms       | ci/docs.sh forms          | $library rayon-engine cluster sim book README.md
abort            | ci/abort.sh               | $library examples
rayon            | ci/rayon.sh               | $library rayon-engine testkit tests examples
rayon-tests      | ci/rayon-tests.py         | $library rayon-engine
rayon-on-furcate | ci/rayon-on-furcate.sh    | trace pool src schedulers adaptors rayon-core rayon-engine examples
renamed          | ci/renamed.py             | $library
loom             | ci/loom.sh                | trace pool schedulers cluster testkit
sim              | ci/sim.sh                 | trace pool schedulers adaptors cluster sim book
spec             | ci/spec.sh                | pool spec
targets          | ci/targets.sh             | $library rayon-core rayon-engine cluster sim tests/wasm
examples         | ci/examples.sh            | $library examples demo book README.md
install-as-user  | ci/install-as-user.sh     | $library rayon-engine book README.md
publish          | ci/publish.sh             | $library rayon-engine cluster sim README.md CHANGELOG.md CITATION.cff
deny             | ci/supply.sh deny         | deny.toml
minimal-versions | ci/supply.sh minimal-versions | $library rayon-engine cluster sim
miri             | ci/supply.sh miri         | pool schedulers adaptors testkit
cluster          | ci/cluster.sh             | $library cluster examples testkit book
gallery          | cargo run --release --locked -p furcate-gallery -- run all --rounds 1 --html target/gallery.html | $library gallery
benches          | ci/benches.sh             | $library rayon-core examples benches
asan             | ci/asan.sh                | $library rayon-engine testkit
tsan             | ci/tsan.sh                | $library rayon-engine testkit
"

wanted=("$@")
changed=""
if [ "${1:-}" = --since ]; then
    commit=${2:?"ci/full.sh: --since needs a commit"}
    wanted=()
    # With what is not committed yet.
    changed=$(git diff --no-renames --name-only "$commit" && git ls-files --others --exclude-standard)
fi

# Whether a changed file lies in one of the folders.
touched() {
    local file folder
    while read -r file; do
        for folder in ci .ci Cargo.toml Cargo.lock "$@"; do
            case $file in "$folder" | "$folder"/*) return 0 ;; esac
        done
    done <<<"$changed"
    return 1
}

for name in "${wanted[@]}"; do
    grep -qE "^$name +\|" <<<"$steps" || { echo "ci/full.sh: no step \`$name\`; the steps are:$steps" >&2 && exit 2; }
done
while IFS='|' read -r name command folders; do
    name=${name// /}
    [ -n "$name" ] || continue
    if [ ${#wanted[@]} != 0 ]; then
        [[ " ${wanted[*]} " == *" $name "* ]] || continue
    elif [ "${1:-}" = --since ] && [ "${folders// /}" != "*" ]; then
        # shellcheck disable=SC2086 # the folders are words
        touched $folders || { echo "=== $name: nothing that it tests has changed" && continue; }
    fi
    # shellcheck disable=SC2086 # the command's words
    step "$name" $command </dev/null
done <<<"$steps"
summary
