#!/usr/bin/env bash
# Instructions per fork, counted by callgrind: fib(n) on one worker for two n; the difference in instructions over the
# difference in forks, so that starting and ending a pool falls out. The second column is without the plain function's
# own instructions: what a fork costs. Arguments go to cargo, such as `--features forte --ignore-rust-version`.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is missing; install it" >&2; exit 1; }

small=20
large=25

binary=$(cargo build --profile bench -p furcate-benches --bin fork_cost --message-format json "$@" |
    sed -n 's/.*"executable":"\([^"]*fork_cost[^"]*\)".*/\1/p')

# Instructions of one run.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "$1" "$2" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

forks=$(($("$binary" plain "$large") - $("$binary" plain "$small")))
printf 'fib(%s) to fib(%s), %s forks\n' "$small" "$large" "$forks"
printf '%-12s %12s %12s\n' engine "instructions" "over plain"
plain=
for engine in $("$binary"); do
    count=$(($(instructions "$engine" "$large") - $(instructions "$engine" "$small")))
    plain=${plain:-$count}
    awk -v engine="$engine" -v count="$count" -v plain="$plain" -v forks="$forks" \
        'BEGIN { printf "%-12s %12.1f %12.1f\n", engine, count / forks, (count - plain) / forks }'
done
