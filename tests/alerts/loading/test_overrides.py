"""Overrides of rules by the settings: timing, severity, interval, enabled; an invalid one changes nothing."""

from datetime import timedelta

import pytest

from alerts.loading import load, override
from alerts.rules import Rule, RuleGroup, Symbols
from collectors.facts.queries import LogQuery

RULES = """\
groups:
- name: g
  rules:
  - {alert: Hot, expr: t > 85, for: 1m, labels: {severity: critical, x: y}}
  - {alert: Hot, expr: t > 95}
  - {alert: Cold, expr: t < 5}
"""
SEARCH = "groups:\n- name: g\n  rules:\n  - {alert: Logged, logs: {match: 'message:x', over: 5m}}\n"


@pytest.fixture
def groups() -> tuple[RuleGroup, ...]:
    prometheus = load(RULES, file="gpu.yml", symbols=Symbols(), own=True)
    search = load(SEARCH, file="logs.yard.yaml", symbols=Symbols(), own=True)
    assert prometheus.diagnostics == search.diagnostics == ()
    return (*prometheus.groups, *search.groups)


def by_id(groups: tuple[RuleGroup, ...]) -> dict[str, Rule]:
    return {rule.id: rule for group in groups for rule in group.rules}


def test_a_name_that_two_rules_share_is_an_error_that_names_both(groups: tuple[RuleGroup, ...]) -> None:
    changed = override(groups, {"Hot": {"for": "5m"}})

    (diagnostic,) = changed.diagnostics
    assert diagnostic.message == "2 rules are named `Hot`: write `gpu/g/Hot` or `gpu/g/Hot#2`"
    assert changed.groups == groups


def test_a_rule_is_overridden_by_its_name_or_its_id(groups: tuple[RuleGroup, ...]) -> None:
    changed = override(
        groups,
        {
            "gpu/g/Hot": {"for": "5m", "severity": "warning", "interval": timedelta(minutes=1)},
            "gpu/g/Hot#2": {"for": "10m", "keep_firing_for": "1h"},
            "Cold": {"enabled": False},
            "Logged": {"above": 3},
        },
    )

    assert changed.diagnostics == ()
    rules = by_id(changed.groups)
    assert set(rules) == {"gpu/g/Hot", "gpu/g/Hot#2", "logs/g/Logged"}
    assert rules["gpu/g/Hot"].timing.for_ == timedelta(minutes=5)
    assert rules["gpu/g/Hot"].template.labels == {"severity": "warning", "x": "y"}
    assert rules["gpu/g/Hot"].interval == timedelta(minutes=1)
    assert rules["gpu/g/Hot#2"].timing.for_ == timedelta(minutes=10)
    assert rules["gpu/g/Hot#2"].timing.keep_firing_for == timedelta(hours=1)
    query = rules["logs/g/Logged"].query
    assert isinstance(query, LogQuery)
    assert query.above == 3


@pytest.mark.parametrize(
    ("name", "key", "value", "message"),
    [
        ("Hoot", "for", "5m", "rules.overrides.Hoot: no rule is named `Hoot`; did you mean `Hot`?"),
        ("Cold", "for", "soon", "rules.overrides.Cold.for: `soon` is not a duration"),
        ("Cold", "interval", "0", "rules.overrides.Cold.interval: `interval` must be longer than 0"),
        ("Cold", "severity", "page", "rules.overrides.Cold.severity: `page` is not a severity"),
        ("Cold", "enabled", "no", "rules.overrides.Cold.enabled: `no` must be true or false"),
        ("Cold", "fro", "5m", "rules.overrides.Cold.fro: unknown key `fro`; did you mean `for`?"),
        ("Cold", "above", 3, "rules.overrides.Cold.above: `above` is for log searches"),
        ("Logged", "above", -1, "rules.overrides.Logged.above: `-1` must be a non-negative number"),
    ],
)
def test_an_invalid_override_is_reported_and_changes_nothing(
    groups: tuple[RuleGroup, ...], name: str, key: str, value: object, message: str
) -> None:
    changed = override(groups, {name: {key: value}})

    (diagnostic,) = changed.diagnostics
    assert str(diagnostic).startswith(message)
    assert changed.groups == groups
