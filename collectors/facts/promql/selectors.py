"""Questions about an expression: its selectors, to rewrite them in place, its metrics, and how far it looks back."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

from collectors.facts.promql.grammar import NAMED_ONLY, parse
from collectors.facts.promql.tokenizing import Kind, PromQLSyntaxError, tokens, unquoted
from collectors.facts.promql.tree import Call, LabelMatcher, Part, Subquery, VectorSelector


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """A selector that begins with a metric's name, and what it is the argument of.

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
    range: timedelta | None
    function: str  # that takes the range; empty without one
    is_aggregated: bool

    def with_(self, metric: str, matchers: tuple[LabelMatcher, ...]) -> str:
        """Return the text for another metric name and other matchers."""
        inner = "{" + ", ".join(map(str, matchers)) + "}" if matchers else ""
        return f"{self.before}{metric}{inner}{self.after}"


@lru_cache(maxsize=2_048)  # the rules of a cycle are the same as in the last one
def selectors(expr: str) -> tuple[Selector, ...]:
    """Return the selectors that begin with a metric's name, in order; none where it is not PromQL."""
    found: list[Selector] = []
    for node, around in _parts(expr):
        if not isinstance(node, VectorSelector) or expr[node.start] == "{":
            continue
        calls = [one for one in around if isinstance(one, Call)]
        if node.range is not None and not calls:
            continue
        vector: Part = node if node.range is None else calls[-1]
        found.append(
            Selector(
                metric=node.metric,
                matchers=node.matchers,
                start=vector.start,
                end=vector.end,
                before=expr[vector.start : node.start],
                after=expr[node.matched : vector.end],
                range=node.range,
                function=calls[-1].name if node.range is not None else "",
                is_aggregated=any(one.name in NAMED_ONLY and one.grouping != "without" for one in calls),
            )
        )
    return tuple(found)


def with_selectors(expr: str, text_of: Callable[[Selector], str | None]) -> str:
    """Return the expression with another text for each selector, or for its call; None leaves it as it is."""
    parts: list[str] = []
    end = 0
    for selector in selectors(expr):
        if (text := text_of(selector)) is not None:
            parts += (expr[end : selector.start], text)
            end = selector.end
    return "".join((*parts, expr[end:]))


def metric_names(expr: str) -> frozenset[str]:
    """Return the names of all metrics in an expression; none where it is not PromQL."""
    found = (node.metric for node, _ in _parts(expr) if isinstance(node, VectorSelector))
    return frozenset(name for name in found if name)


@lru_cache(maxsize=2_048)
def look_back(expr: str) -> timedelta:
    """Return how long the stretch of time is that a result depends on: a range within a subquery is before its own."""
    return max((_looks_back(node, around) for node, around in _parts(expr)), default=timedelta())


def _looks_back(node: Part, around: tuple[Part, ...]) -> timedelta:
    own = node.range if isinstance(node, VectorSelector | Subquery) else None
    return sum((one.range for one in around if isinstance(one, Subquery)), own or timedelta())


@lru_cache(maxsize=2_048)
def possible_labels(expr: str) -> frozenset[str]:
    """Return the words and the strings of an expression: it cannot name any other label."""
    found = tokens(expr)
    texts = {unquoted(token.text) for token in found if token.kind is Kind.STRING}
    return frozenset(texts | {token.text for token in found if token.kind is Kind.NAME})


def _parts(expr: str) -> list[tuple[Part, tuple[Part, ...]]]:
    try:
        return list(parse(expr).walk())
    except PromQLSyntaxError:
        return []
