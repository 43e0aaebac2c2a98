#!/usr/bin/env bash
# The published crates can be uploaded: cargo packages each of them, in the order of their dependencies, and builds the package as its users
# will, against the packages before it. Packages with `publish = false` are left out. Needs cargo 1.90 or later, and the registry's index.
# Without `--dry-run` and `--allow-dirty`, the same command of cargo's publishes.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each package has its licenses, and a word for docs.rs.
cargo metadata --locked --no-deps --format-version 1 | python3 -c '
import json, pathlib, sys
packages = [package for package in json.load(sys.stdin)["packages"] if package["publish"] != []]
for package in packages:
    folder = pathlib.Path(package["manifest_path"]).parent
    lacks = [file for file in ("LICENSE-APACHE", "LICENSE-MIT", "README.md") if not (folder / file).is_file()]
    lacks += [] if "docs" in (package["metadata"] or {}) else ["[package.metadata.docs.rs]"]
    if lacks:
        sys.exit("ci/publish.sh: {} lacks {}".format(package["name"], ", ".join(lacks)))
print("ok:", *(package["name"] for package in packages))'

cargo publish --dry-run --workspace --locked --allow-dirty "$@"
