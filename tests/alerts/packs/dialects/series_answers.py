"""Answers the queries with which dialects are looked up, from a list of series that are all there at any moment."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import promql_parser

from collectors.facts.labels import Labels
from collectors.facts.results import QueryResult, Sample, Seen

_NAME = "__name__"


class SeriesAnswers:
    """A `RunQuery` over series. Raises NotImplementedError for a query that no look-up needs so far."""

    def __init__(self, series: Sequence[Labels]) -> None:
        self._series = tuple(dict.fromkeys(series))

    async def __call__(self, expr: str, at: datetime) -> QueryResult:
        found = self._of(promql_parser.parse(expr))
        samples = (Sample(labels=labels, value=value) for labels, value in found.items())
        return Seen(source="prometheus", at=at, samples=tuple(samples))

    def _of(self, node: Any) -> dict[Labels, float]:
        if isinstance(node, promql_parser.ParenExpr):
            return self._of(node.expr)
        if isinstance(node, promql_parser.VectorSelector):
            return {one: 1.0 for one in self._series if _is_selected(one, node)}
        if isinstance(node, promql_parser.BinaryExpr) and str(node.op).strip() == "or":
            return {**self._of(node.rhs), **self._of(node.lhs)}
        if isinstance(node, promql_parser.Call) and node.func.name == "label_replace":
            vector, name, value, *_ = node.args
            return {one.with_(**{name.val: value.val}): many for one, many in self._of(vector).items()}
        if isinstance(node, promql_parser.AggregateExpr) and str(node.op).strip() == "count":
            counts: dict[Labels, float] = {}
            names = node.modifier.labels if node.modifier is not None else ()
            for one in self._of(node.expr):
                labels = Labels({name: one.get(name, "") for name in names})
                counts[labels] = counts.get(labels, 0.0) + 1
            return counts
        raise NotImplementedError(str(node))


def _is_selected(series: Labels, selector: Any) -> bool:
    if selector.name and series.get(_NAME, "") != selector.name:
        return False
    for matcher in selector.matchers.matchers:
        value = series.get(matcher.name, "")
        operator = str(matcher.op).rpartition(".")[2]
        is_same = value == matcher.value if "Re" not in operator else bool(re.fullmatch(matcher.value, value))
        if is_same is operator.startswith("Not"):
            return False
    return True
