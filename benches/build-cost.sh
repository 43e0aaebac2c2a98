#!/usr/bin/env bash
# Compiles the package `benches/build-cost`, whose chains are written once, with rayon and with furcate. Prints medians of processor time (user and system) of rustc, linker included, without incremental compilation:
#
# * `dev`, `release`: the program with its 28 chains; the libraries are built before;
# * `one chain more`: the difference that eight more chains make, over eight;
# * `dev binary`, `release binary`: the size of the program's file;
# * `library dev`, `library release`: the library with all that it depends on, and the number of crates (build scripts not counted).
#
# Ratios are furcate's over rayon's. Furcate has its default features; the library is also built without default features, and with all.
#
# `ROUNDS=n`: the number of rounds (3), in each of which every kind of program is built once. `LIBRARY=n`: the rounds of the
# libraries (1; 0 for none). `PROFILES=dev`: that profile only.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$PWD/target/build-cost
manifest=benches/build-cost/Cargo.toml
rounds=${ROUNDS:-3}
library=${LIBRARY:-1}
profiles=${PROFILES:-dev release}
log=$target/log
export CARGO_INCREMENTAL=0
mkdir -p "$target"
: >"$target/figures"

# Cargo calls it in place of rustc. It appends the name of the crate and rustc's processor time to the log.
wrapper=$target/timed-rustc
cat >"$wrapper" <<'WRAPPER'
#!/usr/bin/env bash
crate=none
for ((i = 1; i <= $#; i++)); do
    if [[ ${!i} == --crate-name ]]; then
        next=$((i + 1))
        crate=${!next}
    fi
done
exec 3>&2
TIMEFORMAT="$crate %U %S"
{ time "$@" 2>&3; } 2>>"$BUILD_COST_LOG"
WRAPPER
chmod +x "$wrapper"
export RUSTC_WRAPPER=$wrapper BUILD_COST_LOG=$log

declare -A features=(
    [rayon]=with-rayon
    [furcate]=with-furcate,furcate-default
    [bare]=with-furcate
    [everything]=with-furcate,furcate-everything
)

# Builds with the given library in the given profile, with more features.
build() {
    : >"$log"
    cargo build --quiet --locked --manifest-path "$manifest" --target-dir "$target/$1" --profile "$2" \
        --features "${features[$1]}$3"
}

# Appends a figure: of which library, which row, the value.
figure() { echo "$1 $2 $3" >>"$target/figures"; }

for ((round = 0; round < library; round++)); do
    for profile in $profiles; do
        for kind in rayon furcate bare everything; do
            rm -rf "${target:?}/$kind/${profile/dev/debug}"
            build "$kind" "$profile" ""
            read -r cpu crates < <(awk '$1 !~ /^(build_cost|build_script_.*|none|___)$/ { cpu += $2 + $3; crates++ } END { print cpu, crates }' "$log")
            figure "$kind" "library-$profile" "$cpu"
            figure "$kind" crates "$crates"
        done
    done
done

# The processor time of the program itself.
program() {
    touch benches/build-cost/src/main.rs
    build "$1" "$2" ",$3"
    awk '$1 == "build_cost" { print $2 + $3 }' "$log"
}

for profile in $profiles; do
    for kind in rayon furcate; do
        program "$kind" "$profile" chains >/dev/null # The library, if it is not built yet.
    done
    for ((round = 0; round < rounds; round++)); do
        for kind in rayon furcate; do
            more=$(program "$kind" "$profile" more)
            chains=$(program "$kind" "$profile" chains)
            figure "$kind" "$profile" "$chains"
            figure "$kind" "$profile-more" "$(awk "BEGIN { print ($more - $chains) / 8 }")"
            figure "$kind" "$profile-binary" "$(stat -c %s "$target/$kind/${profile/dev/debug}/build-cost")"
        done
    done
done

awk '
    { values[$1, $2, ++count[$1, $2]] = $3 }
    function median(kind, row,   i, j, n, x, sorted) {
        n = count[kind, row]
        for (i = 1; i <= n; i++) {
            x = values[kind, row, i]
            for (j = i - 1; j > 0 && sorted[j] > x; j--) sorted[j + 1] = sorted[j]
            sorted[j + 1] = x
        }
        return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
    }
    function line(label, row, kind, name, unit, scale, digits,   rayon, other) {
        if (!count[kind, row]) return
        rayon = median("rayon", row) / scale
        other = median(kind, row) / scale
        printf "%-24s %-30s %-6s %10.*f %10.*f %8.2f\n", label, name, unit, digits, rayon, digits, other, other / rayon
    }
    END {
        printf "%-24s %-30s %-6s %10s %10s %8s\n", "", "", "unit", "rayon", "furcate", "ratio"
        line("dev", "dev", "furcate", "", "s", 1, 2)
        line("dev, one chain more", "dev-more", "furcate", "", "ms", 0.001, 0)
        line("dev binary", "dev-binary", "furcate", "", "MB", 1e6, 2)
        line("release", "release", "furcate", "", "s", 1, 2)
        line("release, one chain more", "release-more", "furcate", "", "ms", 0.001, 0)
        line("release binary", "release-binary", "furcate", "", "MB", 1e6, 2)
        names["furcate"] = "default features"; names["bare"] = "without default features"; names["everything"] = "all features"
        split("furcate bare everything", kinds)
        for (i = 1; i <= 3; i++) {
            line("library dev", "library-dev", kinds[i], names[kinds[i]], "s", 1, 1)
            line("library release", "library-release", kinds[i], names[kinds[i]], "s", 1, 1)
            line("library", "crates", kinds[i], names[kinds[i]], "crates", 1, 0)
        }
    }
' "$target/figures"
