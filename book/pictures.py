#!/usr/bin/env python3
"""Draws the book's pictures: book/src/pictures/*.svg.

    book/pictures.py            writes the pictures
    book/pictures.py --check    fails if a committed picture differs from the one that this script draws

The division trees come from book/trees.txt, which the test `division_trees` compares with the trees that the library
makes. The chart of known programs shows values of the gallery's table in benches/README.md. The other pictures are drawn from the protocols
that their chapters describe.

One grammar for all pictures: the hue is the worker (blue, orange, green: workers 1, 2, 3). A strong color is a leaf or
a running job, a light one a divided part, a reduction, or a job that lies ready. Gray is waiting. Red is an event. A picture is
520 units wide, so that its text can be read on 400 pixels.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
PICTURES = HERE / "src" / "pictures"

WIDTH = 520
INK, GRAY, PALE, RED = "#222222", "#767676", "#e6e6e6", "#b3400c"
STRONG = {1: "#56b4e9", 2: "#e69f00", 3: "#35b78f"}
LIGHT = {1: "#c9e6f8", 2: "#fbe9c4"}
DARK = {1: "#00598c", 2: "#8a5a00", 3: "#00694c"}
# The widest common sans-serif font takes about this share of its size for a character.
CHARACTER = 0.6


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def number(x):
    return f"{x:.1f}".rstrip("0").rstrip(".")


class Picture:
    def __init__(self, name, height):
        self.name, self.height, self.parts = name, height, []
        self.words, self.segments = [], []

    def add(self, element):
        self.parts.append("  " + element)

    def rect(self, x, y, width, height, fill, stroke=INK, dashed=False, round=3, thick=1):
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.add(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" rx="{round}" '
            f'fill="{fill}" stroke="{stroke}" stroke-width="{thick}"{dash}/>'
        )

    def text(self, x, y, text, size=13, anchor="start", fill=INK, bold=False):
        """The baseline is a third of the size below y, so y is the middle of the line."""
        width = len(text) * size * CHARACTER * (1.08 if bold else 1)
        left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        assert 0 <= left and left + width * 0.95 <= WIDTH, f"{self.name}: {text!r} leaves the picture"
        self.words.append((left, y - size * 0.45, left + width * 0.95, y + size * 0.45, text))
        weight = ' font-weight="bold"' if bold else ""
        self.add(
            f'<text x="{number(x)}" y="{number(y + size * 0.35)}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{fill}"{weight}>{escape(text)}</text>'
        )

    def box(self, x, y, width, height, lines, fill, size=13, **style):
        """A rectangle with centered lines of text. The first line of several is bold."""
        lines = [lines] if isinstance(lines, str) else lines
        self.rect(x, y, width, height, fill, **style)
        for i, line in enumerate(lines):
            middle = y + height / 2 + (i - (len(lines) - 1) / 2) * (size + 3)
            self.text(x + width / 2, middle, line, size, "middle", bold=len(lines) > 1 and i == 0)

    def line(self, points, stroke=INK, dashed=False, thick=1.5):
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.segments += zip(points, points[1:])
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.add(f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="{thick}"{dash}/>')

    def arrow(self, points, stroke=INK, dashed=False, thick=1.5):
        (x0, y0), (x, y) = points[-2:]
        length = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5
        dx, dy = (x - x0) / length, (y - y0) / length
        self.line([*points[:-1], (x - 6 * dx, y - 6 * dy)], stroke, dashed, thick)
        corners = [(x, y), (x - 8 * dx - 4 * dy, y - 8 * dy + 4 * dx), (x - 8 * dx + 4 * dy, y - 8 * dy - 4 * dx)]
        path = " ".join(f"{number(a)},{number(b)}" for a, b in corners)
        self.add(f'<polygon points="{path}" fill="{stroke}"/>')

    def assert_legible(self):
        """No text overlaps another one, or a line."""
        for i, (left, top, right, bottom, text) in enumerate(self.words):
            for other in self.words[:i]:
                apart = other[2] <= left or right <= other[0] or other[3] <= top or bottom <= other[1]
                assert apart, f"{self.name}: {text!r} overlaps {other[4]!r}"
            for (x0, y0), (x1, y1) in self.segments:
                on_line = ((x0 + (x1 - x0) * i / 200, y0 + (y1 - y0) * i / 200) for i in range(201))
                crossed = any(left < x < right and top < y < bottom for x, y in on_line)
                assert not crossed, f"{self.name}: a line crosses {text!r}"

    def svg(self):
        self.assert_legible()
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}" '
                f'viewBox="0 0 {WIDTH} {self.height}" font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif">',
                f'  <rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{self.height - 1}" rx="8" fill="#ffffff" '
                'stroke="#cccccc"/>',
                *self.parts,
                "</svg>\n",
            ]
        )


# Division trees.


def read_trees():
    trees = {}
    for line in (HERE / "trees.txt").read_text().splitlines():
        call, parts = line.split(": ")
        parts = [re.fullmatch(r"(\d+)\.\.(\d+)(\*?)", part).groups() for part in parts.split()]
        trees[call] = [(int(first), int(last), bool(star)) for first, last, star in parts]
    return trees


TREES = read_trees()


def nodes(parts):
    """(first, last, depth, whether it is a leaf, worker) of each part. Parents stand before their children."""
    path, found = [], []
    for i, (first, last, stolen) in enumerate(parts):
        while path and path[-1] <= first:
            path.pop()
        leaf = i + 1 == len(parts) or parts[i + 1][0] >= last
        found.append((first, last, len(path), leaf, 2 if stolen else 1))
        path.append(last)
    return found


def tree(picture, call, x, y, width, row=24, size=12, labels=None):
    """Draws the tree, one row for each depth. Returns the y below it."""
    parts = nodes(TREES[call])
    start, end = parts[0][0], max(part[1] for part in parts)
    scale = width / (end - start)
    for first, last, depth, leaf, worker in parts:
        left, wide = x + (first - start) * scale, (last - first) * scale
        fill = (STRONG if leaf else LIGHT)[worker]
        picture.rect(left + 0.5, y + depth * row, wide - 1, row - 3, fill)
        label = (labels or {}).get((first, last), str(last - first))
        if len(label) * size * CHARACTER < wide - 4:
            picture.text(left + wide / 2, y + depth * row + (row - 3) / 2, label, size, "middle")
    return y + (1 + max(part[2] for part in parts)) * row


def legend(picture, x, y, entries):
    for fill, words, *thick in entries:
        picture.rect(x, y - 7, 18, 14, fill, thick=thick[0] if thick else 1)
        picture.text(x + 24, y, words, 12)
        x += 24 + len(words) * 12 * 0.55 + 16


PARTS = [(LIGHT[1], "divided"), (STRONG[1], "leaf"), (LIGHT[2], "stolen, divided"), (STRONG[2], "stolen leaf")]


def trees():
    rows = [
        ("no policy, two threads", "join_context_policy(3)"),
        ("bound_depth(2)", "size_limit(300)"),
        ("bound_depth(1).force_depth(2)", "bound_depth(1).even_levels()"),
        ("thief_splitting(1)", "size_limit(300).cap(2), two workers"),
    ]
    picture, y = Picture("trees", 444), 20
    for calls in rows:
        below = 0
        for call, x in zip(calls, (14, 269)):
            picture.text(x, y, call.removesuffix(", two workers"), 12, bold=True)
            below = max(below, tree(picture, call, x, y + 14, 237))
        y = below + 16
    legend(picture, 14, y + 2, PARTS[:2] + PARTS[3:])
    return picture


def with_notes(name, call, notes, height):
    picture = Picture(name, height)
    picture.text(14, 20, call, 13, bold=True)
    tree(picture, call, 14, 36, 290, 30, 13)
    for depth, note in enumerate(notes):
        picture.text(314, 36 + 30 * depth + 13.5, note, 12)
    return picture


def force_depth():
    notes = ["“would”, “must”: divided", "“may not”, “must”: divided", "“may not”: leaves"]
    return with_notes("force_depth", "bound_depth(1).force_depth(2)", notes, 136)


def even_levels():
    notes = ["depth 0: “would”", "depth 1: “may not”, “must”", "depth 2: “may not”"]
    return with_notes("even_levels", "bound_depth(1).even_levels()", notes, 136)


def even_merges():
    picture = Picture("even_merges", 136)
    picture.text(14, 20, "a sort with even levels, from the leaves up", 13, bold=True)
    tree(picture, "bound_depth(1).even_levels()", 14, 36, 290, 30, 13)
    for depth, note in enumerate(["merged into the slice", "merged into the buffer", "sorted in the slice"]):
        picture.text(314, 36 + 30 * depth + 13.5, note, 12)
    return picture


def cap():
    notes = ["the fork takes two tokens", "no token is left: leaves"]
    return with_notes("cap", "size_limit(300).cap(2), two workers", notes, 106)


def pair(name, calls, titles, height, labels=({}, {})):
    picture = Picture(name, height)
    below = 0
    for call, title, x, label in zip(calls, titles, (14, 269), labels):
        picture.text(x, 20, title, 13, bold=True)
        below = max(below, tree(picture, call, x, 34, 237, 28, 12, label))
    legend(picture, 14, below + 12, PARTS)
    return picture


def join_context():
    calls = ["join_context_policy(3)", "join_context_policy(3), right half stolen"]
    return pair("join_context_policy", calls, ["no part is stolen", "the right half is stolen"], 172)


def thief_splitting():
    calls = ["thief_splitting(1)", "thief_splitting(1), right half stolen"]
    plain = {(0, 1000): "1000 (counter 1)", (0, 500): "500 (0)", (500, 1000): "500 (0)"}
    stolen = {**plain, (500, 1000): "500 (again 1)", (500, 750): "250 (0)", (750, 1000): "250 (0)"}
    titles = ["no part is stolen", "the right half is stolen"]
    return pair("thief_splitting", calls, titles, 144, (plain, stolen))


def auto():
    picture = Picture("auto", 193)
    picture.text(14, 20, "a call within a job, two threads; the last part is stolen", 13, bold=True)
    below = tree(picture, "no policy, last part stolen", 14, 34, 490, 25, 12)
    picture.text(374, below - 24, "two more divisions", 12, "end", DARK[2])
    legend(picture, 14, below + 18, PARTS)
    return picture


# Schedulers.


def blocks():
    picture = Picture("blocks", 318)
    parts = nodes(TREES["bound_depth(1).by_exponential_blocks()"])
    x, scale, hit = 38, 468 / 62, 19
    left = lambda item: x + item * scale
    picture.text(38, 18, "items", 13)
    picture.arrow([(84, 18), (500, 18)])
    y, block = 34, 0
    for first, last, depth, leaf, _ in parts:
        if depth == 0:
            y, block = 34 + 52 * block, block + 1
            begun = first <= hit
            fill = LIGHT[1] if begun else "#ffffff"
            style = {} if begun else {"dashed": True, "stroke": GRAY}
            picture.rect(left(first) + 0.5, y, (last - first) * scale - 1, 19, fill, **style)
            label = f"block {block}: {last - first} items"
            if block < 5:
                picture.text(left(last) + 8, y + 20, label if block < 4 else "block 4 has the hit", 12)
            else:
                picture.text((left(first) + left(last)) / 2, y + 10, "block 5 is never begun", 12, "middle")
                break
        else:
            right = any(other[1] == last and other[2] == 0 for other in parts)
            picture.rect(left(first) + 0.5, y + 22, (last - first) * scale - 1, 19, STRONG[2 if right else 1])
    picture.line([(left(hit) + scale / 2, 184), (left(hit) + scale / 2, 240)], RED, thick=2)
    picture.text(left(hit) + scale / 2, 250, "hit", 13, "middle", RED, bold=True)
    picture.arrow([(20, 34), (20, 268)])
    picture.text(10, 284, "time", 13)
    legend(picture, 72, 302, [(LIGHT[1], "block"), (STRONG[1], "left half: worker 1"), (STRONG[2], "right half: worker 2")])
    return picture


def adaptive():
    picture = Picture("adaptive", 232)
    unit, start = 6.2, 84
    lanes = {1: 40, 2: 100, 3: 160}
    for worker, y in lanes.items():
        picture.text(12, y + 13, f"worker {worker}", 13, fill=DARK[worker], bold=True)

    def steps(worker, x, sizes):
        for size in sizes:
            wide = max(size * unit, 9) - 1
            picture.rect(x, lanes[worker], wide, 26, STRONG[worker], round=2)
            if wide > 7:
                picture.text(x + wide / 2, lanes[worker] + 13, str(size), 11, "middle")
            x += wide + 1
        return x

    # The times of the cuts: behind the steps of 1, 2, 4, 8 and 16 items.
    cut, again = start + 9 + 2 * unit + 4 * unit + 8 * unit, start + 9 + 30 * unit + 3
    for x, worker in ((cut + 1, 2), (again + 1, 3)):
        picture.line([(x, 30), (x, 66)], RED, thick=2)
        picture.arrow([(x, 66), (x, lanes[worker] + 13), (x + 22, lanes[worker] + 13)], DARK[worker], thick=2)
        picture.text(x, 18, f"worker {worker} asks", 12, "middle", RED)
    steps(1, start, [1, 2, 4, 8])
    steps(1, cut + 3, [16])
    steps(1, again + 3, [1, 2, 4, 8, 16])
    steps(2, cut + 24, [1, 2, 4, 8, 16, 16])
    steps(3, again + 24, [1, 2, 4, 8])
    picture.text(again - 5, 138, "steals the right half", 12, "end", DARK[2])
    picture.text(again + 26, 198, "steals the right half", 12, fill=DARK[3])
    picture.text(12, 216, "time", 13)
    picture.arrow([(50, 216), (500, 216)])
    return picture


def joins():
    picture = Picture("joins", 372)
    picture.text(14, 18, "a division tree: worker 2 steals the right half", 13, bold=True)
    labels = {(0, 250): "leaf 1", (250, 500): "leaf 2", (500, 750): "leaf 3", (750, 1000): "leaf 4"}
    tree(picture, "bound_depth(2), right half stolen", 84, 32, 420, 25, 12, labels)

    def panel(y, title):
        picture.text(14, y, title, 13, bold=True)
        for worker in (1, 2):
            picture.text(14, y + 32 + 38 * (worker - 1), f"worker {worker}", 12, fill=DARK[worker], bold=True)

        def put(worker, x, end, label, kind="leaf"):
            top = y + 18 + 38 * (worker - 1)
            fill = {"leaf": STRONG[worker], "reduce": LIGHT[worker], "wait": PALE, "other": "#ffffff"}[kind]
            picture.box(x, top, end - x - 2, 28, label, fill, 12, thick=2 if kind == "reduce" else 1,
                        dashed=kind in ("wait", "other"), stroke=GRAY if kind in ("wait", "other") else INK)

        return put

    titles = ["join: the worker that has forked reduces", "depjoin: the last finisher reduces"]
    for y, title, depjoin in zip((134, 244), titles, (False, True)):
        put = panel(y, title)
        put(1, 84, 144, "leaf 1")
        put(1, 144, 204, "leaf 2")
        put(1, 204, 250, "1 + 2", "reduce")
        put(2, 110, 180, "leaf 3")
        put(2, 180, 280, "leaf 4")
        put(2, 280, 326, "3 + 4", "reduce")
        if depjoin:
            put(1, 250, 420, "looks for other work", "other")
            put(2, 326, 404, "1+2 + 3+4", "reduce")
        else:
            put(1, 250, 350, "waits", "wait")
            put(1, 350, 428, "1+2 + 3+4", "reduce")
    picture.text(14, 356, "time", 13)
    picture.arrow([(50, 356), (190, 356)])
    legend(picture, 214, 356, [(STRONG[1], "leaf"), (LIGHT[1], "reduction", 2), (PALE, "waiting")])
    return picture


def chain():
    picture = Picture("chain", 292)
    boxes = [("what", "source, map, filter"), ("when", "policy"), ("how", "scheduler"), ("where", "executor")]
    for (title, words), x, wide in zip(boxes, (14, 178, 290, 402), (152, 100, 100, 104)):
        picture.text(x + wide / 2, 20, title, 13, "middle", bold=True)
        picture.box(x, 34, wide, 40, words, LIGHT[1], 13)
    picture.rect(14, 118, 492, 160, "#ffffff", GRAY, round=6)
    picture.text(26, 134, "at each node:", 12)
    picture.arrow([(90, 76), (90, 116)])
    picture.text(98, 98, "producer", 12)
    picture.arrow([(228, 76), (228, 148)])
    picture.arrow([(340, 76), (340, 116)])
    picture.text(348, 98, "runs", 12)
    picture.arrow([(454, 76), (454, 218)])
    picture.box(178, 150, 100, 36, "divide?", LIGHT[1], 13)
    picture.box(40, 220, 160, 40, "fold the leaf", STRONG[1], 13)
    picture.box(250, 220, 236, 40, "fork both halves, reduce in order", LIGHT[1], 12)
    picture.arrow([(176, 168), (120, 168), (120, 218)])
    picture.text(128, 196, "no", 12)
    picture.arrow([(280, 168), (340, 168), (340, 218)])
    picture.text(348, 196, "yes", 12)
    return picture


def scan():
    picture = Picture("scan", 262)
    wide, gap = 58, 10
    tasks = [(1, "abc"), (2, "de"), (3, "fgh")]

    def cells(y, title, values, fill):
        picture.text(14, y, title, 13, bold=True)
        x, done = 14, ""
        for worker, items in tasks:
            for i in range(len(items)):
                picture.box(x, y + 13, wide - 3, 28, values(done, items, i), fill[worker], 11)
                x += wide
            x, done = x + gap, done + items

    cells(20, "items", lambda done, items, i: items[i], {1: "#ffffff", 2: "#ffffff", 3: "#ffffff"})
    cells(80, "1. each task scans alone, in parallel", lambda done, items, i: items[: i + 1], STRONG)
    picture.text(14, 140, "2. the totals in turn, one operation per task", 13, bold=True)
    x = 14
    for worker, items in tasks:
        before = "abcde"[: {1: 0, 2: 3, 3: 5}[worker]]
        words = f"before: {before}" if before else "nothing before"
        picture.box(x, 153, wide * len(items) - 3, 28, words, LIGHT[1], 11)
        x += wide * len(items) + gap
    cells(202, "3. handed out, in parallel", lambda done, items, i: done + items[: i + 1], STRONG)
    return picture


# The pool.


def turns():
    picture = Picture("turns", 232)
    for i, word in enumerate(("worker 1", "worker 2", "the slot")):
        picture.text(12, 74 + 46 * i, word, 13, fill=DARK[i + 1] if i < 2 else INK, bold=True)

    def put(lane, x, end, words, fill, **style):
        picture.box(x, 60 + 46 * lane, end - x - 2, 28, words, fill, 12, **style)

    waits = {"dashed": True, "stroke": GRAY}
    put(0, 84, 300, "report", STRONG[1])
    put(0, 300, 372, "waits", PALE, **waits)
    put(0, 372, 506, "report", STRONG[1])
    put(1, 84, 146, "parked", PALE, **waits)
    put(1, 146, 296, "watcher: looks", LIGHT[2])
    put(1, 300, 372, "tasks", STRONG[2])
    put(1, 372, 506, "watcher", LIGHT[2])
    put(2, 84, 300, "worker 1", LIGHT[1])
    put(2, 300, 372, "worker 2", LIGHT[2])
    put(2, 372, 506, "worker 1", LIGHT[1])
    marks = [(146, "a task is woken", "middle", 18), (262, "overdue: asks", "middle", 18)]
    marks += [(300, "next fork", "start", 36), (372, "after 1 ms", "start", 18)]
    for x, words, anchor, y in marks:
        picture.line([(x, y + 8), (x, 58 if x > 280 else 104)], RED, thick=2)
        picture.text(x, y, words, 12, anchor, RED)
    picture.text(12, 214, "time", 13)
    picture.arrow([(50, 214), (506, 214)])
    return picture


def deque():
    picture = Picture("deque", 430)
    x0, wide, high = 30, 46, 30

    def strip(y, shared, private, marked=None):
        left = x0
        for count, worker in ((shared, 2), (private, 1)):
            if count:
                picture.rect(left - 3, y - 5, count * wide + 4, high + 10, LIGHT[worker], GRAY, round=5)
                words = {2: "shared", 1: "private"}[worker]
                picture.text(left + count * wide / 2, y - 15, words, 12, "middle", DARK[worker], bold=True)
            for i in range(count):
                style = {"stroke": RED, "thick": 3} if i == marked else {}
                picture.box(left + 2, y, wide - 6, high, "job", "#ffffff", 12, **style)
                left += wide
            left += 4
        return left

    # Both parts.
    y = 52
    right = strip(y, 3, 4)
    split = x0 + 3 * wide + 1
    for x, word in ((x0, "top"), (split, "split"), (right - 6, "bottom")):
        picture.line([(x, y + 37), (x, y + 45)])
        picture.text(x, y + 54, word, 12, "middle" if x > 40 else "start", bold=True)
    picture.arrow([(64, y + 38), (64, y + 84)], DARK[2], thick=2)
    picture.text(30, y + 94, "a thief takes the oldest job:", 12, fill=DARK[2])
    picture.text(30, y + 110, "one compare-and-swap", 12, fill=DARK[2])
    picture.arrow([(right + 4, y + 9), (right + 36, y + 9)], DARK[1], thick=2)
    picture.arrow([(right + 36, y + 22), (right + 4, y + 22)], DARK[1], thick=2)
    picture.text(right + 42, y + 8, "pop, push:", 12, fill=DARK[1])
    picture.text(right + 42, y + 24, "plain stores", 12, fill=DARK[1])
    # A request.
    y = 214
    picture.line([(14, y - 36), (506, y - 36)], "#cccccc")
    right = strip(y, 0, 4)
    picture.text(right + 8, y - 2, "request split: the thief sets a flag;", 12, fill=DARK[2])
    picture.text(right + 8, y + 16, "at its next push the owner", 12, fill=DARK[1])
    picture.text(right + 8, y + 32, "publishes its jobs", 12, fill=DARK[1])
    picture.arrow([(x0 + 90, y + 38), (x0 + 90, y + 60)], DARK[1], thick=2)
    y = 298
    right = strip(y, 3, 2)
    # A steal of a private job.
    y = 380
    picture.line([(14, y - 36), (506, y - 36)], "#cccccc")
    right = strip(y, 0, 4, 0)
    picture.text(right + 8, y - 14, "steal private: no push for 5 µs;", 12, fill=DARK[2])
    picture.text(right + 8, y + 2, "the thief marks the oldest job,", 12, fill=DARK[2])
    picture.text(right + 8, y + 18, "passes a heavy fence, checks", 12, fill=DARK[2])
    picture.text(right + 8, y + 34, "the job, and takes it", 12, fill=DARK[2])
    return picture


def workers():
    picture = Picture("workers", 372)
    picture.rect(8, 10, 504, 100, LIGHT[1], GRAY, round=6)
    picture.text(260, 25, "holds one of the n slots", 13, "middle", DARK[1], bold=True)
    picture.rect(8, 232, 504, 130, PALE, GRAY, round=6)
    picture.text(260, 247, "holds no slot", 13, "middle", bold=True)
    picture.box(18, 42, 206, 54, "running a job", STRONG[1], 14)
    picture.box(330, 42, 172, 54, "searching", "#ffffff", 14)
    picture.arrow([(226, 58), (328, 58)])
    picture.text(276, 48, "no job is left", 12, "middle")
    picture.arrow([(328, 80), (226, 80)])
    picture.text(276, 92, "finds a job", 12, "middle")
    below = [(18, "blocked", "in a wait"), (142, "watcher", "at most one"), (266, "parked", "asleep")]
    for x, *lines in [*below, (390, "timed searcher", "at most one")]:
        picture.box(x, 264, 112, 48, lines, "#ffffff", 12)

    def up_or_down(x, up, *words, fill=INK, y=160):
        picture.arrow([(x, 262), (x, 98)] if up else [(x, 98), (x, 262)])
        for i, word in enumerate(words):
            picture.text(x + 6, y + 16 * i, word, 12, fill=fill)

    up_or_down(34, False, "must wait")
    up_or_down(110, True, "gets a slot", y=184)
    up_or_down(204, True, "gets a slot:", "runs queued", "jobs", y=144)
    up_or_down(334, False, "finds", "none", y=130)
    up_or_down(376, True, "notified", fill=RED, y=200)
    up_or_down(440, False, "finds", "none,", "last", y=130)
    up_or_down(492, True)
    picture.text(486, 204, "job", 12, "end")
    picture.arrow([(300, 314), (300, 332), (198, 332), (198, 314)])
    picture.text(208, 348, "jobs queued, no slot free", 12, "middle")
    picture.arrow([(446, 314), (446, 332), (344, 332), (344, 314)])
    picture.text(412, 348, "no job for 20 ms", 12, "middle")
    return picture


# Waiting.


def task():
    picture = Picture("task", 268)
    picture.box(20, 40, 130, 52, ["running", "with a worker"], STRONG[1], 13)
    picture.box(316, 40, 170, 52, ["idle", "no worker, no queue"], PALE, 13)
    picture.box(350, 160, 150, 52, ["scheduled", "in a stealable set"], LIGHT[2], 13)
    picture.box(20, 190, 130, 52, ["done", "future is dropped"], "#ffffff", 13)
    picture.text(14, 16, "first poll", 12)
    picture.arrow([(44, 24), (44, 38)])
    picture.arrow([(152, 58), (314, 58)])
    picture.text(233, 46, "pending: suspend", 12, "middle")
    picture.arrow([(470, 94), (470, 158)])
    picture.text(462, 126, "wake", 12, "end", RED, bold=True)
    picture.arrow([(348, 174), (240, 174), (120, 94)])
    picture.text(208, 128, "resume: a worker", 12)
    picture.text(222, 144, "finds the task", 12)
    picture.arrow([(60, 94), (60, 188)])
    picture.text(68, 130, "ready:", 12)
    picture.text(68, 146, "fold", 12)
    picture.arrow([(430, 214), (430, 230), (152, 230)], GRAY, True)
    picture.line([(334, 94), (334, 230)], GRAY, True)
    picture.text(270, 244, "cancelled: item left out", 12, "middle", GRAY)
    return picture


def deque_life():
    picture = Picture("deque_life", 312)
    picture.box(20, 20, 110, 52, ["free", "in a list"], "#ffffff", 13)
    picture.box(20, 150, 140, 52, ["active", "of one worker"], STRONG[1], 13)
    picture.box(340, 20, 160, 52, ["suspended", "its task waits"], PALE, 13)
    picture.box(340, 130, 160, 52, ["resumable", "its task is woken"], LIGHT[2], 13)
    picture.box(340, 240, 160, 52, ["muggable", "a rest and the task"], LIGHT[2], 13)
    picture.arrow([(44, 74), (44, 148)])
    picture.text(50, 92, "needed", 12)
    picture.arrow([(100, 148), (100, 74)])
    picture.text(106, 128, "empty", 12)
    picture.arrow([(140, 148), (250, 46), (338, 46)])
    picture.text(150, 30, "the task waits, and", 12)
    picture.text(150, 46, "jobs are left", 12)
    picture.arrow([(420, 74), (420, 128)])
    picture.text(428, 100, "wake", 12, "start", RED, bold=True)
    picture.arrow([(420, 184), (420, 238)])
    picture.text(412, 202, "a thief steals", 12, "end")
    picture.text(412, 218, "the oldest job", 12, "end")
    picture.arrow([(338, 266), (90, 266), (90, 204)])
    picture.text(98, 238, "a worker mugs: takes", 12)
    picture.text(98, 254, "the whole deque", 12)
    return picture


def back_pressure():
    picture = Picture("back_pressure", 232)
    picture.text(14, 20, "pipeline with max_in_flight(6)", 13, bold=True)
    picture.box(14, 62, 86, 60, ["source", "held back"], "#ffffff", 12, dashed=True)
    picture.rect(128, 40, 260, 104, "#ffffff", INK, round=6, thick=2)
    picture.box(420, 62, 86, 60, ["sink", "next: item 7"], "#ffffff", 12)
    kinds = {12: STRONG[2], 11: PALE, 10: PALE, 9: STRONG[1], 8: "#ffffff", 7: "#ffffff"}
    for i, (item, fill) in enumerate(kinds.items()):
        x = 136 + i * 41
        picture.box(x, 72, 36, 40, str(item), fill, 13, dashed=fill == PALE)
    picture.text(258, 56, "6 items are under way", 12, "middle")
    picture.text(258, 130, "no queue lies between them", 12, "middle")
    picture.line([(102, 92), (126, 92)], RED, thick=2)
    picture.line([(114, 78), (114, 106)], RED, thick=4)
    picture.arrow([(382, 92), (418, 92)], thick=2)
    picture.text(14, 164, "Item 13 leaves the source when the sink is done with item 7.", 12)
    legend(picture, 14, 190, [(STRONG[1], "in a stage: worker 1"), (STRONG[2], "in a stage: worker 2")])
    legend(picture, 14, 214, [(PALE, "suspended in a stage"), ("#ffffff", "ready, waits for its turn at the sink")])
    return picture


# Figures.


# Programs of the gallery's table, in the order of the chart.
KNOWN = ["crawl", "game_of_life", "unbalanced_tree_search", "find_first", "comparison_sort", "spanning_forest"]


def read_gallery():
    """Furcate's time over rayon's, for each program of the table in benches/README.md."""
    text = (HERE.parent / "benches" / "README.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| \w+ \|(?: [\w. ]+ \|){4} (\d+\.\d+) \(", text, re.MULTILINE)
    return {program: float(ratio) for program, ratio in rows}


def known_programs():
    ratios = read_gallery()
    assert all(program in ratios for program in KNOWN), "benches/README.md: the gallery's table lacks a program of the chart"
    picture = Picture("known-programs", 244)
    picture.text(14, 20, "furcate's time over rayon's, on two cores", 13, bold=True)
    left, scale, row = 184, 220, 30
    for i, program in enumerate(KNOWN):
        middle, ratio = 66 + row * i, ratios[program]
        picture.text(left - 10, middle, program, 12, "end")
        picture.rect(left, middle - 10, ratio * scale, 20, STRONG[1])
        beside = max(ratio, 1) if ratio > 0.8 else ratio  # right of the line
        picture.text(left + beside * scale + 6, middle, f"{ratio:.2f}", 12)
    for x, words in ((left, "0"), (left + scale, "rayon = 1")):
        picture.line([(x, 50), (x, 54 + row * len(KNOWN))], GRAY, dashed=x > left)
        picture.text(x, 40, words, 12, "middle", GRAY)
    return picture


ALL = [trees, auto, force_depth, even_levels, cap, join_context, thief_splitting, blocks, adaptive, joins, deque, workers]
ALL += [even_merges, chain, scan, turns, task, deque_life, back_pressure, known_programs]


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    drawn = {f"{picture.name}.svg": picture.svg() for picture in (draw() for draw in ALL)}
    if not check:
        PICTURES.mkdir(exist_ok=True)
        for name, svg in drawn.items():
            (PICTURES / name).write_text(svg)
        return
    # The others are traces of real runs, and charts of simulated ones. `cargo run --release -p furcate-trace --example pictures` draws
    # trace-sort and trace-find-first. The chapters on the first hour and on many cores have the commands of the rest.
    others = ("trace-", "simulated-")
    committed = {path.name: path.read_text() for path in PICTURES.glob("*.svg") if not path.name.startswith(others)}
    stale = sorted(name for name in drawn.keys() | committed.keys() if drawn.get(name) != committed.get(name))
    chapters = "".join(path.read_text() for path in (HERE / "src").glob("*.md"))
    unused = sorted(name for name in drawn if f"(pictures/{name})" not in chapters)
    if stale:
        sys.exit(f"{', '.join(stale)}: not as book/pictures.py draws them; run it, and commit the pictures")
    if unused:
        sys.exit(f"{', '.join(unused)}: no chapter shows them")


main()
