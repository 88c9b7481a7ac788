"""The phrases of the code that people read: its strings and f-strings, as they are translated."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
# What only operators read, in a terminal or the log, stays English.
OPERATORS = (
    "commands/core/matching",
    "alerts/loading",
    "bot/backtest",
    "bot/channels/slack/slack_diagnosis.py",
    "bot/cli",
    "bot/doctor",
    "bot/http",
    "bot/language",
    "bot/settings",
    "bot/store",
    "bot/main.py",
    "bot/metrics.py",
    "bot/wiring.py",
    "collectors/facts/promql",
    "collectors/facts/secrets",  # patterns
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
        "bind",
        "cast",
        "compile",
        "compile_pattern",
        "debug",
        "endswith",
        "error",
        "exception",
        "field",
        "get_logger",
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
# Of these calls only what is not the first argument is read: a default.
_DEFAULTS = frozenset(["get", "getattr", "pop", "setdefault"])
# Command lines and other words for machines, by the name of the argument.
_NOT_SAID_ARGUMENTS = frozenset(["example", "line", "metavar", "people_line", "pattern", "expr"])
# Enums whose values are shown.
_SHOWN_ENUMS = frozenset(
    [
        "Activity",
        "AlertState",
        "PlanState",
        "ReclaimState",
        "RuleHealth",
        "Severity",
        "StepState",
        "TrainingState",
    ]
)
_WORD = re.compile(r"[A-Za-z]{2,}")
_NAME = re.compile(
    r"[a-z0-9_./:@*+=-]+|[A-Za-z0-9]+[_./:-][A-Za-z0-9_./:{}-]*|[a-z]+[A-Z]\w*|([A-Z][a-z0-9]+){2,}|[A-Z0-9_]+"
    r"|\w+( \| \w+)+|#[0-9a-f]{6}"
)
_QUERY = re.compile(
    r"\b(sum|max|rate|count|timestamp|histogram_quantile|label_replace|vector|\w+_over_time)"
    r"( (by|without) \([^)]*\))? ?\("
)
_NAMED_HOLE = re.compile(r"\{[a-z_]+(:[^{}]*)?\}")


def said_phrases(root: Path = ROOT) -> Mapping[str, str]:
    """Return each phrase with the place of its first use."""
    found: dict[str, str] = {}
    for place, phrase in _of_code(root):
        bare = phrase.replace("{}", "")
        is_name = " " not in phrase and _NAME.fullmatch(bare)
        if _WORD.search(bare) and not is_name and not _QUERY.search(phrase):
            found.setdefault(phrase, place)
    return found


def joined_phrases(root: Path = ROOT) -> Mapping[str, str]:
    """Return the phrases that are f-strings, with the place of each."""
    found: dict[str, str] = {}
    for name, tree in modules(root):
        strings = _Strings()
        strings.visit(tree)
        for line, phrase in strings.joined:
            is_name = " " not in phrase and _NAME.fullmatch(phrase.replace("{}", ""))
            if _WORD.search(phrase) and not is_name and not _QUERY.search(phrase):
                found.setdefault(phrase, f"{name}:{line}")
    return found


def shown_words(root: Path = ROOT) -> Mapping[str, str]:
    """Return each single word that is shown for certain, with its place: headings, names of fields, states."""
    found: dict[str, str] = {}
    for name, tree in modules(root):
        for node in ast.walk(tree):
            for word in _words_of(node):
                if re.fullmatch("[a-z]+", word):
                    found.setdefault(word, f"{name}:{getattr(node, 'lineno', 0)}")
    return found


@cache
def all_strings(root: Path = ROOT) -> frozenset[str]:
    """Return every string of the code, be it read or not."""
    found = set[str]()
    for name, tree in modules(root):
        found.update(phrase for _, phrase in _of_module(name, tree))
        found.update(
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
    return frozenset(found)


def _words_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[ast.Name(id="heading")], value=ast.Tuple(elts=words)):
            yield from _constants(words)
        case ast.keyword(arg="heading", value=ast.Tuple(elts=words)):
            yield from _constants(words)
        case ast.Tuple(elts=[ast.Constant(value=str(word)), ast.Call(func=ast.Name(id="text"))]):
            yield word
        case ast.ClassDef(name=name, body=body) if name in _SHOWN_ENUMS:
            yield from _constants(one.value for one in body if isinstance(one, ast.Assign))


def _constants(nodes: Iterable[ast.expr]) -> Iterator[str]:
    return (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def modules(root: Path) -> Iterator[tuple[str, ast.Module]]:
    for package in ("collectors", "alerts", "commands", "bot"):
        for path in sorted((root / package).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if not name.startswith(OPERATORS):
                yield name, ast.parse(path.read_text(encoding="utf-8"))


def _of_code(root: Path) -> Iterator[tuple[str, str]]:
    for name, tree in modules(root):
        yield from _of_module(name, tree)


def _of_module(name: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    strings = _Strings()
    strings.visit(tree)
    yield from ((f"{name}:{line}", phrase) for line, phrase in strings.found)
    yield from ((f"{name}:{line}", f"{verb.capitalize()} {{}}") for line, verb in _verbs(tree))


def _verbs(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The verbs of commands, which begin the labels of suggested actions: `Cordon gpu-a04`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Command":
            verbs = _constants(one.value for one in node.keywords if one.arg == "verb")
            yield from ((node.lineno, verb) for verb in verbs if verb)


class _Strings(ast.NodeVisitor):
    """Strings that are neither documentation, names of things, comparisons nor words for the log."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []
        self.joined: list[tuple[int, str]] = []

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [
            *node.args[called in _DEFAULTS :],
            *(keyword.value for keyword in node.keywords if keyword.arg not in _NOT_SAID_ARGUMENTS),
        ]
        if called in _NOT_SAID:
            given = [one for one in given if not isinstance(one, (ast.Constant, ast.JoinedStr))]
        for one in (node.func, *given):
            self.visit(one)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.found.append((node.lineno, _NAMED_HOLE.sub("{}", node.value)))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        phrase = "".join(map(str, parts))
        self.found.append((node.lineno, phrase))
        self.joined.append((node.lineno, phrase))
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
