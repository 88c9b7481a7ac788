"""This file judges PromQL: Prometheus' grammar by promql-parser, its known gaps mended, and where the mistake is."""

import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

import promql_parser

LONGEST = 64 * 1024  # characters
DEEPEST = 150  # brackets within brackets; the parser walks them on its own stack, and a deep one would end the process
MOST_OPERATORS = 400  # for the same reason
_PIECE = re.compile(
    r"""#[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`|[a-zA-Z_:][\w:]*|[-+*/%^<>=!]=?|[()\[\]{}]|\s+|.""",
    re.S,
)
_OPERATOR_WORDS = ("and", "or", "unless", "atan2")
_OPENING = {")": "(", "]": "[", "}": "{"}
_NUMBER = re.compile(r"bad number or duration syntax: (\S+)")
_NAME = re.compile(r"'([^']+)'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """What is wrong with an expression; line and column count from 1 within it, 0 where they are not known."""

    what: str
    line: int = 0
    column: int = 0


def wrong_with(expr: str) -> Wrong | None:
    """What Prometheus would say against an expression, or None."""
    if not expr.strip():
        return Wrong(what="no expression found in input", line=1, column=1)
    if len(expr) > LONGEST:
        return Wrong(what=f"longer than {LONGEST} characters")
    if too_much := _beyond_bounds(expr):
        return too_much
    _teach_older_functions()
    try:
        tree = promql_parser.parse(expr)
    except ValueError as error:
        said = str(error)
        if said == "invalid promql query":  # all that its grammar says
            said = "unexpected word or sign, or the expression ends too early"
        return _placed(expr, said)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the parser is Rust: its panics are no Exception
            raise
        return Wrong(what="the parser cannot read this")
    return _empty_range(tree)


def _beyond_bounds(expr: str) -> Wrong | None:
    depth = operators = 0
    for piece in _PIECE.finditer(expr):
        text = piece.group()
        depth += (text in "([{") - (text in ")]}")
        operators += text[0] in "-+*/%^<>=!" or text.lower() in _OPERATOR_WORDS
        if depth > DEEPEST or operators > MOST_OPERATORS:
            limit = f"{DEEPEST} brackets deep" if depth > DEEPEST else f"{MOST_OPERATORS} operators"
            return _at(expr, piece.start(), f"more than {limit}: split it into recording rules")
    return None


@cache
def _teach_older_functions() -> None:
    """Prometheus 2 knows `holt_winters`; version 3 renamed it, and the parser knows the new name only."""
    kinds = promql_parser.ValueType
    takes = [kinds.Matrix, kinds.Scalar, kinds.Scalar]
    promql_parser.register_extra_functions([promql_parser.Function("holt_winters", takes, kinds.Vector)])


def _empty_range(tree: promql_parser.Expr) -> Wrong | None:
    """A range of nothing (`x[0]`), which Prometheus refuses and the parser lets through."""
    found: list[Wrong] = []

    def visit(node: promql_parser.Expr) -> None:
        if isinstance(node, promql_parser.MatrixSelector) and node.range <= timedelta():
            found.append(Wrong(what="duration must be greater than 0"))

    promql_parser.walk(tree, pre_visit=visit)
    return found[0] if found else None


def _placed(expr: str, what: str) -> Wrong:
    """The parser does not say where; most often it can be found."""
    if "parenthesis" in what or "bracket" in what or "brace" in what:
        return _unbalanced(expr, what)
    if number := _NUMBER.search(what):
        place = expr.find(number[1])
        return _at(expr, place, what) if place >= 0 else Wrong(what=what)
    if name := _NAME.search(what):
        places = [
            piece.start()
            for piece in _PIECE.finditer(expr)
            if piece.group() == name[1] or (len(name[1]) == 1 and piece.group().startswith(name[1]))
        ]
        if len(places) == 1:
            return _at(expr, places[0], what)
    return Wrong(what=what)


def _unbalanced(expr: str, what: str) -> Wrong:
    waiting: list[tuple[str, int]] = []
    for piece in _PIECE.finditer(expr):
        text = piece.group()
        if text in _OPENING.values():
            waiting.append((text, piece.start()))
        elif text in _OPENING:
            if not waiting or waiting[-1][0] != _OPENING[text]:
                return _at(expr, piece.start(), what)
            waiting.pop()
    return _at(expr, waiting[-1][1], what) if waiting else Wrong(what=what)


def _at(expr: str, place: int, what: str) -> Wrong:
    line = expr.count("\n", 0, place) + 1
    return Wrong(what=what, line=line, column=place - expr.rfind("\n", 0, place))
