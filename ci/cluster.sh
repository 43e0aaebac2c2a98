#!/usr/bin/env bash
# furcate-cluster on MPI: several ranks, on every transport, with Open MPI and with MPICH. Installs both if one is missing (Debian, Ubuntu).
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(openmpi-bin libopenmpi-dev mpich libmpich-dev libclang-dev)
if ! command -v mpirun.openmpi mpirun.mpich >/dev/null || ! dpkg -s "${packages[@]}" >/dev/null 2>&1; then
    sudo=$([[ $EUID -eq 0 ]] || echo sudo)
    $sudo apt-get update -qq
    $sudo apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null
fi

# Open MPI refuses to run as root otherwise, as a container's user is.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# A call that hangs is given up by its ranks.
export FURCATE_CLUSTER_TIMEOUT=60
target=${CARGO_TARGET_DIR:-target}

# Builds the ranks' program with the given compiler wrapper of MPI, which says where the library is. Prints its path.
build() {
    MPICC=$1 cargo test --quiet -p furcate-cluster --features mpi --test mpi --no-run --locked --target-dir "$target/$1" --message-format json |
        sed -n 's/.*"executable":"\([^"]*\/mpi-[^"]*\)".*/\1/p'
}

# Runs the program with the launcher's arguments; shows its output only if it fails.
ranks() {
    if ! output=$(timeout 300 "$@" 2>&1); then
        printf '%s\n' "$output" >&2
        echo "cluster.sh: failed: $*" >&2
        return 1
    fi
    echo "ok: ${FURCATE_CLUSTER_TRANSPORT:-} $*"
}

# A rank that is killed, amid a call or between two, or that panics between two, ends the program with an error.
dead_rank() {
    local failure rank status
    for failure in killed killed-between panics-between; do
        for rank in 0 2; do
            status=0
            timeout 60 "$@" -n 3 "$program" $failure $rank >/dev/null 2>&1 || status=$?
            if [[ $status -eq 0 || $status -eq 124 ]]; then
                echo "cluster.sh: $failure: the program ended with $status (124: it hung): $*" >&2
                return 1
            fi
            echo "ok: ${FURCATE_CLUSTER_TRANSPORT:-} $* $failure $rank"
        done
    done
}

# A launcher that lets the others live: they give up after the timeout, and say so. (This launcher's exit code is 0.)
survivors() {
    local output status=0
    output=$(FURCATE_CLUSTER_TIMEOUT=3 timeout 60 "$@" -n 3 "$program" killed-between 1 2>&1) || status=$?
    if [[ $status -eq 124 || $output != *FURCATE_CLUSTER_TIMEOUT* || $output == *"a call ended although"* ]]; then
        echo "cluster.sh: survivors of a dead rank ended with $status (124: they hung), $output" >&2
        return 1
    fi
    echo "ok: ${FURCATE_CLUSTER_TRANSPORT:-} $* without a rank"
}

# Ranks of two executables, which differ in their last byte only, refuse each other.
another_build() {
    cp "$program" "$program.other"
    printf x >>"$program.other"
    ranks "$@" -n 1 "$program" another-build : -n 1 "$program.other" another-build
    rm "$program.other"
}

open_mpi=(mpirun.openmpi --oversubscribe --bind-to none)
program=$(build mpicc.openmpi)
for FURCATE_CLUSTER_TRANSPORT in shared messages; do
    export FURCATE_CLUSTER_TRANSPORT
    for n in 1 2 4; do
        ranks "${open_mpi[@]}" -n $n "$program"
    done
    dead_rank "${open_mpi[@]}"
    survivors "${open_mpi[@]}" --mca orte_enable_recovery 1
    another_build "${open_mpi[@]}"
done
# Each rank has an environment of its own. That of rank 0 counts.
ranks "${open_mpi[@]}" -n 1 env FURCATE_CLUSTER_TRANSPORT=messages "$program" lengths : -n 1 env FURCATE_CLUSTER_TRANSPORT=shared "$program" lengths
ranks "${open_mpi[@]}" -n 1 env FURCATE_CLUSTER_TRANSPORT= "$program" lengths : -n 1 env FURCATE_CLUSTER_TRANSPORT=messages "$program" lengths
# Messages that cross TCP.
ranks "${open_mpi[@]}" --mca btl tcp,self -n 2 "$program"
ranks "${open_mpi[@]}" --mca btl tcp,self -n 4 "$program"

program=$(build mpicc.mpich)
for FURCATE_CLUSTER_TRANSPORT in shared messages; do
    export FURCATE_CLUSTER_TRANSPORT
    for n in 1 2 4; do
        ranks mpirun.mpich -n $n "$program"
    done
    dead_rank mpirun.mpich
    another_build mpirun.mpich
done

# The examples, on ranks that are threads and on those of a launcher. They compare their results with the published ones.
MPICC=mpicc.openmpi cargo build --quiet --release -p furcate-cluster --features mpi --examples --locked --target-dir "$target/mpicc.openmpi"
examples=$target/mpicc.openmpi/release/examples
unset FURCATE_CLUSTER_TRANSPORT
for n in 1 2 4 8; do
    for _ in {1..5}; do
        "$examples/uts" T1 --ranks "$n" >/dev/null
    done
    "$examples/uts" T3 --ranks "$n" >/dev/null
    "$examples/uts" -t 1 -a 2 -d 16 -b 6 -r 502 --ranks "$n" --workers 2
    "$examples/pfor" 10000 --ranks "$n"
    "$examples/recpfor" 64 --ranks "$n" --compare
    "$examples/lcs" 3000 --tile 100 --ranks "$n" --compare
done
"${open_mpi[@]}" -n 2 "$examples/uts" T1
# A trace of each rank, and one of all.
trace=$(mktemp -d)
FURCATE_TRACE=$trace/trace.json "${open_mpi[@]}" -n 2 "$examples/uts" T1
cargo run --quiet --locked -p furcate-trace --target-dir "$target" -- "$trace"/trace.{0,1}.json -o "$trace/cluster.json"
grep -q '"pid":2.*"name":"trace.1"' "$trace/cluster.json"
ci/perfetto-reads.py "$trace"/{trace.0,cluster}.json
rm -r "$trace"
"${open_mpi[@]}" -n 2 "$examples/recpfor" 64 --compare
"${open_mpi[@]}" -n 2 "$examples/lcs" 3000 --tile 100 --compare
# Each number of ranks counts the same words; paths that cannot be used are errors.
words=("$examples/word_count" --top 1000 book cluster)
expected=$("${words[@]}" --ranks 1 | sed -n 1,1001p)
[[ $expected == *" the"* ]]
for launcher in "${open_mpi[*]} -n 3" "${open_mpi[*]} -n 2 --mca btl tcp,self"; do
    # shellcheck disable=SC2086 # the launcher's words
    counted=$($launcher "${words[@]}" | sed -n 1,1001p)
    [[ $expected == "$counted" ]] || {
        echo "cluster.sh: $launcher counts other words" >&2
        exit 1
    }
done
if "$examples/word_count" no/such/path 2>/dev/null; then
    echo "cluster.sh: a path that is not there must be an error" >&2
    exit 1
fi
# The progress line of a program that takes some seconds: on a terminal, and nowhere else.
turns=1500000
script -qec "$examples/pfor $turns --ranks 2" /dev/null | grep "rank 0 has done" >/dev/null || {
    echo "cluster.sh: no progress line on a terminal" >&2
    exit 1
}
if "$examples/pfor" $turns --ranks 2 2>&1 | grep "rank 0 has done" >/dev/null; then
    echo "cluster.sh: a progress line without a terminal" >&2
    exit 1
fi
if "$examples/uts" T4 2>/dev/null; then
    echo "cluster.sh: a tree that is not known must be an error" >&2
    exit 1
fi
