"""Walks: changes to the program as a newcomer makes them, as data."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
import yaml

from tests.house.conftest import tracked

FOLDER = Path(__file__).parent
_PLACEHOLDER = re.compile(r"<[a-z_]+>")


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Lines put into a file: right below the only line that has the text `below`, or else at the end."""

    file: str
    lines: str
    below: str = ""

    def make(self, root: Path) -> None:
        path = root / self.file
        old = path.read_text(encoding="utf-8").splitlines(keepends=True)
        places = [number for number, line in enumerate(old, 1) if self.below in line] if self.below else [len(old)]
        assert len(places) == 1, f"{self.file}: {len(places)} lines have {self.below!r}"
        path.unlink()  # it may be a link to the original
        path.write_text("".join([*old[: places[0]], self.lines, *old[places[0] :]]), encoding="utf-8")


class Walk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change: new files, edits, the modules that generate tables, and the tests that must pass then.

    `chapters`: the headings of CONTRIBUTING that describe it. In a new file LAST_MIGRATION is the newest migration's number.
    """

    name: str
    chapters: tuple[str, ...]
    guards: tuple[str, ...]
    new: dict[str, str] = {}
    edits: tuple[Edit, ...] = ()
    generate: tuple[str, ...] = ()

    def make(self, root: Path) -> None:
        last = max(path.name[:4] for path in (root / "bot/store/migrations/versions").glob("[0-9]*.py"))
        for name, content in self.new.items():
            path = root / name
            assert not path.exists(), f"{name} is there already"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content.replace("LAST_MIGRATION", last), encoding="utf-8")
        for edit in self.edits:
            edit.make(root)


def load_walks() -> Sequence[Walk]:
    paths = sorted(FOLDER.glob("*.yaml"))
    return [
        msgspec.convert({"name": path.stem, **yaml.safe_load(path.read_text(encoding="utf-8"))}, Walk)
        for path in paths
    ]


def copy_of(root: Path, target: Path) -> Path:
    """Return a copy of the project's files; a file is a link where that is possible, so edits replace it."""
    for name in tracked():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(root / name, path)
        except OSError:  # another file system
            shutil.copy(root / name, path)
    return target


def unnamed(walk: Walk, contributing: str) -> list[str]:
    """Return the changed files that the walk's chapters do not name: whole, by folder, or with a placeholder."""
    named = [words for chapter in walk.chapters for words in _named(chapter, contributing)]
    return [
        file
        for file in (*walk.new, *dict.fromkeys(edit.file for edit in walk.edits))
        if not any(_names(words, file) for words in named)
    ]


def _named(chapter: str, contributing: str) -> list[str]:
    _, found, rest = contributing.partition(f"\n## {chapter}\n")
    assert found, f"CONTRIBUTING has no chapter {chapter!r}"
    return re.findall(r"`([^`\n]+)`", rest.partition("\n## ")[0])


def _names(words: str, file: str) -> bool:
    """Whether words in backticks name the file: `a/b.py`, `b.py`, `a/` or `a/<kind>/b.py`."""
    pattern = "[^/]+".join(map(re.escape, _PLACEHOLDER.split(words)))
    return re.search(rf"(?:^|/){pattern}" if words.endswith("/") else rf"(?:^|/){pattern}$", file) is not None
