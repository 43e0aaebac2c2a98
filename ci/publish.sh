#!/usr/bin/env bash
# The published crates can be uploaded: cargo packages each of them, in the order of their dependencies, and builds the package as its users
# will, against the packages before it. Packages with `publish = false` are left out. Needs cargo 1.90 or later, and the registry's index.
# Without `--dry-run` and `--allow-dirty`, the same command of cargo's publishes.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each package has its licenses, and a word for docs.rs; the changelog and the citation are up to date.
cargo metadata --locked --no-deps --format-version 1 | python3 -c '
import json, pathlib, re, sys
packages = [package for package in json.load(sys.stdin)["packages"] if package["publish"] != []]
for package in packages:
    folder = pathlib.Path(package["manifest_path"]).parent
    lacks = [file for file in ("LICENSE-APACHE", "LICENSE-MIT", "README.md") if not (folder / file).is_file()]
    lacks += [] if "docs" in (package["metadata"] or {}) else ["[package.metadata.docs.rs]"]
    if lacks:
        sys.exit("ci/publish.sh: {} lacks {}".format(package["name"], ", ".join(lacks)))

# The changelog and the citation name the version that is uploaded, and the same day.
version = packages[0]["version"]
changelog = re.search(r"^## \[(.+)\] - (.+)$", pathlib.Path("CHANGELOG.md").read_text(), re.M).groups()
citation = dict(re.findall(r"^(version|date-released): (.+)$", pathlib.Path("CITATION.cff").read_text(), re.M))
if changelog != (version, citation.get("date-released")) or citation.get("version") != version:
    sys.exit("ci/publish.sh: the version is {}, but CHANGELOG.md has {}, and CITATION.cff {}".format(version, changelog, citation))
print("ok:", version, *(package["name"] for package in packages))'

cargo publish --dry-run --workspace --locked --allow-dirty "$@"
