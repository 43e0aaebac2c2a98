#!/usr/bin/env python3
"""Builds each program on rayon and on furcate, runs the two in turn, checks that they print the same, and prints one table of medians."""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
PROGRAMS = {
    "mandelbrot": ["1000"],
    "nbody": ["2000", "20"],
    "word_index": ["--repeat", "5", *(str(REPOSITORY / path) for path in ("README.md", "adaptors/src", "book/src", "pool/src"))],
}


def build(target, features):
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", str(HERE / "Cargo.toml")]
    subprocess.run([*command, "--target-dir", str(target), *features], check=True)
    return target / "release"


def run(program, arguments):
    """The milliseconds, and what else the program prints."""
    text = subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
    first, rest = text.split("\n", 1)
    return float(first.split()[1]), rest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="runs of each program on each library (default: 9)")
    rounds = parser.parse_args().rounds
    if rounds < 1:
        parser.error("--rounds must be at least 1")
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    libraries = {"rayon": build(target / "ported-rayon", ["--features", "rayon"]), "furcate": build(target / "ported", [])}
    print("| program | rayon, ms | furcate, ms | furcate : rayon |\n|---|---|---|---|")
    for program, arguments in PROGRAMS.items():
        times = {library: [] for library in libraries}
        for number in range(rounds):
            results = []
            # In turn, and each library first as often as the other.
            for library in list(libraries)[:: -1 if number % 2 else 1]:
                time, result = run(libraries[library] / program, arguments)
                times[library].append(time)
                results.append(result)
            if results[0] != results[1]:
                sys.exit(f"{program}: the two libraries give different results:\n{results[0]}\n{results[1]}")
        rayon, furcate = (statistics.median(times[library]) for library in libraries)
        ratios = sorted(ours / theirs for ours, theirs in zip(times["furcate"], times["rayon"]))
        print(f"| {program} | {rayon:.1f} | {furcate:.1f} | {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) |")


if __name__ == "__main__":
    main()
