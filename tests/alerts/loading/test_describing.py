"""Rules in rows, and a file's verdict in promtool's words."""

from alerts.loading import describe, load, verdict
from alerts.rules import Symbols

MIXED = """\
groups:
- name: g
  interval: 1m
  rules:
  - {alert: Hot, expr: t > 85, for: 90s, labels: {severity: critical}}
  - {record: a:b, expr: sum(t)}
  - {alert: Cold, expr: t < 5}
"""
YARD = """\
groups:
- name: l
  rules:
  - {alert: Logged, logs: {match: x, over: 5m, by: [node]}}
  - {alert: Checked, check: dns, with: {growth: 1.5}}
"""


def test_rules_are_listed_in_the_order_of_their_file() -> None:
    rows = describe(load(MIXED, file="gpu.yml", symbols=Symbols(), own=True).groups)

    assert [(row.kind, row.name) for row in rows] == [("alert", "Hot"), ("record", "a:b"), ("alert", "Cold")]
    assert rows[0].as_json() == {
        "kind": "alert",
        "file": "gpu.yml",
        "group": "g",
        "name": "Hot",
        "query": "t > 85",
        "id": "gpu/g/Hot",
        "severity": "critical",
        "for": "1m30s",
        "keep_firing_for": "0s",
        "interval": "1m",
        "line": 5,
    }


def test_searches_and_checks_are_put_in_words() -> None:
    symbols = Symbols(checks={"dns": frozenset({"growth"})})

    rows = describe(load(YARD, file="l.yard.yaml", symbols=symbols, own=True).groups)

    assert [row.query for row in rows] == [
        "logs: x over 5m above 0 by node",
        "check: dns with {growth: 1.5}",
    ]


def test_a_right_file_is_a_success_with_its_count() -> None:
    loaded = load(MIXED, file="gpu.yml", symbols=Symbols(), own=False)

    assert verdict("gpu.yml", loaded) == ["Checking gpu.yml", "  SUCCESS: 3 rules found"]


def test_a_wrong_file_has_failed_with_every_mistake() -> None:
    loaded = load(MIXED.replace("expr: t < 5", "for: 5"), file="gpu.yml", symbols=Symbols(), own=False)

    assert verdict("gpu.yml", loaded) == [
        "Checking gpu.yml",
        "  FAILED:",
        'gpu.yml:7:5: group "g", rule 3, "Cold": field \'expr\' must be set in rule',
        'gpu.yml:7:24: group "g", rule 3, "Cold": for: `5` is not a duration: write it like 30s, 5m, 1h30m or 7d',
    ]
