#!/usr/bin/env python3
"""Do the pool's tests notice code that is wrong?

Each mutant below is a plausible fault: a step that is left out, or a condition that is turned around. The script applies one mutant at
a time to a copy of the tree, and runs the pool's tests, under AddressSanitizer where the fault is a use after free. A mutant that
passes all tests survives: it needs a test, or its line has no use.

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
        "registry/idle/waits.rs",
        "if !worker.broadcasts.is_empty() {\n                self.occupy_or_claim(&mut idle, worker);\n            }",
        "",
        False,
    ),
    "waiter-not-woken": (
        "registry/idle/waits.rs",
        "WorkerState::Waiting => idle.woken.push(waiter.number()),\n            WorkerState::Blocked => {",
        "WorkerState::Waiting => {}\n            WorkerState::Blocked => {",
        False,
    ),
    "swept-task-not-retained": (
        "task/list.rs",
        [("task.as_ref().state.retain();\n", ""), ("Core::cancel(task);\n                        Core::release(task);", "Core::cancel(task);")],
        None,
        True,
    ),
    "registry-not-kept-by-wake": (
        "task/erased.rs",
        "let registry = registry.this();",
        "",
        True,
    ),
    "handed-over-without-final-check": (
        "registry/idle/waits.rs",
        "self.release(&mut idle, worker);\n            drop(idle);\n            self.final_check(worker);\n        } else {",
        "self.release(&mut idle, worker);\n            drop(idle);\n        } else {",
        False,
    ),
    "claimant-not-woken": (
        "registry/idle/waits.rs",
        "self.claim(&mut idle, waiter);\n                    // From",
        "// From",
        False,
    ),
    "broadcast-does-not-wake": (
        "registry/idle/waits.rs",
        "} else if *idle.state(worker) == WorkerState::Waiting {\n            idle.woken.push(worker.number());\n        }",
        "}",
        False,
    ),
    "free-slot-goes-before-claims": (
        "registry/idle.rs",
        "while let Some(number) = idle.claims.pop_front() {",
        "while let Some(number) = None::<usize> {",
        False,
    ),
    "slot-holder-not-published": (
        "registry/idle.rs",
        "self.unshelve(idle, worker);\n        if state != WorkerState::Active {",
        "if state != WorkerState::Active {",
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


def killer(tree, asan):
    """What notices the fault: the failing tests' names, a hang, or a report of the sanitizer."""
    try:
        # The unit tests first: they are fast.
        run = cargo(tree, asan, "--lib")
        if run.returncode == 0:
            run = cargo(tree, asan, "--tests")
    except subprocess.TimeoutExpired:
        return "a test that does not end"
    if run.returncode == 0:
        return None
    names = re.findall(r"^test (\S+) \.\.\. FAILED$", run.stdout, re.M)
    report = re.search(r"AddressSanitizer: (\S+)", run.stdout)
    return ", ".join(names) or (report.group(1) if report else "a process that fails")


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
            by = killer(tree, asan)
            print(f"{name}: {f'killed by {by}' if by else 'SURVIVES'}", flush=True)
            if not by:
                survivors.append(name)
            with open(path, "w") as copy:
                copy.write(source)
    print(f"{len(chosen)} mutants, {time.monotonic() - began:.0f} s; survivors: {', '.join(survivors) or 'none'}")
    sys.exit(bool(survivors))


main()
