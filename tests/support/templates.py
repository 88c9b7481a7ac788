"""The sentences of the code: templates with the place where each is written, and f-strings that are none yet."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.support.said_phrases import ROOT, modules

_BUILDERS = frozenset(["sentence", "counted"])


def templates(root: Path = ROOT) -> Mapping[tuple[str, str], str]:
    """Return each template and its plural, which may be empty, with the place of its first use."""
    found: dict[tuple[str, str], str] = {}
    for name, tree in modules(root):
        for line, forms in _built(tree):
            found.setdefault(forms, f"{name}:{line}")
    return found


def _built(tree: ast.Module) -> Iterator[tuple[int, tuple[str, str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _BUILDERS:
            given = [one.value for one in node.args if isinstance(one, ast.Constant)]
            words = [one for one in given if isinstance(one, str)]
            if words:
                yield node.lineno, (words[0], words[1] if len(words) > 1 else "")
