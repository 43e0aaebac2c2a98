#!/usr/bin/env bash
# UTS on 1, 2, 4 and 8 ranks, on every transport, with Open MPI and with MPICH: T1 so many times (default 20), T1L once. The example compares
# each count with the published one. A run that hangs is an error. Prints the least and the median time of each row.
#
#   benches/cluster-uts.sh [RUNS]
#
# `ci/cluster.sh` says which packages it needs.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-20}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 FURCATE_CLUSTER_TIMEOUT=60
target=${CARGO_TARGET_DIR:-target}
for compiler in mpicc.openmpi mpicc.mpich; do
    MPICC=$compiler cargo build --quiet --release -p furcate-cluster --features mpi --example uts --locked --target-dir "$target/$compiler"
done

# Prints a row: `row NAME RANKS TREE RUNS COMMAND...`.
row() {
    local name=$1 ranks=$2 tree=$3 runs=$4 times=() output
    shift 4
    for ((run = 0; run < runs; run++)); do
        if ! output=$(timeout 300 "$@" 2>&1); then
            printf '%s\n' "$output" >&2
            echo "cluster-uts.sh: run $run failed, or took longer than 300 s: $*" >&2
            return 1
        fi
        times+=("$(sed -nE 's/.* nodes in ([0-9.]+) ([mu]?s) on .*/\1 \2/p' <<<"$output" |
            awk '{ print $1 * ($2 == "s" ? 1000 : $2 == "ms" ? 1 : 0.001) }')")
    done
    printf '%s\n' "${times[@]}" | sort -n |
        awk -v name="$name" -v ranks="$ranks" -v tree="$tree" '{ t[NR] = $1 }
            END { printf "%-20s %5d  %-4s %4d runs  min %8.0f ms  median %8.0f ms\n", name, ranks, tree, NR, t[1], t[int((NR + 1) / 2)] }'
}

for tree in T1 T1L; do
    [[ $tree == T1 ]] && n=$runs || n=1
    for ranks in 1 2 4 8; do
        row threads "$ranks" $tree "$n" "$target/mpicc.openmpi/release/examples/uts" $tree --ranks "$ranks"
        for FURCATE_CLUSTER_TRANSPORT in shared messages; do
            export FURCATE_CLUSTER_TRANSPORT
            row "$FURCATE_CLUSTER_TRANSPORT, Open MPI" "$ranks" $tree "$n" mpirun.openmpi --oversubscribe --bind-to none -n "$ranks" \
                "$target/mpicc.openmpi/release/examples/uts" $tree
            row "$FURCATE_CLUSTER_TRANSPORT, MPICH" "$ranks" $tree "$n" mpirun.mpich -n "$ranks" \
                "$target/mpicc.mpich/release/examples/uts" $tree
        done
        unset FURCATE_CLUSTER_TRANSPORT
    done
done
