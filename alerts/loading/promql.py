"""Errors in PromQL and where they are: promql-parser, with fixes for its known gaps against Prometheus."""

import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

import promql_parser

LONGEST = 64 * 1024  # characters
DEEPEST = 150  # nested brackets; the parser is recursive, and overflowing its stack would end the process
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
class PromQLDiagnostic:
    """An error in an expression; line and column count from 1 within it and are 0 if unknown."""

    what: str
    line: int = 0
    column: int = 0


def find_error(expr: str) -> PromQLDiagnostic | None:
    """Return the error that Prometheus would report for an expression, or None."""
    if not expr.strip():
        return PromQLDiagnostic(what="no expression found in input", line=1, column=1)
    if len(expr) > LONGEST:
        return PromQLDiagnostic(what=f"longer than {LONGEST} characters")
    if too_large := _beyond_limits(expr):
        return too_large
    _register_older_functions()
    try:
        tree = promql_parser.parse(expr)
    except ValueError as error:
        message = str(error)
        if message == "invalid promql query":  # the parser gives no details
            message = "unexpected token, or the expression ends too early"
        return _locate(expr, message)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the parser is Rust: its panics are not an Exception
            raise
        return PromQLDiagnostic(what="the parser fails on this expression")
    return _empty_range(tree)


def _beyond_limits(expr: str) -> PromQLDiagnostic | None:
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
def _register_older_functions() -> None:
    """Register `holt_winters` of Prometheus 2: version 3 renamed it, and the parser knows only the new name."""
    kinds = promql_parser.ValueType
    takes = [kinds.Matrix, kinds.Scalar, kinds.Scalar]
    promql_parser.register_extra_functions([promql_parser.Function("holt_winters", takes, kinds.Vector)])


def _empty_range(tree: promql_parser.Expr) -> PromQLDiagnostic | None:
    """Find an empty range (`x[0]`), which Prometheus rejects and the parser accepts."""
    found: list[PromQLDiagnostic] = []

    def visit(node: promql_parser.Expr) -> None:
        if isinstance(node, promql_parser.MatrixSelector) and node.range <= timedelta():
            found.append(PromQLDiagnostic(what="duration must be greater than 0"))

    promql_parser.walk(tree, pre_visit=visit)
    return found[0] if found else None


def _locate(expr: str, what: str) -> PromQLDiagnostic:
    """Find where the error is: the parser does not report it, but its message often names the token."""
    if "parenthesis" in what or "bracket" in what or "brace" in what:
        return _unbalanced(expr, what)
    if number := _NUMBER.search(what):
        location = expr.find(number[1])
        return _at(expr, location, what) if location >= 0 else PromQLDiagnostic(what=what)
    if name := _NAME.search(what):
        places = [
            piece.start()
            for piece in _PIECE.finditer(expr)
            if piece.group() == name[1] or (len(name[1]) == 1 and piece.group().startswith(name[1]))
        ]
        if len(places) == 1:
            return _at(expr, places[0], what)
    return PromQLDiagnostic(what=what)


def _unbalanced(expr: str, what: str) -> PromQLDiagnostic:
    unclosed: list[tuple[str, int]] = []
    for piece in _PIECE.finditer(expr):
        text = piece.group()
        if text in _OPENING.values():
            unclosed.append((text, piece.start()))
        elif text in _OPENING:
            if not unclosed or unclosed[-1][0] != _OPENING[text]:
                return _at(expr, piece.start(), what)
            unclosed.pop()
    return _at(expr, unclosed[-1][1], what) if unclosed else PromQLDiagnostic(what=what)


def _at(expr: str, location: int, what: str) -> PromQLDiagnostic:
    line = expr.count("\n", 0, location) + 1
    return PromQLDiagnostic(what=what, line=line, column=location - expr.rfind("\n", 0, location))
