"""Each name in the product stands for one thing, so that a search finds it."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from tests.house.conftest import ROOT, tracked

PRODUCT = (
    "collectors/*.py",
    "alerts/*.py",
    "commands/*.py",
    "bot/*.py",
)
# Files with the same role in sibling folders may share a name; each with the folders' parent.
ROLES = {
    "__init__.py": "",
    "catalogue.py": "collectors",  # the list of checks, the list of kinds of training
    "client.py": "collectors/sources",  # the connection to one server
    "wire.py": "collectors/sources",  # the decoding of one server's responses
    "commands.py": "commands",  # the commands of one noun
    "notifier.py": "bot/channels",
    "opening.py": "bot/channels",  # of one kind of channel
    "options.py": "collectors/sources",  # of one source
    "undo_rules.py": "commands",  # of one noun
    "source.py": "collectors/sources",
    "diagnosis.py": "collectors/sources",
}

# Names that several modules define because the same part is looked for in each of them, with those modules.
SHARED = {
    "Call": "co[lm]*s/*",  # of a function in PromQL, and a kind of step
    "CHECKS": "collectors/check*.py",  # what the file adds to the catalogue
    "COMMANDS": "commands/*/*.py",  # likewise
    "KIND": "co*/training*/*.py",  # a kind of training: one reads it, one writes it
    "UNDOING": "commands/*/undo_rules.py",  # what the undo of a noun's commands needs
    "audit": "*/*/*.py",  # `yardmaster audit` asks for what `audit` in the chat answers
    "listing": "commands/*/*.py",  # `<noun> list`
    "show": "commands/*/*.py",  # `<noun> show`
    "upgrade": "bot/store/migrations/versions/*.py",  # Alembic calls it
}

KIND_OF_TRAINING = {"collectors/trainings", "commands/training"}  # one file that reads it, one that writes it


def defined_names(tree: ast.Module) -> Iterator[str]:
    """Public names at the module's top level: functions, classes, type aliases and constants."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                yield from (part.id for part in parts if isinstance(part, ast.Name))


def imported_names(path: Path, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (file, name) for each name of another module that this one uses."""
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                yield _file_of(node.module), one.name
                modules[one.asname or one.name] = f"{node.module}.{one.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield _file_of(modules[node.value.id]), node.attr


def _file_of(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def duplicate_names(modules: Mapping[Path, str]) -> dict[str, list[str]]:
    """Public names that more than one module defines, with those modules.

    A constant counts where another module imports it: what only its own module reads cannot be taken for another's.
    """
    trees = {path: ast.parse(text) for path, text in modules.items()}
    imported = {one for path, tree in trees.items() for one in imported_names(path, tree)}
    found: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
        types = {
            node.name for node in tree.body if not isinstance(node, ast.Assign) and hasattr(node, "name")
        }
        for name in dict.fromkeys(defined_names(tree)):
            is_constant = name not in types and (name.isupper() or name.islower())
            if not name.startswith("_") and (not is_constant or (str(path), name) in imported):
                found[name].append(str(path))
    return {name: files for name, files in found.items() if len(files) > 1}


def without_a_reason(duplicates: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The duplicates that SHARED does not allow in these files."""
    return {
        name: files
        for name, files in duplicates.items()
        if not all(fnmatchcase(path, SHARED.get(name, "")) for path in files)
    }


def duplicate_files(paths: Iterable[Path]) -> dict[str, list[str]]:
    """File names that are in more than one folder without the same role there."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        found[path.name].append(path)
    return {
        name: [str(path) for path in same]
        for name, same in found.items()
        if len(same) > 1
        and not all(_is_in_role(path) for path in same)
        and {str(path.parent) for path in same} != KIND_OF_TRAINING
    }


def _is_in_role(path: Path) -> bool:
    parent = ROLES.get(path.name)
    return parent is not None and (not parent or str(path.parent.parent) == parent)


@cache
def product() -> Mapping[Path, str]:
    return {path: (ROOT / path).read_text() for path in tracked(*PRODUCT)}


def test_no_public_name_is_defined_twice() -> None:
    assert without_a_reason(duplicate_names(product())) == {}


def test_each_shared_name_is_still_shared() -> None:
    assert SHARED.keys() - duplicate_names(product()).keys() == set()


def test_files_of_the_same_name_have_the_same_role() -> None:
    assert duplicate_files(tracked(*PRODUCT)) == {}


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        pytest.param("class Job: ...", "class Job: ...", True, id="two classes"),
        pytest.param("def line_of(): ...", "async def line_of(): ...", True, id="two functions"),
        pytest.param("Answer = str | None", "class Answer: ...", True, id="a type alias and a class"),
        pytest.param("PodKey = tuple[str, str]", "PodKey = tuple[str, str]", True, id="the same alias twice"),
        pytest.param("LIMIT, OTHER = 1, 2", "LIMIT: int = 2", True, id="two constants that others import"),
        pytest.param("EVERY = 1", "EVERY = 2", False, id="constants of one module each"),
        pytest.param("class _Own: ...", "class _Own: ...", False, id="private ones"),
        pytest.param("CHECKS = ()", "CHECKS = ()", True, id="a shared name outside its files"),
    ],
)
def test_a_duplicate_name_is_found(first: str, second: str, found: bool) -> None:
    modules = {
        Path("bot/a.py"): first,
        Path("bot/b.py"): second,
        Path("bot/c.py"): "from bot import a\nfrom bot.b import CHECKS, LIMIT\nprint(a.LIMIT, a.CHECKS)",
    }
    assert bool(without_a_reason(duplicate_names(modules))) is found


def test_a_duplicate_file_name_is_found() -> None:
    paths = [
        Path("bot/store/rows.py"),
        Path("commands/rows.py"),
        Path("commands/gpu/commands.py"),
        Path("commands/dns/commands.py"),
    ]
    assert duplicate_files(paths) == {"rows.py": ["bot/store/rows.py", "commands/rows.py"]}
