#!/usr/bin/env bash
# What a fork costs in programs of the forms that people write, on one worker: by value, moved, over slices, with wide results, with
# results that are dropped, generic, with closures that capture much, over a boxed tree. In the default release profile and with
# link-time optimization.
#
#   benches/forms.sh                          instructions (callgrind), and time
#   PROFILES=release benches/forms.sh         one profile
#   ROUNDS=0 benches/forms.sh                 instructions only
#   FORMS="fib tree" benches/forms.sh         these forms
#   benches/forms.sh --features forte --ignore-rust-version        more arguments for cargo: another peer
#
# Instructions of a fork: of programs of two sizes, the difference in instructions over the difference in forks, less that of the
# program without forks. Time of a fork: the least of some rounds, in which the libraries take turns, less that of the program without forks.
set -euo pipefail
cd "$(dirname "$0")/forms"
command -v valgrind >/dev/null || { echo "forms.sh: valgrind is missing; install it" >&2; exit 1; }

rounds=${ROUNDS:-11}
target=${CARGO_TARGET_DIR:-$PWD/../../target/forms}
export CARGO_TARGET_DIR=$target
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
for profile in ${PROFILES:-release lto}; do
    cargo build --quiet --profile "$profile" "$@"
    program=$target/$profile/forms
    { read -r -a libraries; read -r -a forms; } < <("$program")
    [ -z "${FORMS:-}" ] || read -r -a forms <<<"$FORMS"
    printf '%s: a fork on one worker, over the program without forks\n' "$profile"
    printf '%-10s' form
    for library in "${libraries[@]:1}"; do printf ' %22s' "$library"; done
    printf '   furcate/rayon handle/rayon\n'
    for form in "${forms[@]}"; do
        small=10000 large=40000 timed=2000000
        [ "$form" = fib ] && small=18 large=23 timed=30
        declare -A counts=() times=()
        for library in "${libraries[@]}"; do
            forks=$(($("$program" "$library" "$form" $large | cut -d' ' -f1) - $("$program" "$library" "$form" $small | cut -d' ' -f1)))
            count=$(($(instructions "$program" "$library" "$form" $large) - $(instructions "$program" "$library" "$form" $small)))
            counts[$library]=$(awk -v n="$count" -v forks="$forks" 'BEGIN { printf "%.1f", n / forks }')
        done
        for ((round = 0; round < rounds; round++)); do
            for library in "${libraries[@]}"; do
                read -r forks nanos < <("$program" "$library" "$form" $timed 3)
                times[$library]+=$(awk -v n="$nanos" -v forks="$forks" 'BEGIN { printf "%.3f\n", n / forks }')$'\n'
            done
        done
        printf '%-10s' "$form"
        for library in "${libraries[@]:1}"; do
            time=
            if ((rounds)); then
                time=$(for each in plain "$library"; do sort -g <<<"${times[$each]}" | sed '/^$/d' | head -1; done |
                    awk 'NR == 1 { plain = $1 } NR == 2 { printf "%.2f", $1 - plain }')
            fi
            awk -v count="${counts[$library]}" -v plain="${counts[plain]}" -v time="$time" \
                'BEGIN { printf " %12.1f %9s", count - plain, time == "" ? "" : time " ns" }'
            costs="${costs:-} $library=${time:-0}"
        done
        awk -v costs="${costs:-}" 'BEGIN {
            n = split(costs, words); for (i = 1; i <= n; i++) { split(words[i], pair, "="); cost[pair[1]] = pair[2] }
            if (cost["rayon"] > 0) printf "   %13.2f %12.2f", cost["furcate"] / cost["rayon"], cost["furcate-handle"] / cost["rayon"]
            print "" }'
        costs=
    done
done
