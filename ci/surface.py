#!/usr/bin/env python3
"""Which public items of rayon's furcate has.

Rustdoc lists the public items of both libraries as JSON. The names are compared: modules, types, functions, and the
methods of traits and types. Bounds and results are checked by tests that compile against both libraries.

    ci/surface.py           writes book/src/rayon-surface.md
    ci/surface.py --check   fails if that page is not up to date, or if an item is missing without a reason

The reasons are in ci/surface.txt: a line for each item or group of items, `differs PATTERN: reason` or `not PATTERN: reason`.
"""

import fnmatch
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "surface"
PAGE = ROOT / "book/src/rayon-surface.md"
REASONS = ROOT / "ci/surface.txt"
# With the features that have items of rayon's.
PACKAGES = {
    "rayon": [],
    "rayon-core": [],
    "furcate-pool": [],
    "furcate-rayon": [],
    "furcate-schedulers": [],
    "furcate-adaptors": ["--features", "rayon"],
    "furcate": ["--features", "rayon"],
}
KINDS = {
    "struct": "type", "enum": "type", "union": "type", "type_alias": "type",
    "trait": "trait", "function": "function", "macro": "macro", "constant": "constant",
}


def document():
    """Writes the JSON of all packages. It is an unstable output of rustdoc's, which stable compilers have, too, if they are told so."""
    for package, features in PACKAGES.items():
        subprocess.run(
            ["cargo", "rustdoc", "--quiet", "--locked", "--lib", "-p", package, *features, "--target-dir", str(TARGET),
             "--", "-Z", "unstable-options", "--output-format", "json"],
            cwd=ROOT, check=True, env={**os.environ, "RUSTC_BOOTSTRAP": "1", "RUSTDOCFLAGS": ""},
        )


class Crates:
    """The JSON of several crates, with re-exports followed from one to the other."""

    def __init__(self):
        self.docs = {}
        for package in PACKAGES:
            name = package.replace("-", "_")
            doc = json.loads((TARGET / "doc" / f"{name}.json").read_text())
            self.docs[name] = doc
        self.by_path = {}
        for name, doc in self.docs.items():
            for id, summary in doc["paths"].items():
                if summary["crate_id"] == 0:
                    self.by_path["::".join(summary["path"])] = (name, id)

    def item(self, crate, id):
        """The item of an id, which may be in another crate; `None` if it is in none of ours."""
        doc = self.docs[crate]
        if str(id) in doc["index"]:
            return crate, doc["index"][str(id)]
        summary = doc["paths"].get(str(id))
        if summary is None:
            return None
        place = self.by_path.get("::".join(summary["path"]))
        return place and (place[0], self.docs[place[0]]["index"][place[1]])

    def surface(self, crate):
        """Public paths under a crate, each with the kind of the item."""
        found = {}
        self.walk(crate, self.docs[crate]["index"][str(self.docs[crate]["root"])], [], found, set())
        return found

    def walk(self, crate, module, path, found, seen):
        if (crate, module["id"]) in seen:
            return
        seen = seen | {(crate, module["id"])}
        for id in module["inner"]["module"]["items"]:
            item = self.docs[crate]["index"].get(str(id))
            if item is None:
                continue
            place, name = (crate, item), item["name"]
            if "use" in item["inner"]:
                use = item["inner"]["use"]
                name = use["name"]
                place = use["id"] is not None and self.item(crate, use["id"])
                if not place:
                    found["::".join([*path, name])] = "elsewhere"
                    continue
                if use["is_glob"]:
                    self.walk(*place, path, found, seen)
                    continue
            self.add(*place, [*path, name], found, seen)

    def add(self, crate, item, path, found, seen):
        (kind, inner), = item["inner"].items()
        if kind == "module":
            if path[-1] != "prelude":
                self.walk(crate, item, path, found, seen)
            return
        if kind not in KINDS:
            return
        found["::".join(path)] = KINDS[kind]
        members = list(inner.get("items", [])) if kind == "trait" else []
        if kind == "type_alias" and "resolved_path" in inner["type"]:
            target = self.item(crate, inner["type"]["resolved_path"]["id"])
            if target and "struct" in target[1]["inner"]:
                crate, (kind, inner) = target[0], next(iter(target[1]["inner"].items()))
        if kind in ("struct", "enum", "union"):
            for id in inner["impls"]:
                block = self.docs[crate]["index"].get(str(id))
                if block and block["inner"]["impl"]["trait"] is None:
                    members += block["inner"]["impl"]["items"]
        for id in members:
            member = self.docs[crate]["index"].get(str(id))
            if member and "function" in member["inner"] and (kind == "trait" or member["visibility"] == "public"):
                found["::".join([*path, member["name"]])] = "method"


def reasons():
    rules = []
    for line in REASONS.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            head, reason = line.split(": ", 1)
            verdict, pattern = head.split(" ", 1)
            rules.append((verdict, pattern, reason))
    return rules


def compare():
    """Rows `(path, kind, verdict, reason)` of all items of rayon's, and the rules that hold for no item."""
    crates = Crates()
    theirs, ours = crates.surface("rayon"), crates.surface("furcate")
    # A method of one trait may be one of another trait here.
    methods = {path.rsplit("::", 1)[1] for path, kind in ours.items() if kind == "method" and path.startswith("iter::")}
    rules, used, rows = reasons(), set(), []
    for path, kind in sorted(theirs.items()):
        rule = next((rule for rule in rules if fnmatch.fnmatchcase(path, rule[1])), None)
        have = path in ours
        if not have and kind == "method" and path.startswith("iter::"):
            have = path.rsplit("::", 1)[1] in methods and path.split("::")[1] in ("ParallelIterator", "IndexedParallelIterator")
        if have and not (rule and rule[0] == "differs"):
            rows.append((path, kind, "have", ""))
        else:
            used.add(rule)
            rows.append((path, kind, *((rule[0], rule[2]) if rule else ("not", ""))))
    return rows, [rule for rule in rules if rule not in used]


def page(rows):
    text = [
        "# Rayon's items, one by one", "",
        "This page is made by `ci/surface.py` from rustdoc's output for both libraries: every public item of rayon 1.12, and whether furcate has one of that name at that path.",
        "(Names are compared here. That results are equal, tests say: `compat/tests`.)", "",
        "| module | items | have | differ | not |", "|---|---|---|---|---|",
    ]
    # The modules of rayon's: lower-case names in front of an item's.
    modules = {}
    for row in rows:
        parts = row[0].split("::")
        module = "::".join(part for part in parts[:-1] if part[0].islower()) or "rayon"
        modules.setdefault(module, []).append(row)
    for module, items in sorted(modules.items()):
        count = [sum(row[2] == verdict for row in items) for verdict in ("have", "differs", "not")]
        text.append(f"| `{module}` | {len(items)} | " + " | ".join(map(str, count)) + " |")
    count = [sum(row[2] == verdict for row in rows) for verdict in ("have", "differs", "not")]
    text.append(f"| all | {len(rows)} | " + " | ".join(map(str, count)) + " |")
    for verdict, title in (("differs", "What differs"), ("not", "What is not there")):
        groups = {}
        for path, kind, row, reason in rows:
            if row == verdict:
                groups.setdefault(reason, []).append(path)
        text += ["", f"## {title}", "", "| items | why |", "|---|---|"]
        for reason, paths in groups.items():
            text.append("| " + ", ".join(f"`{path}`" for path in paths) + f" | {reason} |")
    return "\n".join(text) + "\n"


def main():
    document()
    rows, idle = compare()
    failed = False
    for path, kind, verdict, reason in rows:
        if verdict != "have" and not reason:
            print(f"ci/surface.py: rayon's {kind} `{path}` is missing; add it, or say why not in {REASONS.name}", file=sys.stderr)
            failed = True
    for verdict, pattern, _ in idle:
        print(f"ci/surface.py: the rule `{verdict} {pattern}` of {REASONS.name} holds for no item any more: remove it", file=sys.stderr)
        failed = True
    text = page(rows)
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text() != text:
            print(f"ci/surface.py: {PAGE.name} is not up to date: run ci/surface.py", file=sys.stderr)
            failed = True
    else:
        PAGE.write_text(text)
    sys.exit(failed)


if __name__ == "__main__":
    main()
