"""Second signals of remediations: the alerts that `remediation_with` names have to measure another kind of signal.

Two alerts of one gauge are one opinion said twice: what makes the gauge wrong makes both fire.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from alerts.rules import Diagnostic, Rule, RuleGroup
from collectors.facts.promql.selectors import selectors
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery, Query
from collectors.facts.sentences import listed, sentence

_OF_COUNTERS = frozenset({"rate", "irate", "increase", "resets"})
_ENDINGS = ("_total", "_count", "_sum", "_bucket")  # of counters, as OpenMetrics names them


class Signal(StrEnum):
    GAUGE = "gauge"
    COUNTER = "counter"
    LOG = "log"
    STATE = "the cluster's state"


def signals_of(query: Query) -> frozenset[Signal]:
    """Return the kinds of signals that a query measures."""
    match query:
        case LogQuery():
            return frozenset({Signal.LOG})
        case CheckQuery():
            return frozenset({Signal.STATE})
        case PromQLQuery():
            return frozenset(
                Signal.COUNTER
                if one.function in _OF_COUNTERS or one.metric.endswith(_ENDINGS)
                else Signal.GAUGE
                for one in selectors(query.expr)
            )


def wrong_second_signals(groups: Iterable[RuleGroup]) -> tuple[Diagnostic, ...]:
    """Return what is wrong with the second signals of all rules, of packs and of files."""
    rules = [rule for group in groups for rule in group.rules]
    return tuple(found for rule in rules for found in _wrong(rule, rules))


def _wrong(rule: Rule, rules: Sequence[Rule]) -> Iterator[Diagnostic]:
    for name in rule.template.remediation_with:
        named = [one for one in rules if one.name == name]
        if not named:
            reason = sentence("`{name}` is not a rule, so it is not known what it measures", name=name)
            yield Diagnostic(location=rule.location, message=_said(rule, reason))
        for one in named:
            if same := signals_of(rule.query) & signals_of(one.query):
                reason = sentence(
                    "`{name}` measures the same kind of signal ({kinds}): name an alert of another kind, such as a "
                    "log line beside a metric, or a counter beside a gauge",
                    name=name,
                    kinds=listed(sorted(same)),
                )
                yield Diagnostic(location=rule.location, message=_said(rule, reason))


def _said(rule: Rule, reason: str) -> str:
    return sentence("{rule}: remediation_with: {reason}", rule=rule.name, reason=reason)
