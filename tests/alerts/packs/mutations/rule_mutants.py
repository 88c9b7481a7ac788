"""Small mistakes in a shipped rule: in its expression, its search, the parameters of its check, and its `for`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from alerts.rules import Rule
from collectors.check_catalogue import CHECKS
from collectors.facts.queries import CheckQuery, LogLevel, LogQuery, PromQLQuery, Query
from tests.alerts.packs.mutations.promql_mutants import promql_mutants

_LONGER = 10  # times `for`


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleMutant:
    """A rule with one mistake. `mutation` says which, and is unique for the rule."""

    mutation: str
    rule: Rule

    @property
    def fields(self) -> Mapping[str, str]:
        """The fields in which a Prometheus rule file would differ."""
        assert isinstance(self.rule.query, PromQLQuery)
        seconds = int(self.rule.timing.for_.total_seconds())
        return {"expr": self.rule.query.expr} | ({"for": f"{seconds}s"} if seconds else {})


def rule_mutants(rule: Rule) -> tuple[RuleMutant, ...]:
    made = [
        RuleMutant(mutation=what, rule=replace(rule, query=query)) for what, query in _queries(rule.query)
    ]
    if rule.timing.for_:
        timing = replace(rule.timing, for_=rule.timing.for_ * _LONGER)
        made.append(RuleMutant(mutation="for is ten times as long", rule=replace(rule, timing=timing)))
    return tuple(made)


def _queries(query: Query) -> Iterator[tuple[str, Query]]:
    match query:
        case PromQLQuery():
            for mutant in promql_mutants(query.expr):
                yield mutant.mutation, replace(query, expr=mutant.expr)
        case LogQuery():
            yield from _searches(query)
        case CheckQuery():
            for name, value in {**CHECKS[query.name].parameters, **query.parameters}.items():
                for other in _others(value):
                    changed = replace(query, parameters={**query.parameters, name: other})
                    yield f"{name}: {value} is {other}", changed


def _searches(query: LogQuery) -> Iterator[tuple[str, LogQuery]]:
    for above in (query.above * 2, query.above / 2) if query.above else (1.0,):
        yield f"above: {query.above:g} is {above:g}", replace(query, above=above)
    for label in query.by:
        yield f"without {label}", replace(query, by=tuple(one for one in query.by if one != label))
    for what, over in (("twice", query.over * 2), ("half", query.over / 2)):
        yield f"over: {what} as long", replace(query, over=over)
    if query.novel is not None:
        yield "novel: half as long", replace(query, novel=query.novel / 2)
    if usual := query.times_usual:
        for factor in (usual.factor * 2, usual.factor / 2):
            changed = replace(query, times_usual=replace(usual, factor=factor))
            yield f"times usual: {usual.factor:g} is {factor:g}", changed
    if query.level is not None:
        for level in (LogLevel(query.level - 1), LogLevel(query.level + 1)):
            yield f"level: {query.level.name} is {level.name}", replace(query, level=level)


def _others(value: Any) -> tuple[Any, ...]:
    """Return twice and half of a number, and the other state of a switch; words have none."""
    if isinstance(value, int) and value in (0, 1):
        return (1 - value,)
    if isinstance(value, int | float):
        return (type(value)(value * 2), type(value)(value / 2))
    return ()
