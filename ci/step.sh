# Steps of `.ci/run` and `ci/full.sh`, which read this file. A step that fails is run once more. If it passes then, the run goes on, and its
# summary has a line `FLAKY` with the step's name and the names of the tests that had failed.
set -euo pipefail

declare -a TIMES=() FLAKY=()
STEP_LOG=$(mktemp)
trap 'rm -f "$STEP_LOG"' EXIT

# Runs a command and keeps its output. Fails, too, if a test program ran without a test because a filter names none that is there.
attempt() {
    "$@" 2>&1 | tee "$STEP_LOG" || return
    if grep -q '^test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; [1-9]' "$STEP_LOG"; then
        echo "no test is left by the filter of a test program above: were its tests renamed?"
        return 1
    fi
}

# Runs a command as a step: `step NAME COMMAND [ARGUMENT ...]`.
step() {
    local name=$1 begin=$SECONDS failed
    shift
    printf '\n=== %s\n' "$name"
    if attempt "$@"; then
        # Those of a step that has steps itself.
        while read -r failed; do FLAKY+=("$failed"); done < <(grep '^FLAKY ' "$STEP_LOG" || true)
    else
        failed=$(sed -nE 's/^test (\S+).* \.\.\. FAILED$/\1/p' "$STEP_LOG" | sort -u | paste -sd ' ')
        # A test program that was aborted names no test.
        failed=${failed:-$(sed -nE 's/^error: test failed, to rerun pass `(.*)`$/\1/p' "$STEP_LOG" | paste -sd ' ')}
        # The gate has run its steps once more already.
        if [ "$name" = gate ] || { printf '\n=== %s failed, and is run once more\n' "$name" && ! attempt "$@"; }; then
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
