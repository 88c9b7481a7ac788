"""Walks: changes to the program as a newcomer makes them, as data."""

import re
import shutil
from collections.abc import Container, Sequence
from pathlib import Path

import msgspec

from tests.house.conftest import tracked
from tests.support.quick_yaml import from_yaml

FOLDER = Path(__file__).parent
_PLACEHOLDER = re.compile(r"<[a-z_]+>")


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of a file: `lines` right below the only line that has the text `below`, or at the end without one.

    With `instead_of`, they replace that text, which is there once.
    """

    file: str
    lines: str
    below: str = ""
    instead_of: str = ""

    def make(self, root: Path) -> None:
        path = root / self.file
        old = path.read_text(encoding="utf-8")
        path.write_text(self._changed(old), encoding="utf-8")

    def _changed(self, old: str) -> str:
        if self.instead_of:
            assert old.count(self.instead_of) == 1, f"{self.file} has not once {self.instead_of!r}"
            return old.replace(self.instead_of, self.lines)
        if not self.below:
            return old + self.lines
        lines = old.splitlines(keepends=True)
        places = [number for number, line in enumerate(lines, 1) if self.below in line]
        assert len(places) == 1, f"{self.file}: {len(places)} lines have {self.below!r}"
        return "".join([*lines[: places[0]], self.lines, *lines[places[0] :]])


class Copied(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a new file: another file's, with texts replaced."""

    copy_of: str
    replacing: dict[str, str] = {}

    def text(self, root: Path) -> str:
        content = (root / self.copy_of).read_text(encoding="utf-8")
        for old, new in self.replacing.items():
            assert old in content, f"{self.copy_of} has no {old!r}"
            content = content.replace(old, new)
        return content


class Walk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change: new files, edits, the modules that generate tables, and the tests that must pass then.

    `chapters`: the headings of CONTRIBUTING that describe it. `only`: which tests of the guards, as `pytest -k` reads
    it. `forgotten`: changed files, and what a guard says of each when these changes are left out.

    In a new file LAST_MIGRATION is the newest migration's number.
    """

    name: str
    chapters: tuple[str, ...]
    guards: tuple[str, ...]
    only: str = ""
    new: dict[str, str | Copied] = {}
    edits: tuple[Edit, ...] = ()
    generate: tuple[str, ...] = ()
    forgotten: dict[str, str] = {}

    @property
    def changed(self) -> tuple[str, ...]:
        return (*self.new, *dict.fromkeys(edit.file for edit in self.edits))

    def guards_that_are_there(self) -> list[str]:
        """Return the guards in this copy of the tree: the walk adds some of them, and one may be forgotten."""
        return [guard for guard in self.guards if Path(guard).exists()]

    def make(self, root: Path, *, but: Container[str] = ()) -> None:
        """Make the change, `but` some files stay as they are."""
        last = max(path.name[:4] for path in (root / "bot/store/migrations/versions").glob("[0-9]*.py"))
        for name, content in self.new.items():
            path = root / name
            assert not path.exists(), f"{name} is there already"
            if name in but:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            text = content.text(root) if isinstance(content, Copied) else content
            path.write_text(text.replace("LAST_MIGRATION", last), encoding="utf-8")
        for edit in self.edits:
            if edit.file not in but:
                edit.make(root)


def load_walks() -> Sequence[Walk]:
    paths = sorted(FOLDER.glob("*.yaml"))
    return [
        msgspec.convert({"name": path.stem, **from_yaml(path.read_text(encoding="utf-8"))}, Walk)
        for path in paths
    ]


def copy_of(root: Path, target: Path) -> Path:
    """Return a copy of the project's files, with what Python has compiled of them, which else takes a minute."""
    for name in tracked():
        compiled = (root / name).parent.glob(f"__pycache__/{name.stem}.*.pyc") if name.suffix == ".py" else ()
        for file in (root / name, *compiled):
            path = target / file.relative_to(root)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, path)  # what is compiled is valid for one time of change
    return target


def unnamed(walk: Walk, contributing: str) -> list[str]:
    """Return the changed files that the walk's chapters do not name: whole, by folder, or with a placeholder."""
    named = [words for chapter in walk.chapters for words in _named(chapter, contributing)]
    return [file for file in walk.changed if not any(_names(words, file) for words in named)]


def _named(chapter: str, contributing: str) -> list[str]:
    _, found, rest = contributing.partition(f"\n## {chapter}\n")
    assert found, f"CONTRIBUTING has no chapter {chapter!r}"
    return re.findall(r"`([^`\n]+)`", rest.partition("\n## ")[0])


def _names(words: str, file: str) -> bool:
    """Whether words in backticks name the file: whole, by its name, its folder, or with a `<kind>` in it."""
    pattern = "[^/]+".join(map(re.escape, _PLACEHOLDER.split(words)))
    return re.search(rf"(?:^|/){pattern}" if words.endswith("/") else rf"(?:^|/){pattern}$", file) is not None
