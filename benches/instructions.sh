#!/usr/bin/env bash
# Instructions counted by callgrind, on one worker: of programs of two sizes, the difference in instructions over the
# difference in forks or leaves, so that starting and ending a pool falls out. Arguments go to cargo, such as
# `--features forte --ignore-rust-version`.
#
# First, per fork of fib(n); the second column is without the plain function's own instructions: what a fork costs.
# Then, per leaf of fib(n) forked to 15, of the forms of the table `overhead` of the bench `latency`; the second column is
# without the instructions of the same form without futures: what a future costs that is ready at once. (Of `io_await`
# that is an upper bound: where everything is fifty times slower, the clock has it look up as often.)
# At last, per future that is pending once: of its suspension and resumption by `io_await`; the second column is without
# the polls and wakes themselves.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is missing; install it" >&2; exit 1; }

built=$(cargo build --profile bench -p furcate-benches --bin fork_cost --bin overhead_cost --bin suspension_cost --message-format json "$@")

# The path of a program built.
program() {
    sed -n 's/.*"executable":"\([^"]*'"$1"'[^"]*\)".*/\1/p' <<<"$built"
}

# Instructions of one run.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

small=20
large=25
fork_cost=$(program fork_cost)
forks=$(($("$fork_cost" plain "$large") - $("$fork_cost" plain "$small")))
printf 'fib(%s) to fib(%s), %s forks\n' "$small" "$large" "$forks"
printf '%-28s %12s %12s\n' engine "instructions" "over plain"
plain=
for engine in $("$fork_cost"); do
    count=$(($(instructions "$fork_cost" "$engine" "$large") - $(instructions "$fork_cost" "$engine" "$small")))
    plain=${plain:-$count}
    awk -v engine="$engine" -v count="$count" -v plain="$plain" -v forks="$forks" \
        'BEGIN { printf "%-28s %12.1f %12.1f\n", engine, count / forks, (count - plain) / forks }'
done

small=24
large=30
cutoff=15
overhead_cost=$(program overhead_cost)
leaves=$(($("$overhead_cost" plain "$large" "$cutoff") - $("$overhead_cost" plain "$small" "$cutoff")))
printf '\nfib(%s) to fib(%s) forked to %s, %s leaves\n' "$small" "$large" "$cutoff" "$leaves"
printf '%-28s %12s %12s %12s\n' form "instructions" "over without" "ratio"
declare -A counts
while IFS=$'\t' read -r form without; do
    counts[$form]=$(($(instructions "$overhead_cost" "$form" "$large" "$cutoff") -
        $(instructions "$overhead_cost" "$form" "$small" "$cutoff")))
    awk -v form="$form" -v count="${counts[$form]}" -v without="${counts[$without]}" -v leaves="$leaves" \
        'BEGIN { printf "%-28s %12.1f %12.1f %12.3f\n", form, count / leaves, (count - without) / leaves, count / without }'
done < <("$overhead_cost")

small=2000
large=12000
suspension_cost=$(program suspension_cost)
printf '\n%s to %s futures, pending once\n' "$small" "$large"
printf '%-28s %12s %12s\n' opened "instructions" "over bare"
bare=
while read -r form; do
    count=$(($(instructions "$suspension_cost" "$form" "$large") - $(instructions "$suspension_cost" "$form" "$small")))
    bare=${bare:-$count}
    awk -v form="$form" -v count="$count" -v bare="$bare" -v each="$((large - small))" \
        'BEGIN { printf "%-28s %12.1f %12.1f\n", form, count / each, (count - bare) / each }'
done < <("$suspension_cost")
