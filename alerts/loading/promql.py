"""Errors in PromQL and where they are: promql-parser judges, with fixes for its known gaps, and our reader locates."""

import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

import promql_parser

from collectors.facts.promql.grammar import parse
from collectors.facts.promql.tokenizing import PromQLSyntaxError, TooComplexError, line_and_column, tokens
from collectors.facts.promql.tree import VectorSelector

LONGEST = 64 * 1024  # characters
_NO_DETAILS = "invalid promql query"
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
        return _at(expr, 0, "no expression found in input")
    if len(expr) > LONGEST:
        return PromQLDiagnostic(what=f"longer than {LONGEST} characters")
    try:
        tree = parse(expr)
    except TooComplexError as error:
        return _at(expr, error.place, str(error))
    except PromQLSyntaxError as error:
        what = _judged(expr)
        return _at(expr, error.place, str(error) if what in ("", _NO_DETAILS) else what)
    for node, _ in tree.walk():
        if isinstance(node, VectorSelector) and node.range is not None and node.range <= timedelta():
            return _at(expr, node.matched, "duration must be greater than 0")
    return _named(expr, what) if (what := _judged(expr)) else None


def _judged(expr: str) -> str:
    """Return what the parser says against an expression; empty if it accepts it."""
    _register_older_functions()
    try:
        promql_parser.parse(expr)
    except ValueError as error:
        return str(error)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the parser is Rust: its panics are not an Exception
            raise
        return "the parser fails on this expression"
    return ""


@cache
def _register_older_functions() -> None:
    """Register `holt_winters` of Prometheus 2: version 3 renamed it, and the parser knows only the new name."""
    kinds = promql_parser.ValueType
    takes = [kinds.Matrix, kinds.Scalar, kinds.Scalar]
    promql_parser.register_extra_functions([promql_parser.Function("holt_winters", takes, kinds.Vector)])


def _named(expr: str, what: str) -> PromQLDiagnostic:
    """Find where the error is: the parser does not report it, but its message often names the token."""
    name = _NAME.search(what)
    places = [token.start for token in tokens(expr) if name and token.text == name[1]]
    return _at(expr, places[0], what) if len(places) == 1 else PromQLDiagnostic(what=what)


def _at(expr: str, place: int, what: str) -> PromQLDiagnostic:
    line, column = line_and_column(expr, place)
    return PromQLDiagnostic(what=what, line=line, column=column)
