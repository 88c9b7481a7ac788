"""The changes that CONTRIBUTING describes, made in a copy of the tree: its chapters name each file, the guards pass.

A walk is a file of `walks/`; `walk.py` beside it has its fields. All are made in one copy, as nearly all of the time is
the import of the program.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.house.conftest import ROOT
from tests.house.walks.guards import outcome_line
from tests.house.walks.walk import Walk, copy_of, load_walks, unnamed

WALKS = load_walks()
MINUTES = 10  # for the guards of all walks
CHANGES = {
    "channel",
    "check",
    "command",
    "log-source",
    "row",
    "rule",
    "step",
    "store-back-end",
    "training-kind",
}

each_walk = pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.name)


def test_each_change_is_walked() -> None:
    assert {walk.name for walk in WALKS} == CHANGES


@each_walk
def test_the_chapter_names_each_file_that_is_changed(walk: Walk) -> None:
    assert unnamed(walk, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")) == []


@each_walk
def test_no_step_needs_chinese(walk: Walk) -> None:
    assert not [file for file in walk.changed if file.startswith("bot/language/")]


def test_a_copy_with_the_changes_passes_the_guards(tmp_path: Path) -> None:
    copy = copy_of(ROOT, tmp_path / "yardmaster")
    for walk in WALKS:
        walk.make(copy)
    python = sorted({file for walk in WALKS for file in walk.changed if file.endswith(".py")})
    for command in (
        ["ruff", "check", "--no-cache", *python],
        ["ruff", "format", "--no-cache", "--check", *python],
        ["lint-imports"],
    ):
        ran = run(copy, command)
        assert ran.returncode == 0, f"{' '.join(command)}\n{ran.stdout[-6000:]}{ran.stderr[-2000:]}"
    ran = run(copy, guards(WALKS, "--generate"))
    assert not unlike(WALKS, 0, ran), said(ran)


def test_forgotten_files_are_named_by_the_guards(tmp_path: Path) -> None:
    walks = [walk for walk in WALKS if walk.forgotten]
    copy = copy_of(ROOT, tmp_path / "yardmaster")
    for walk in walks:
        walk.make(copy, but=walk.forgotten)
    ran = run(copy, guards(walks))
    assert not unlike(walks, 1, ran), said(ran)
    unsaid = {file for walk in walks for file, words in walk.forgotten.items() if words not in ran.stdout}
    assert not unsaid, f"{unsaid}\n{said(ran)}"


def guards(walks: Sequence[Walk], *options: str) -> list[str]:
    return ["python", "-m", "tests.house.walks.guards", *options, *(walk.name for walk in walks)]


def unlike(walks: Sequence[Walk], code: int, ran: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the walks whose guards did not end with this exit code."""
    lines = ran.stdout.splitlines()
    return [walk.name for walk in walks if outcome_line(walk, code) not in lines]


def run(copy: Path, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a program of this environment on the copy."""
    program, *arguments = command
    return subprocess.run(
        [str(Path(sys.executable).with_name(program)), *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "PYTEST_ADDOPTS": ""},  # it has a root of its own
        capture_output=True,
        text=True,
        timeout=MINUTES * 60,
        check=False,
    )


def said(ran: subprocess.CompletedProcess[str]) -> str:
    """Return what failed, of all that was written."""
    return f"{''.join(_failures(ran.stdout))}{ran.stderr[-2000:]}"


def _failures(text: str) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        if line.startswith(("E  ", "FAILED", "ERROR", "guards of", "tests/")):
            yield line
