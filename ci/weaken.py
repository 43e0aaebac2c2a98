#!/usr/bin/env python3
"""Do the loom models tell weaker memory orderings apart?

Weakens each non-relaxed ordering of a file by one step, and removes each fence it calls, one at a time in a copy of
the tree; runs the models until one fails. What survives is not needed, or no model needs it, or loom cannot tell:
which of these, the line's comment has to say.

    ci/weaken.py [file [models]]        default: pool/src/deque.rs deque::models
    ci/weaken.py pool/src/slots/searching.rs searching::models
    ci/weaken.py cluster/src/transport/ring.rs transport::ring::models

Takes some ten minutes.
"""

import os
import re
import subprocess
import sys
import time

from tree_copy import ROOT, copied_tree, target

STEPS = {"AcqRel": ["Acquire", "Release"], "Acquire": ["Relaxed"], "Release": ["Relaxed"]}
POINT = re.compile(r"\b(?:AcqRel|Acquire|Release)\b(?=[,)])|\bfence::(?:light|heavy|full)\(\);")
TIMEOUT = 180
FILE, MODELS = (sys.argv[1:] + ["pool/src/deque.rs", "deque::models"][len(sys.argv) - 1 :])[:2]
PACKAGE = "furcate-" + FILE.split("/")[0]


def mutants(source):
    """Pairs of what is done at which line, and the source after it."""
    lines = source.split("\n")
    for number, line in enumerate(lines):
        if "Ordering::{" in line or line.startswith("use "):  # an import
            continue
        for found in POINT.finditer(line.split("//")[0]):
            point = found.group()
            for weaker in STEPS.get(point, [""]):
                changed = line[: found.start()] + weaker + line[found.end() :]
                what = f"{number + 1}: {line.strip()}  [{point} -> {weaker or 'nothing'}]"
                yield what, "\n".join([*lines[:number], changed, *lines[number + 1 :]])


def cargo(tree, *arguments):
    env = {**os.environ, "RUSTFLAGS": "--cfg loom -Awarnings", "CARGO_TARGET_DIR": target("loom"), "RUST_BACKTRACE": "0"}
    command = ["cargo", "test", "--quiet", "-p", PACKAGE, "--lib", "--release", "--locked", "--", *arguments]
    return subprocess.run(command, cwd=tree, env=env, timeout=TIMEOUT, capture_output=True, text=True)


def killer(tree, models):
    """The first model that fails, or that does not end."""
    for model in models:
        try:
            if cargo(tree, model, "--exact").returncode != 0:
                return model
        except subprocess.TimeoutExpired:
            return model + " (does not end)"
    return None


def main():
    file, models = FILE, MODELS
    began = time.monotonic()
    with copied_tree() as tree:
        listed = cargo(tree, models, "--list")
        names = re.findall(r"^(.*): test$", listed.stdout, re.M)
        if not names or (failed := killer(tree, names)):
            sys.exit(f"the models fail as they are: {failed if names else listed.stderr}")
        with open(os.path.join(ROOT, file)) as original:
            source = original.read()
        survivors, count = [], 0
        for count, (what, changed) in enumerate(mutants(source), 1):
            with open(os.path.join(tree, file), "w") as copy:
                copy.write(changed)
            # Mutants that do not compile would pass for killed ones.
            built = cargo(tree, "--list")
            if built.returncode != 0:
                sys.exit(f"{what}\n{built.stderr}")
            by = killer(tree, names)
            print(f"{what}\n    {f'killed by {by}' if by else 'SURVIVES'}", flush=True)
            if not by:
                survivors.append(what)
    print(f"{len(names)} models, {count} mutants of {file}, {time.monotonic() - began:.0f} s; survivors:")
    print("\n".join(survivors) or "none")


main()
