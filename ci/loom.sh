#!/usr/bin/env bash
# Loom models: checks of the lock-free parts under every interleaving loom knows, or every one with few preemptions.
# Each model prints how many that were.
#   ci/loom.sh         all models
#   ci/loom.sh short   without those that take more than five seconds alone: two thirds of the time
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTFLAGS="--cfg loom"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
slow=(
    entries_are_used_again entries_of_an_always_shared_deque_are_used_again the_last_private_job an_index_used_again_under_a_reaching_thief
    a_fork_and_an_injected_job_against_the_last_worker_that_parks two_against_the_last_worker_that_parks
    sharing_under_a_thief_that_asks_and_one_that_reaches private_pops_under_two_reaching_thieves an_answer_to_a_reaching_thief
    growth_while_a_thief_reaches growth_while_thieves_steal an_owner_in_a_long_leaf_hides_nothing shared_jobs_are_taken_back
)
skipped=()
if [ "${1:-}" = short ]; then
    for model in "${slow[@]}"; do skipped+=(--skip "$model"); done
fi
for package in furcate-pool furcate-schedulers furcate-cluster; do
    cargo test -p "$package" --lib --release --locked -- models --nocapture "${skipped[@]}"
done
