"""The changes that CONTRIBUTING describes, made in a copy of the tree: its chapter names each file, and the guards pass.

A walk is a file of `walks/`; `walk.py` beside it has its fields.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.conftest import ROOT
from tests.house.walks.walk import Walk, copy_of, load_walks, unnamed

WALKS = load_walks()
MINUTES = 5  # for the guards of one walk

each_walk = pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.name)


@each_walk
def test_the_chapter_names_each_file_that_is_changed(walk: Walk) -> None:
    assert unnamed(walk, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")) == []


@each_walk
def test_no_step_needs_chinese(walk: Walk) -> None:
    changed = [*walk.new, *(edit.file for edit in walk.edits)]
    assert not [file for file in changed if file.startswith("bot/language/")]


@each_walk
def test_a_copy_with_the_change_passes_the_guards(walk: Walk, tmp_path: Path) -> None:
    copy = copy_of(ROOT, tmp_path / "yardmaster")
    walk.make(copy)
    for command in (*(["-m", module] for module in walk.generate), ["-m", "pytest", *_PYTEST, *walk.guards]):
        ran = subprocess.run(
            [sys.executable, *command],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            timeout=MINUTES * 60,
            check=False,
        )
        assert ran.returncode == 0, f"{' '.join(command)}\n{ran.stdout[-4000:]}{ran.stderr[-2000:]}"


_PYTEST = ("-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not real")
