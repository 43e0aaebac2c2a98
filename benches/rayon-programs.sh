#!/usr/bin/env bash
# The programs of `benches/rayon-programs`, which are written for rayon, on rayon-core and on furcate's pool in rayon-core's place
# (`rayon-core/`). The two are run by turns. The table shows medians: wall time and processor time of a run in milliseconds, with
# ratios (furcate's over rayon-core's), and voluntary context switches. `work` is the ratio of what was searched, of programs whose
# schedule decides on it. A mark stands behind ratios above the goals: 1.05 of wall time, 1.02 of processor time. With `MEMORY=1` two
# more columns show the peak memory of a process in MiB, with its input and its oracle.
#
# Arguments: the programs to run; all of them if there are none. `ROUNDS=n`: the number of rounds (15), in each of which a process
# of either kind runs a program `RUNS=n` times (2). `QUICK=1`: one round of sizes that only show that all results agree with the
# oracles. `RAYON_NUM_THREADS=n`: other pools. `LTO=1`: both are built as one unit with link-time optimization. Without it, as cargo
# builds by default, loops of the programs themselves are compiled differently, with ratios of their own (`map-collect`).
set -euo pipefail
cd "$(dirname "$0")/.."

target=$PWD/target/rayon-programs${REGISTRY:+-$REGISTRY}${LTO:+-lto}
if [[ -n ${LTO:-} ]]; then
    export CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1
fi
# What is quick to build, where times do not count.
options=()
if [[ -n ${REGISTRY:-} ]]; then
    options=(--no-default-features --features "$REGISTRY")
    export POLARS_MAX_THREADS=${RAYON_NUM_THREADS:-$(nproc)}
elif [[ -n ${QUICK:-} && " $* " != *" oxipng "* && " $* " != *" blake3 "* ]]; then
    options=(--no-default-features)
fi
if [[ -n ${QUICK:-} && " ${options[*]} " == *" --no-default-features "* ]]; then
    export CARGO_PROFILE_RELEASE_DEBUG=0
fi
package=$target/package
patch="patch.crates-io.rayon-core.path=\"$PWD/rayon-core\""
rounds=${QUICK:+1}
rounds=${rounds:-${ROUNDS:-15}}
runs=${QUICK:+1}
runs=${runs:-${RUNS:-2}}

# Both are built in one folder, which shares what does not depend on rayon-core.
build() {
    local kind=$1
    shift
    cargo build --quiet --release "${options[@]}" --target-dir "$target" "$@"
    cp "$target/release/rayon-programs" "$target/program-$kind"
}

build rayon-core --locked --manifest-path benches/rayon-programs/Cargo.toml

# In a copy: the patch changes the lock file.
rm -rf "$package"
mkdir -p "$package"
cp -r benches/rayon-programs/{Cargo.toml,Cargo.lock,src} "$package"
build furcate --config "$patch" --manifest-path "$package/Cargo.toml"

# Cargo ignores a patch whose version does not fit, with a mere warning.
used=$(cargo tree --quiet --config "$patch" --manifest-path "$package/Cargo.toml" --invert rayon-core --depth 0)
if [[ $used != *"($PWD/rayon-core)"* ]] || grep -A 2 '^name = "rayon-core"' "$package/Cargo.lock" | grep -q '^source'; then
    echo "rayon-programs.sh: the patch of rayon-core was not used: $used" >&2
    exit 1
fi

programs=("$@")
if ((${#programs[@]} == 0)); then
    mapfile -t programs < <("$target/program-furcate")
fi

# The lines of all rounds: kind, then what the program prints.
measure() {
    local round kind kinds
    for ((round = 0; round < rounds; round++)); do
        kinds=(rayon-core furcate)
        ((round % 2)) && kinds=(furcate rayon-core)
        for kind in "${kinds[@]}"; do
            timeout 300 "$target/program-$kind" "$1" "$runs" | sed "s/^/$kind /"
        done
    done
}

printf '%-18s %10s %10s %8s %10s %10s %8s %9s %9s %6s%s\n' \
    program 'wall/ms' furcate ratio 'CPU/ms' furcate ratio switches furcate work "${MEMORY:+   peak/MiB    furcate}"
for program in "${programs[@]}"; do
    measure "$program" | awk -v program="$program" -v memory="${MEMORY:-}" '
        { runs[$1]++; for (i = 2; i <= 6; i++) values[$1, i, runs[$1]] = $i }
        function median(kind, column,   i, j, n, x, sorted) {
            n = runs[kind]
            for (i = 1; i <= n; i++) {
                x = values[kind, column, i]
                for (j = i - 1; j > 0 && sorted[j] > x; j--) sorted[j + 1] = sorted[j]
                sorted[j + 1] = x
            }
            return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
        }
        function marked(ratio, goal) { return sprintf("%7.2f%s", ratio, ratio > goal ? "!" : " ") }
        function over(a, b) { return b > 0 ? a / b : 1 }
        END {
            a = "rayon-core"; b = "furcate"
            if (!runs[a] || runs[a] != runs[b]) { print program ": no results" > "/dev/stderr"; exit 1 }
            for (i = 2; i <= 6; i++) { of[a, i] = median(a, i); of[b, i] = median(b, i) }
            printf "%-18s %10.2f %10.2f %8s %10.2f %10.2f %8s %9.0f %9.0f %6s%s\n", program,
                of[a, 2] / 1e3, of[b, 2] / 1e3, marked(over(of[b, 2], of[a, 2]), 1.05),
                of[a, 3] / 1e3, of[b, 3] / 1e3, marked(over(of[b, 3], of[a, 3]), 1.02),
                of[a, 4], of[b, 4], of[a, 5] ? sprintf("%.2f", of[b, 5] / of[a, 5]) : "",
                memory ? sprintf(" %10.1f %10.1f", of[a, 6] / 1024, of[b, 6] / 1024) : ""
        }'
done
