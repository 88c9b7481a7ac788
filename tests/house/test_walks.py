"""The changes that CONTRIBUTING describes, made in a copy of the tree: its chapters name each file, the guards pass.

A walk is a file of `walks/`; `walk.py` beside it has its fields.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
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
    assert not [file for file in walk.changed if file.startswith("bot/language/")]


@each_walk
def test_a_copy_with_the_change_passes_the_guards(walk: Walk, tmp_path: Path) -> None:
    copy = copy_of(ROOT, tmp_path / "yardmaster")
    walk.make(copy)
    python = [file for file in walk.changed if file.endswith(".py")]
    for command in (
        *(["python", "-m", module] for module in walk.generate),
        ["ruff", "check", "--no-cache", *python],
        ["ruff", "format", "--no-cache", "--check", *python],
        ["lint-imports"],
        guards_of(walk, copy),
    ):
        ran = run(copy, command)
        assert ran.returncode == 0, f"{' '.join(command)}\n{said(ran)}"


@pytest.mark.parametrize("walk", [walk for walk in WALKS if walk.forgotten], ids=lambda walk: walk.name)
def test_forgotten_files_are_named_by_a_guard(walk: Walk, tmp_path: Path) -> None:
    copy = copy_of(ROOT, tmp_path / "yardmaster")
    walk.make(copy, but=walk.forgotten)
    ran = run(copy, guards_of(walk, copy))
    assert ran.returncode == 1, said(ran)
    unsaid = [file for file, words in walk.forgotten.items() if words not in ran.stdout]
    assert not unsaid, said(ran)


def guards_of(walk: Walk, copy: Path) -> list[str]:
    """Return the command that runs the guards: those that are there, as the walk adds some of them."""
    guards = [guard for guard in walk.guards if (copy / guard).exists()]
    return ["python", *_PYTEST, "-k", walk.only, *guards]


def run(copy: Path, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a program of this environment on the copy."""
    program, *arguments = command
    return subprocess.run(
        [str(Path(sys.executable).with_name(program)), *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        timeout=MINUTES * 60,
        check=False,
    )


def said(ran: subprocess.CompletedProcess[str]) -> str:
    return f"{ran.stdout[-6000:]}{ran.stderr[-2000:]}"


_PYTEST = ("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not real")
