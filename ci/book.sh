#!/usr/bin/env bash
# Every relative link of the repository's Markdown files leads to a file, and every anchor to a heading. The book builds with mdBook, if that is
# installed. (Without it: `cargo install mdbook --locked`.)
set -euo pipefail
cd "$(dirname "$0")/.."

python3 - <<'CHECK'
import pathlib
import re
import subprocess
import sys
from urllib.parse import unquote

names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], check=True, capture_output=True, text=True).stdout.splitlines()
pages = [path for path in map(pathlib.Path, names) if path.is_file()]
errors, count = [], 0


def prose(path):
    """The lines outside of code blocks, with their numbers."""
    fence = None
    for at, line in enumerate(path.read_text().splitlines(), 1):
        mark = re.match(r"\s*(?:> ?)*(`{3,}|~{3,})", line)
        if mark and fence is None:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = None
        elif fence is None:
            yield at, line


def anchors(path):
    """The anchors of a page's headings, as GitHub and mdBook make them, and of its HTML elements."""
    found = set()
    for _, line in prose(path):
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
        if heading := re.match(r"#{1,6} +(.*?)[ #]*$", line):
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1])
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            same = anchor
            number = 0
            while same in found:
                number += 1
                same = f"{anchor}-{number}"
            found.add(same)
    return found


for page in pages:
    text = [(at, re.sub(r"(`+)(?:(?!\1).)+\1", "", line)) for at, line in prose(page)]
    for at, line in text:
        for link in re.findall(r"\]\(\s*<?([^)\s>]+)", line) + re.findall(r"^\[[^]]+\]:\s+<?([^\s>]+)", line):
            if re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue
            count += 1
            place, _, anchor = link.partition("#")
            target = page.parent / unquote(place) if place else page
            if not target.exists():
                errors.append(f"{page}:{at}: {link}: there is no such file")
            elif anchor and target.suffix == ".md" and unquote(anchor) not in anchors(target):
                errors.append(f"{page}:{at}: {link}: {target.name} has no heading of this anchor")

# A chapter that the contents lack is in no book.
book = pathlib.Path("book/src")
contents = (book / "SUMMARY.md").read_text()
errors += [
    f"book/src/SUMMARY.md: lacks {path.name}" for path in book.glob("*.md") if path.name != "SUMMARY.md" and f"({path.name})" not in contents
]
print("\n".join(errors))
print(f"{count} links of {len(pages)} pages: {len(errors)} lead nowhere")
sys.exit(bool(errors))
CHECK

if ! command -v mdbook >/dev/null; then
    echo "NOT CHECKED: that the book builds, because mdBook is not installed. Install it by \`cargo install mdbook --locked\`"
    exit
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# `build` empties its folder.
mdbook build book --dest-dir "$out/book" 2>&1 | tee "$out/log"
if grep -qE 'WARN|ERROR' "$out/log"; then
    echo "ci/book.sh: mdBook warns; mend what it names" >&2
    exit 1
fi
test -s "$out/book/first-hour.html"
