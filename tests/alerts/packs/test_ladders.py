"""Rules for degrees of one fault are on one ladder, so that a card does not say the fault twice."""

import re
from collections import defaultdict
from collections.abc import Hashable
from itertools import combinations

import pytest

from alerts.rules import Rule
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery
from tests.alerts.packs.shipped import shipped_rules

RULES = shipped_rules()
_NUMBER = re.compile(r"(?<![\w.\"])-?\d+(?:\.\d+)?(?:e\d+)?(?![\w.])")
_ORDER = re.compile(r">=|<=|==|!=|>|<")


def measured(rule: Rule) -> Hashable:
    """Return what the rule measures, without its thresholds: rules with the same are degrees of one fault."""
    match rule.query:
        case PromQLQuery(expr=expr):
            return _ORDER.sub("~", _NUMBER.sub("N", " ".join(expr.split())))
        case CheckQuery(name=name, parameters=parameters):
            return name, frozenset(item for item in parameters.items() if isinstance(item[1], str))
        case LogQuery(match=match, by=by, novel=novel, times_usual=usual):
            return match, by, novel, usual is None


def pairs() -> list[tuple[str, str]]:
    found: dict[Hashable, list[str]] = defaultdict(list)
    for rule in RULES.values():
        found[measured(rule)].append(rule.name)
    return [pair for names in found.values() for pair in combinations(names, 2)]


def test_there_are_such_rules() -> None:
    assert ("CoreDNSErrorsHigh", "CoreDNSErrorsCritical") in pairs()
    assert len(pairs()) > 10


@pytest.mark.parametrize(("one", "other"), pairs())
def test_degrees_of_one_fault_are_on_one_ladder(one: str, other: str) -> None:
    first, second = (RULES[name].template.ladder for name in (one, other))
    assert first, f"{one} and {other} measure the same: give both the annotation `ladder`"
    assert first == second


def test_a_ladder_has_more_than_one_rule() -> None:
    ladders: dict[str, list[str]] = defaultdict(list)
    for rule in RULES.values():
        if rule.template.ladder:
            ladders[rule.template.ladder].append(rule.name)
    assert {name: rules for name, rules in ladders.items() if len(rules) < 2} == {}
