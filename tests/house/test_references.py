"""Files and modules that comments and docstrings name exist."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from functools import cache

from tests.house.conftest import ROOT, tracked

_FILE = re.compile(r"(?<![\w/.*<>-])(?:[\w-]+/)*[\w-]+\.py\b(?!/)")
_DOTTED = re.compile(
    r"(?<![\w./])(?:go_templates|collectors|alerts|commands|bot|demo|tests|benchmarks)(?:\.\w+)+"
)


def prose_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of each comment and docstring."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""


def may_name_something(source: str) -> bool:
    """Whether a line other than an import names a file or a module: most sources need not be parsed."""
    lines = (line for line in source.splitlines() if not line.startswith(("from ", "import ")))
    return any(_FILE.search(line) or _DOTTED.search(line) for line in lines)


@cache
def sources() -> Mapping[str, str]:
    return {str(path): (ROOT / path).read_text(encoding="utf-8") for path in tracked("*.py")}


@cache
def modules() -> frozenset[str]:
    """The modules and packages, by their dotted names."""
    paths = [name.removesuffix(".py").removesuffix("/__init__").split("/") for name in sources()]
    return frozenset(".".join(parts[:end]) for parts in paths for end in range(1, len(parts) + 1))


@cache
def defined_in(module: str) -> frozenset[str]:
    """The names that a module binds."""
    path = module.replace(".", "/")
    source = sources().get(f"{path}.py") or sources().get(f"{path}/__init__.py", "")
    bound = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name)
    return frozenset(bound)


def missing_in(text: str) -> list[str]:
    """Return the files and modules that a text names and that do not exist."""
    files = [
        name for name in _FILE.findall(text) if not any(f"/{one}".endswith(f"/{name}") for one in sources())
    ]
    dotted = [name for name in _DOTTED.findall(text) if not _exists(name)]
    return files + dotted


def _exists(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    return name in modules() or attribute in defined_in(module) or f"{module}.{attribute}" in sources()


def test_comments_and_docstrings_name_what_exists() -> None:
    wrong = [
        f"{path}:{line}: {name}"
        for path, source in sources().items()
        if may_name_something(source)
        for line, text in prose_of(source)
        for name in missing_in(text)
    ]
    assert wrong == []


def test_a_reference_to_nothing_is_found() -> None:
    text = "See nowhere.py, alerts/cards/nowhere.py, `alerts.cards.nowhere` and bot.wiring.nowhere."
    assert missing_in(text) == [
        "nowhere.py",
        "alerts/cards/nowhere.py",
        "alerts.cards.nowhere",
        "bot.wiring.nowhere",
    ]


def test_a_valid_reference_is_not_reported() -> None:
    text = (
        "See headline.py, alerts/cards/headline.py, commands/<noun>/x.py, alerts.cards.headline, bot.wiring."
    )
    assert missing_in(text) == []
