"""Rules as rows, and the result for a file in promtool's format."""

from alerts.loading import check_report, describe, load
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
  - {alert: Logged, logs: {match: 'message:x', over: 5m, by: [node]}}
  - {alert: Checked, check: dns, with: {growth: 1.5}}
"""


def test_rules_are_listed_in_file_order() -> None:
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


def test_log_searches_and_checks_are_readable() -> None:
    symbols = Symbols(checks={"dns": {"growth": 1.0}})

    rows = describe(load(YARD, file="l.yard.yaml", symbols=symbols, own=True).groups)

    assert [row.query for row in rows] == [
        "logs: message:x over 5m above 0 by node",
        "check: dns with {growth: 1.5}",
    ]


def test_a_valid_file_succeeds_with_its_number_of_rules() -> None:
    loaded = load(MIXED, file="gpu.yml", symbols=Symbols(), own=False)

    assert check_report("gpu.yml", loaded) == ["Checking gpu.yml", "  SUCCESS: 3 rules found"]


def test_an_invalid_file_fails_with_every_diagnostic() -> None:
    loaded = load(MIXED.replace("expr: t < 5", "for: 5"), file="gpu.yml", symbols=Symbols(), own=False)

    assert check_report("gpu.yml", loaded) == [
        "Checking gpu.yml",
        "  FAILED:",
        'gpu.yml:7:5: group "g", rule 3, "Cold": field \'expr\' must be set in rule',
        'gpu.yml:7:24: group "g", rule 3, "Cold": for: `5` is not a duration: write it like 30s, 5m, 1h30m or 7d',
    ]
