"""Guards of walks on a copy of the tree: `python -m tests.house.walks.guards [--generate] WALK…`, in the copy.

The program is imported once, for the tables that are generated; the guards of each walk run in a fork of that process,
which has the generated parts of the docs from it.
"""

import argparse
import contextlib
import os
import sys
from importlib import import_module

import pytest

from docs.generate import PARTS, part
from tests.house.walks.walk import Walk, load_walks

_PYTEST = (
    *("-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not real"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # the docs have a table of what tests record
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.house.walks.guards")
    parser.add_argument("--generate", action="store_true", help="generate the tables first")
    parser.add_argument("walks", nargs="+")
    given = parser.parse_args()
    walks = [walk for walk in load_walks() if walk.name in given.walks]
    for name in sorted({name for walk in walks for name in walk.generate}):
        module = import_module(name)
        if given.generate:
            module.main([])
    for name in PARTS:
        with contextlib.suppress(Exception):  # a guard says so, where something was forgotten
            part(name)
    for walk in walks:
        sys.stdout.write(f"{outcome_line(walk, _in_fork(walk))}\n")
    return 0


def outcome_line(walk: Walk, code: int) -> str:
    """Return the line that says how pytest ended: 0 if all guards passed, 1 if one failed."""
    return f"guards of {walk.name}: exit code {code}"


def _in_fork(walk: Walk) -> int:
    sys.stdout.flush()
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    code = 3  # pytest's own for an internal error
    try:
        code = int(pytest.main([*_PYTEST, "-k", walk.only, *walk.guards_that_are_there()]))
    finally:
        sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
