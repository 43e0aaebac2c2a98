#!/usr/bin/env python3
"""Code lines of each crate, and their ceilings.

    ci/lines.py             a line for each crate
    ci/lines.py --files N   and its N longest files
    ci/lines.py --check     fails if a crate has more lines than its ceiling

A code line is one that is neither blank nor a comment. Modules of tests and of loom models are not counted. Raising a ceiling needs a reason in
the commit's message; a crate that became shorter takes its ceiling along.
"""

import re
import sys
from pathlib import Path

CEILINGS = {
    "pool": 12513,
    "schedulers": 6603,
    "adaptors": 16570,
    "src": 115,
    "trace": 2360,
    "cluster": 5701,
    "sim": 2452,
}

ROOT = Path(__file__).resolve().parent.parent
# What a comment is not in: strings, characters. (Lifetimes are no characters.)
TOKENS = re.compile(
    r"""(?P<line>//[^\n]*)|(?P<block>/\*)|b?r(?P<hashes>\#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|'(?:\\[^\n']+|[^\\'\n])'""",
    re.DOTALL,
)
TEST_MODULE = re.compile(
    r"#\[cfg\((?:test|loom|all\((?:test|loom)[^\]]*)\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*([;{])"
)


def without_comments(source):
    kept, at = [], 0
    while token := TOKENS.search(source, at):
        kept.append(source[at : token.start()])
        at = token.end()
        if token["block"]:
            depth = 1
            while depth and (mark := re.compile(r"/\*|\*/").search(source, at)):
                depth += 1 if mark.group() == "/*" else -1
                at = mark.end()
        elif not token["line"]:
            kept.append(token.group())
    return "".join(kept) + source[at:]


def without_tests(code):
    """Returns the code without modules of tests, and the names of those that have files of their own."""
    kept, files, at = [], [], 0
    while module := TEST_MODULE.search(code, at):
        kept.append(code[at : module.start()])
        at = module.end()
        if module[2] == ";":
            files.append(module[1])
            continue
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            at += 1
    return "".join(kept) + code[at:], files


def lines_of(crate):
    """Returns the code lines of each file of a crate."""
    folder = ROOT / crate if crate == "src" else ROOT / crate / "src"
    counts, tests = {}, []
    for path in sorted(folder.rglob("*.rs")):
        code, files = without_tests(without_comments(path.read_text()))
        here = path.parent if path.name in ("lib.rs", "main.rs", "mod.rs") else path.with_suffix("")
        tests += [here / name for name in files]
        counts[path] = sum(1 for line in code.splitlines() if line.strip())
    is_test = lambda path: any(path == test.with_suffix(".rs") or test in path.parents for test in tests)
    return {path: count for path, count in counts.items() if not is_test(path)}


def main():
    arguments = sys.argv[1:]
    most = int(arguments[1]) if arguments[:1] == ["--files"] and len(arguments) == 2 else 0
    if arguments and not most and arguments != ["--check"]:
        sys.exit(__doc__)
    too_long = False
    for crate, ceiling in CEILINGS.items():
        counts = lines_of(crate)
        total = sum(counts.values())
        too_long |= total > ceiling
        print(f"{crate:12}{total:7} of {ceiling}{'  TOO MANY' if total > ceiling else ''}")
        for path, count in sorted(counts.items(), key=lambda entry: -entry[1])[:most]:
            print(f"    {count:5} {path.relative_to(ROOT)}")
    if arguments == ["--check"] and too_long:
        sys.exit("ci/lines.py: a crate has grown above its ceiling: make it shorter, or say in the commit why the ceiling rises")


if __name__ == "__main__":
    main()
