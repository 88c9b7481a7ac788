"""The phrases of the code that people read: its strings and f-strings, as they are translated."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
# What only operators read, in a terminal or the log, stays English.
OPERATORS = (
    "alerts/loading",
    "alerts/templates",
    "bot/backtest",
    "bot/cli",
    "bot/doctor",
    "bot/http",
    "bot/language",
    "bot/settings",
    "bot/store",
    "bot/main.py",
    "bot/metrics.py",
    "bot/wiring.py",
)
# Calls whose own strings nobody reads in the chat.
_NOT_SAID = frozenset(
    [
        "AssertionError",
        "KeyError",
        "LookupError",
        "NewType",
        "NotImplementedError",
        "RuntimeError",
        "TypeError",
        "TypeVar",
        "ValueError",
        "bind",
        "compile",
        "compile_pattern",
        "debug",
        "endswith",
        "error",
        "exception",
        "field",
        "get",
        "get_logger",
        "getattr",
        "getLogger",
        "hasattr",
        "info",
        "join",
        "labels",
        "partition",
        "removeprefix",
        "removesuffix",
        "rpartition",
        "setattr",
        "split",
        "startswith",
        "stored",
        "strftime",
        "warning",
    ]
)
_WORD = re.compile(r"[A-Za-z]{2,}")
_NAME = re.compile(
    r"[a-z0-9_./:@*+-]+|[A-Za-z0-9]+[_./:-][A-Za-z0-9_./:{}-]*|[a-z]+[A-Z]\w*|([A-Z][a-z0-9]+){2,}|[A-Z0-9_]+"
)
_EXPRESSION = re.compile(r"\{\{.*?\}\}")


def said_phrases(root: Path = ROOT) -> Mapping[str, str]:
    """Return each phrase with the place of its first use."""
    found: dict[str, str] = {}
    for place, phrase in (*_of_code(root), *_of_packs(root)):
        if _WORD.search(bare := phrase.replace("{}", "")) and not _NAME.fullmatch(bare.strip()):
            found.setdefault(phrase, place)
    return found


def _of_code(root: Path) -> Iterator[tuple[str, str]]:
    for package in ("collectors", "alerts", "commands", "bot"):
        for path in sorted((root / package).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if not name.startswith(OPERATORS):
                strings = _Strings()
                strings.visit(ast.parse(path.read_text(encoding="utf-8")))
                yield from ((f"{name}:{line}", phrase) for line, phrase in strings.found)


def _of_packs(root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((root / "alerts/packs").glob("*.yaml")):
        if not path.name.endswith(".test.yaml"):
            for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]:
                for rule in group["rules"]:
                    for name in ("summary", "description"):
                        if words := (rule.get("annotations") or {}).get(name):
                            yield path.name, _EXPRESSION.sub("{}", words)


class _Strings(ast.NodeVisitor):
    """Strings that are neither documentation, names of things, comparisons nor words for the log."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if called not in _NOT_SAID:
            given = [node.func, *given]
        else:
            given = [node.func, *(one for one in given if not isinstance(one, (ast.Constant, ast.JoinedStr)))]
        for one in given:
            self.visit(one)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.found.append((node.lineno, node.value))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        self.found.append((node.lineno, "".join(map(str, parts))))
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        return

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        return

    def visit_Dict(self, node: ast.Dict) -> None:
        for value in node.values:
            self.visit(value)
