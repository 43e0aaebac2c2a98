#!/usr/bin/env python3
"""Rayon's own tests, compiled against furcate under the name of rayon.

Takes the tests of the rayon package that Cargo has downloaded: its folder `tests`, and the unit tests of `iter` and `slice`. They are written to the
target folder, never into this repository. What is left out, and why, stands below.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "rayon-tests"

# Tests that are left out, with the reason. (book/src/rayon.md describes the differences that programs meet.)
WITHOUT = {
    "check_indices_after_enumerate_split": "implements rayon's plumbing",
    "check_drops": "implements rayon's plumbing",
    "iter_panic_fuse": "expects that all items but one are walked after a panic; here parts that have not begun do not begin",
}
WITHOUT_FILES = {"producer_split_at.rs": "implements rayon's plumbing"}

MANIFEST = """
[package]
name = "rayon-tests"
version = "0.0.0"
edition = "2021"
publish = false
[dependencies]
rayon = {{ package = "furcate", path = "{root}" }}
[dev-dependencies]
rand = "0.9"
rand_xorshift = "0.4"
[workspace]
"""


def rayon():
    """The folder of the rayon package."""
    metadata = subprocess.run(["cargo", "metadata", "--format-version", "1", "--locked"], cwd=ROOT, check=True, capture_output=True)
    packages = json.loads(metadata.stdout)["packages"]
    return next(pathlib.Path(p["manifest_path"]).parent for p in packages if p["name"] == "rayon")


def without(source, seen):
    """The source without the tests that are left out."""
    kept = []
    for part in re.split(r"(?m)^(?=#\[test\]\n)", source):
        name = re.search(r"fn (\w+)", part)
        if part.startswith("#[test]") and name and name[1] in WITHOUT:
            seen.add(name[1])
            # What follows the test's closing brace is not the test's.
            part = part.split("\n}\n", 1)[1]
        kept.append(part)
    return "".join(kept)


def main():
    package, seen = rayon(), set()
    (FOLDER / "src").mkdir(parents=True, exist_ok=True)
    (FOLDER / "tests").mkdir(exist_ok=True)
    (FOLDER / "Cargo.toml").write_text(MANIFEST.format(root=ROOT))
    (FOLDER / "src/lib.rs").write_text("")
    sources = {path.name: path.read_text() for path in sorted((package / "tests").glob("*.rs")) if path.name not in WITHOUT_FILES}
    iter = (package / "src/iter/test.rs").read_text()
    iter = iter.replace("use super::*;", "use rayon::iter::*;\nuse std::collections::LinkedList;").replace("use rayon_core::*;", "use rayon::*;")
    sources["iter.rs"] = iter.replace("use crate::", "use rayon::")
    sources["slice.rs"] = (package / "src/slice/test.rs").read_text().replace("#![cfg(test)]", "").replace("use crate::", "use rayon::")
    for name, source in sources.items():
        (FOLDER / "tests" / name).write_text(without(source, seen))
    if unknown := WITHOUT.keys() - seen:
        sys.exit(f"ci/rayon-tests.py: rayon has no tests of these names any more: {', '.join(sorted(unknown))}")
    target = {**os.environ, "CARGO_TARGET_DIR": str(FOLDER / "target")}
    sys.exit(subprocess.run(["cargo", "test", "--quiet", "--no-fail-fast"], cwd=FOLDER, env=target).returncode)


if __name__ == "__main__":
    main()
