"""A copy of the tree, for scripts that change its source and run the tests on it."""

import contextlib
import os
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def target(name):
    """The folder of that name for what cargo builds."""
    return os.path.join(os.path.abspath(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))), name)


@contextlib.contextmanager
def copied_tree():
    """A temporary folder with the files that git tracks."""
    with tempfile.TemporaryDirectory() as tree:
        for tracked in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")[:-1]:
            copy = os.path.join(tree, tracked)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy(os.path.join(ROOT, tracked), copy)
        yield tree
