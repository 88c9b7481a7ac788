"""Each name in the product stands for one thing, so that a search finds it."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.house.conftest import ROOT, tracked

PRODUCT = ("collectors/*.py", "alerts/*.py", "commands/*.py", "bot/*.py")
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

KIND_OF_TRAINING = {"collectors/trainings", "commands/training"}  # one file that reads it, one that writes it


def duplicate_classes(modules: Mapping[Path, str]) -> dict[str, list[str]]:
    """Public classes that are defined in more than one module, with those modules."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, text in modules.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path))
    return {name: files for name, files in found.items() if len(files) > 1}


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


def test_no_public_class_name_is_defined_twice() -> None:
    assert duplicate_classes({path: (ROOT / path).read_text() for path in tracked(*PRODUCT)}) == {}


def test_files_of_the_same_name_have_the_same_role() -> None:
    assert duplicate_files(tracked(*PRODUCT)) == {}


def test_a_duplicate_class_name_is_found() -> None:
    modules = {
        Path("bot/a.py"): "class Job: ...\nclass _Own: ...\n",
        Path("bot/b.py"): "class Job: ...\nclass _Own: ...\n",
    }
    assert duplicate_classes(modules) == {"Job": ["bot/a.py", "bot/b.py"]}


def test_a_duplicate_file_name_is_found() -> None:
    paths = [
        Path("bot/store/rows.py"),
        Path("commands/rows.py"),
        Path("commands/gpu/commands.py"),
        Path("commands/dns/commands.py"),
    ]
    assert duplicate_files(paths) == {"rows.py": ["bot/store/rows.py", "commands/rows.py"]}
