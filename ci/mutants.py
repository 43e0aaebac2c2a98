#!/usr/bin/env python3
"""Do the pool's tests notice code that is wrong?

Each mutant below is a plausible fault: a step that is left out, or a condition that is turned around. The script applies one mutant at
a time to a copy of the tree, and runs the pool's tests, under AddressSanitizer where the fault is a use after free. For the slots and
latches, the loom models run first. A mutant that passes all tests survives: it needs a test, or its line has no use.

    ci/mutants.py [NAME ...]            default: all; some two minutes for each
    ci/mutants.py --list

`ci/weaken.py` does the same for memory orderings, with loom models.
"""

import os
import re
import subprocess
import sys
import time

from tree_copy import copied_tree, target

TIMEOUT = 300
TARGET = "x86_64-unknown-linux-gnu"

# Name: file below pool/src, text, its replacement, whether AddressSanitizer is needed.
MUTANTS = {
    "broadcast-not-claimed": (
        "slots/waits.rs",
        "if has_broadcast {\n                _ = self.occupy_or_claim(worker);\n            }",
        "",
        False,
    ),
    "waiter-not-woken": (
        "slots/waits.rs",
        "WorkerState::Waiting => self.wake(waiter),",
        "WorkerState::Waiting => {}",
        False,
    ),
    "swept-task-not-retained": (
        "engine/task/list.rs",
        [("task.as_ref().state.retain();\n", ""), ("Core::cancel(task);\n                        Core::release(task);", "Core::cancel(task);")],
        None,
        True,
    ),
    "registry-not-kept-by-wake": (
        "engine/task/erased.rs",
        "let _kept = worker.is_none().then(|| registry.this());",
        "",
        True,
    ),
    "handed-over-without-final-check": (
        "engine/registry/waits.rs",
        "self.final_check(worker);\n        self.sleep_blocked(worker);",
        "if !has_slot {\n            self.final_check(worker);\n        }\n        self.sleep_blocked(worker);",
        False,
    ),
    "claimant-not-woken": (
        "slots/waits.rs",
        "self.claim(waiter);\n                // From",
        "// From",
        False,
    ),
    "broadcast-does-not-wake": (
        "slots/waits.rs",
        "WorkerState::Waiting => self.wake(worker),",
        "WorkerState::Waiting => {}",
        False,
    ),
    "free-slot-goes-before-claims": (
        "slots/hands.rs",
        "while let Some(number) = self.claims.pop_front() {",
        "while let Some(number) = None::<usize> {",
        False,
    ),
    "slot-holder-not-published": (
        "slots/hands.rs",
        "self.slots.set_holder(slot, Some(worker));",
        "",
        False,
    ),
    "slot-holder-stays-on-the-shelf": (
        "slots/hands.rs",
        "self.unshelve(worker);",
        "",
        False,
    ),
    "turn-given-without-a-claim": (
        "slots/hands.rs",
        "self.occupy(next, slot);\n        self.claim(worker);",
        "self.occupy(next, slot);",
        False,
    ),
    "late-future-not-cancelled": (
        "engine/registry.rs",
        "if self.is_ending.load(Relaxed) {\n                unawaited.cancel();\n            }",
        "",
        False,
    ),
    "credits-of-the-frame-below": (
        "engine/worker/frame.rs",
        "credits: Credits::default(),\n            open",
        "open",
        False,
    ),
    "frame-not-popped": (
        "engine/worker/frame.rs",
        "self.frames.top.set(self.below);",
        "",
        False,
    ),
}


def cargo(tree, asan, *arguments):
    env = {**os.environ, "RUST_BACKTRACE": "0", "CARGO_TARGET_DIR": target("mutants"), "RUSTFLAGS": "-Awarnings"}
    command = ["cargo", "test", "-p", "furcate-pool", "--locked", *arguments]
    skipped = []
    if asan:
        env |= {"RUSTFLAGS": "-Zsanitizer=address -Awarnings", "ASAN_OPTIONS": "detect_leaks=0"}
        command[1:1] = ["+nightly"]
        command += ["--target", TARGET]
        skipped = ["--skip", "stack", "--skip", "a_thousand_pools_leave_nothing_behind"]
    if "--no-run" not in arguments:
        command += ["--", *skipped]
    return subprocess.run(command, cwd=tree, env=env, timeout=TIMEOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def models(tree):
    """Runs the models of slots and latches."""
    env = {**os.environ, "RUST_BACKTRACE": "0", "CARGO_TARGET_DIR": target("mutants-loom"), "RUSTFLAGS": "--cfg loom -Awarnings"}
    command = ["cargo", "test", "-p", "furcate-pool", "--locked", "--lib", "--release", "--", "slots::models", "latch::models"]
    return subprocess.run(command, cwd=tree, env=env, timeout=TIMEOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def failed(run):
    return re.findall(r"^test (\S+) \.\.\. FAILED$", run.stdout, re.M)


def killer(tree, asan, has_models):
    """What notices the fault: the failing tests' names, a hang, or a report of the sanitizer."""
    try:
        if has_models and (names := failed(models(tree))):
            return ", ".join(names)
        # The unit tests first: they are fast.
        run = cargo(tree, asan, "--lib")
        if run.returncode == 0:
            run = cargo(tree, asan, "--tests")
    except subprocess.TimeoutExpired:
        return "a test that does not end"
    if run.returncode == 0:
        return None
    report = re.search(r"AddressSanitizer: (\S+)", run.stdout)
    return ", ".join(failed(run)) or (report.group(1) if report else "a process that fails")


def main():
    chosen = sys.argv[1:] or list(MUTANTS)
    if chosen == ["--list"]:
        return print("\n".join(MUTANTS))
    if unknown := [name for name in chosen if name not in MUTANTS]:
        sys.exit(f"no such mutant: {', '.join(unknown)}; `ci/mutants.py --list` lists them")
    survivors, began = [], time.monotonic()
    with copied_tree() as tree:
        for name in chosen:
            file, changes, replacement, asan = MUTANTS[name]
            if isinstance(changes, str):
                changes = [(changes, replacement)]
            path = os.path.join(tree, "pool/src", file)
            with open(path) as original:
                source = mutant = original.read()
            for text, changed in changes:
                if mutant.count(text) != 1:
                    sys.exit(f"{name}: {file} has its text {mutant.count(text)} times, not once; adapt the script:\n{text}")
                mutant = mutant.replace(text, changed)
            with open(path, "w") as copy:
                copy.write(mutant)
            built = cargo(tree, asan, "--lib", "--tests", "--no-run")
            if built.returncode != 0:  # it would pass for a killed one
                sys.exit(f"{name} does not compile:\n{built.stdout}")
            by = killer(tree, asan, file.startswith(("slots", "latch")))
            print(f"{name}: {f'killed by {by}' if by else 'SURVIVES'}", flush=True)
            if not by:
                survivors.append(name)
            with open(path, "w") as copy:
                copy.write(source)
    print(f"{len(chosen)} mutants, {time.monotonic() - began:.0f} s; survivors: {', '.join(survivors) or 'none'}")
    sys.exit(bool(survivors))


main()
