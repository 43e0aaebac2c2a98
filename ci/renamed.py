#!/usr/bin/env python3
"""Crates of the registry that are built on rayon, with `rayon = { package = "furcate" }` in their manifests, and their own tests.

    ci/renamed.py                  all crates (some ten minutes)
    ci/renamed.py jwalk            these

The number of tests that pass must be the one below. The sources are copied to the target folder, never into this repository.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "renamed"

# Version, tests that pass, arguments of `cargo test`, what is added to the manifest.
CRATES = {
    "jwalk": ("0.8.1", 54, [], ""),
    "rayon-cond": ("0.4.0", 1, [], ""),
    # The published package leaves out the curves that its tests use.
    "ark-poly": (
        "0.5.0",
        67,
        ["--lib", "--features", "parallel"],
        '[dev-dependencies.ark-test-curves]\nversion = "0.5"\ndefault-features = false\n'
        'features = ["bls12_381_curve", "bn384_small_two_adicity_curve", "mnt4_753_curve"]\n',
    ),
    # The published package leaves out the folder `tests`, which two of its unit tests read.
    "tokei": (
        "15.0.0",
        18,
        ["--lib", "--", "--skip", "lf_embedded_language_is_counted", "--skip", "jupyter_notebook_has_correct_totals"],
        "",
    ),
}


def sources(names):
    """The folders of the crates, as the registry has them."""
    fetch = FOLDER / "sources"
    (fetch / "src").mkdir(parents=True, exist_ok=True)
    (fetch / "src/lib.rs").touch()
    versions = "".join(f'{name} = "={CRATES[name][0]}"\n' for name in names)
    (fetch / "Cargo.toml").write_text(f'[package]\nname = "sources"\nedition = "2024"\n[workspace]\n[dependencies]\n{versions}')
    text = subprocess.run(["cargo", "metadata", "--format-version", "1"], cwd=fetch, check=True, capture_output=True).stdout
    packages = json.loads(text)["packages"]
    return {p["name"]: pathlib.Path(p["manifest_path"]).parent for p in packages if p["name"] in names}


def rename(manifest, more):
    """Puts furcate in the place of rayon."""

    def by_furcate(table):
        optional = "optional = true\n" if "optional = true" in table[0] else ""
        return f'[dependencies.rayon]\npackage = "furcate"\npath = "{ROOT}"\n{optional}\n'

    text, count = re.subn(r"\[dependencies\.rayon\]\n(?:[^\[\n].*\n)*", by_furcate, manifest.read_text())
    if count != 1:
        sys.exit(f"{manifest}: {count} dependencies on rayon, and one was expected")
    manifest.write_text(f"{text}\n{more}\n[workspace]\n")


def test(name, source):
    """Runs the crate's tests. Returns whether as many pass as should."""
    _, expected, arguments, more = CRATES[name]
    copy = FOLDER / name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy)
    rename(copy / "Cargo.toml", more)
    environment = {**os.environ, "CARGO_TARGET_DIR": str(FOLDER / "target"), "CARGO_PROFILE_TEST_DEBUG": "0", "RUSTFLAGS": "-Awarnings"}
    command = ["cargo", "test", "--no-fail-fast", *arguments]
    run = subprocess.run(command, cwd=copy, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    passed = sum(map(int, re.findall(r"^test result: \w+\. (\d+) passed", run.stdout, re.M)))
    if run.returncode == 0 and passed == expected:
        print(f"ok: {name}, {passed} tests", flush=True)
        return True
    print(run.stdout[-5000:])
    print(f"ci/renamed.py: {name}: {passed} tests have passed, and {expected} should", file=sys.stderr)
    return False


def main():
    names = sys.argv[1:] or list(CRATES)
    unknown = [name for name in names if name not in CRATES]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(CRATES)}")
    folders = sources(names)
    sys.exit(0 if all([test(name, folders[name]) for name in names]) else 1)


if __name__ == "__main__":
    main()
