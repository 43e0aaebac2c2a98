# Steps of `.ci/run` and `ci/full.sh`, which read this file. A step that fails is run once more. If it passes then, the run goes on, and its
# summary has a line `FLAKY` with the step's name and the names of the tests that had failed.
set -euo pipefail

declare -a TIMES=() FLAKY=()
STEP_LOG=$(mktemp)
trap 'rm -f "$STEP_LOG"' EXIT

# Runs a command as a step: `step NAME COMMAND [ARGUMENT ...]`.
step() {
    local name=$1 begin=$SECONDS failed
    shift
    printf '\n=== %s\n' "$name"
    if "$@" 2>&1 | tee "$STEP_LOG"; then
        # Those of a step that has steps itself.
        while read -r failed; do FLAKY+=("$failed"); done < <(grep '^FLAKY ' "$STEP_LOG" || true)
    else
        failed=$(sed -nE 's/^test (\S+).* \.\.\. FAILED$/\1/p' "$STEP_LOG" | sort -u | paste -sd ' ')
        # The gate has run its steps once more already.
        if [ "$name" = gate ] || { printf '\n=== %s failed, and is run once more\n' "$name" && ! "$@"; }; then
            printf '\n=== %s FAILED: %s\n' "$name" "$*"
            printf '%s\n' "${FLAKY[@]}"
            exit 1
        fi
        FLAKY+=("FLAKY $name${failed:+: $failed}")
    fi
    TIMES+=("$(printf '%5d s  %s' $((SECONDS - begin)) "$name")")
}

# Prints the time of each step, and which step or test was flaky.
summary() {
    printf '\n=== summary\n'
    printf '%s\n' "${TIMES[@]}"
    printf '%5d s  in all\n' "$SECONDS"
    [ ${#FLAKY[@]} = 0 ] || printf '%s\n' "${FLAKY[@]}"
}
