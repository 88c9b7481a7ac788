"""The sentences of the code: templates with the place where each is written, be it in the call or in a variable."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.support.said_phrases import ROOT, modules

_BUILDERS = frozenset(["sentence", "counted"])
_HOLE = re.compile(r"\{[a-z_]+[0-9]*(:[^{}]*)?\}")


def templates(root: Path = ROOT) -> Mapping[tuple[str, str], str]:
    """Return each template and its plural, which may be empty, with the place of its first use."""
    found: dict[tuple[str, str], str] = {}
    for name, tree in modules(root):
        built = list(_built(tree))
        said = {form for _, forms in built for form in forms}
        for line, forms in (*built, *_in_variables(tree, said)):
            found.setdefault(forms, f"{name}:{line}")
    return found


def _built(tree: ast.Module) -> Iterator[tuple[int, tuple[str, str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _BUILDERS:
            given = [one.value for one in node.args if isinstance(one, ast.Constant)]
            words = [one for one in given if isinstance(one, str)]
            if words:
                yield node.lineno, (words[0], words[1] if len(words) > 1 else "")


def _in_variables(tree: ast.Module, said: set[str]) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield the other texts with holes, such as those of a table; a pair of them is a template with its plural."""
    nodes = list(ast.walk(tree))
    other = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # documentation
    other |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    paired: set[int] = set()
    for node in nodes:
        match node:
            case ast.Tuple(elts=[ast.Constant(value=str(one)), ast.Constant(value=str(many))]) if (
                _HOLE.search(one)
            ):
                paired |= set(map(id, node.elts))
                yield node.lineno, (one, many)
            case ast.Constant(value=str(words)) if id(node) not in other | paired and words not in said:
                if _HOLE.search(words) and re.search("[A-Za-z]{2}", _HOLE.sub("", words)):
                    yield node.lineno, (words, "")
