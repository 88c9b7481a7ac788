"""The selectors of metrics in a PromQL expression, by their places in its text.

The parser gives no places and its printed form differs from what an author wrote, so the text is read in pieces.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

_PIECE = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)|(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)"""
    r"""|(?P<word>[a-zA-Z_:][\w:]*)|(?P<number>[\d.][\w.]*)|(?P<operator>=~|!~|!=|==|>=|<=|.)""",
    re.S,
)
_PLAIN = re.compile(r"[a-zA-Z_]\w*", re.ASCII)  # Prometheus 3 has labels like "k8s.pod.name", too
_LISTS = frozenset({"by", "without", "on", "ignoring", "group_left", "group_right"})
_OPERATORS = frozenset({"and", "or", "unless", "atan2", "bool", "offset", "inf", "nan", "start", "end"})
_AGGREGATIONS = frozenset({"sum", "min", "max", "avg", "group", "stddev", "stdvar", "count", "quantile"})
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class LabelMatcher:
    """A label matcher; `value` is quoted as in the expression."""

    label: str
    operator: str
    value: str

    def __str__(self) -> str:
        label = self.label if _PLAIN.fullmatch(self.label) else json.dumps(self.label)
        return f"{label}{self.operator}{self.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """A selector with a metric name, and what it is the argument of.

    `start` and `end` are the places of what is an instant vector: of the selector itself, or of the whole call when
    the selector has a range. `before` and `after` are the text in between. `is_aggregated`: the result has only the
    labels that the expression names.
    """

    metric: str
    matchers: tuple[LabelMatcher, ...]
    start: int
    end: int
    before: str
    after: str
    function: str = ""  # that takes the range; empty without one
    is_aggregated: bool = False

    def with_(self, metric: str, matchers: tuple[LabelMatcher, ...]) -> str:
        """Return the text for another metric name and other matchers."""
        inner = "{" + ", ".join(str(one) for one in matchers) + "}" if matchers else ""
        return f"{self.before}{metric}{inner}{self.after}"


@dataclass(frozen=True, slots=True)
class _Piece:
    kind: str
    text: str
    start: int
    end: int


@lru_cache(maxsize=2_048)  # the rules of a cycle are the same as in the last one
def selectors(expr: str) -> tuple[Selector, ...]:
    """Return the selectors that name their metric, in order. What cannot be read has none.

    A range has to be the argument of a function, so the function is read with it.
    """
    pieces = [
        _Piece(match.lastgroup or "", match.group(), match.start(), match.end())
        for match in _PIECE.finditer(expr)
        if match.lastgroup != "space"
    ]
    return tuple(_found(expr, pieces))


def _found(expr: str, pieces: list[_Piece]) -> Iterator[Selector]:
    open_at: list[int] = []  # the places of `(`
    aggregates: set[int] = set()  # those of aggregations
    number = 0
    while number < len(pieces):
        piece = pieces[number]
        after = pieces[number + 1].text if number + 1 < len(pieces) else ""
        if piece.text == "(":
            open_at.append(number)
            if number and _keeps_only_named(pieces, number):
                aggregates.add(number)
        elif piece.text == ")" and open_at:
            open_at.pop()
        elif piece.kind == "word" and piece.text.lower() in _LISTS and after == "(":
            closing = _closing(pieces, number + 1)
            is_before = closing + 1 < len(pieces) and pieces[closing + 1].text == "("
            is_prefix = number > 0 and pieces[number - 1].text.lower() in _AGGREGATIONS
            if is_before and is_prefix and piece.text.lower() == "by":
                aggregates.add(closing + 1)
            number = closing
        elif piece.text in ("[", "{"):
            number = _closing(pieces, number)
        elif piece.kind == "word" and not _is_no_metric(piece.text, after):
            found, number = _selector(expr, pieces, number, open_at)
            if found is not None:
                yield replace(found, is_aggregated=not aggregates.isdisjoint(open_at))
            continue
        number += 1


def _is_no_metric(word: str, after: str) -> bool:
    return after == "(" or after.lower() in ("by", "without") or word.lower() in _LISTS | _OPERATORS


def _keeps_only_named(pieces: list[_Piece], opening: int) -> bool:
    """Whether the bracket is of an aggregation without a list, or with `by` after it."""
    if pieces[opening - 1].text.lower() not in _AGGREGATIONS:
        return False
    after = _closing(pieces, opening) + 1
    return after >= len(pieces) or pieces[after].text.lower() != "without"


def _selector(
    expr: str, pieces: list[_Piece], number: int, open_at: list[int]
) -> tuple[Selector | None, int]:
    """Return the selector that begins with this piece, and the number of the piece after it."""
    name = pieces[number]
    matchers: tuple[LabelMatcher, ...] = ()
    last = number
    if number + 1 < len(pieces) and pieces[number + 1].text == "{":
        last = _closing(pieces, number + 1)
        matchers = tuple(_matchers(pieces[number + 2 : last]))
    next_ = last + 1
    is_range = next_ < len(pieces) and pieces[next_].text == "["
    if is_range:
        closing = _closing(pieces, next_)
        is_range = not any(":" in piece.text for piece in pieces[next_:closing])  # else a subquery
    selector = Selector(metric=name.text, matchers=matchers, start=name.start, end=0, before="", after="")
    if not is_range:
        end = pieces[_modifiers_end(pieces, last)].end
        return replace(selector, end=end, after=expr[pieces[last].end : end]), _modifiers_end(
            pieces, last
        ) + 1
    calls = [opening for opening in open_at if opening and pieces[opening - 1].kind == "word"]
    if not calls:
        return None, next_
    function, end = pieces[calls[-1] - 1], pieces[_closing(pieces, calls[-1])].end
    call = replace(selector, start=function.start, end=end, function=function.text)
    return replace(call, before=expr[function.start : name.start], after=expr[pieces[last].end : end]), next_


def _modifiers_end(pieces: list[_Piece], last: int) -> int:
    """Return the piece with which `offset …` and `@ …` after a selector end."""
    while last + 1 < len(pieces) and pieces[last + 1].text.lower() in ("offset", "@"):
        last += 2
        if pieces[min(last, len(pieces) - 1)].text in ("-", "+"):
            last += 1
        if last + 1 < len(pieces) and pieces[last].text in ("start", "end") and pieces[last + 1].text == "(":
            last += 2
        last = min(last, len(pieces) - 1)
    return last


def _matchers(pieces: list[_Piece]) -> Iterator[LabelMatcher]:
    for label, operator, value in zip(pieces, pieces[1:], pieces[2:], strict=False):
        if label.kind == "word" and operator.text in ("=", "!=", "=~", "!~") and value.kind == "string":
            yield LabelMatcher(label.text, operator.text, value.text)


def _closing(pieces: list[_Piece], opening: int) -> int:
    """Return the piece that closes the bracket, or the last one."""
    wanted = [_CLOSING[pieces[opening].text]]
    for number in range(opening + 1, len(pieces)):
        text = pieces[number].text
        if text in _CLOSING:
            wanted.append(_CLOSING[text])
        elif text == wanted[-1]:
            wanted.pop()
            if not wanted:
                return number
    return len(pieces) - 1
