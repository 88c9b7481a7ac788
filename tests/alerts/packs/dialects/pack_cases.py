"""The promtool cases of the shipped packs, as data: what is scraped, and what fires when."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from alerts.rules import Rule
from collectors.facts.labels import Labels
from tests.alerts.packs.shipped import prometheus_files, shipped_rules
from tests.support.foreign_series import InputSeries
from tests.support.quick_yaml import from_yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class PackCase:
    """One case of one rule. `expected` are the labels of the alerts, by when they are asked for.

    `waits` are the fields `for` and `keep_firing_for` of the rule.
    """

    name: str
    rule: Rule
    waits: Mapping[str, str]
    series: tuple[InputSeries, ...]
    interval: str
    evaluation_interval: str
    expected: Mapping[str, tuple[Labels, ...]]

    def __str__(self) -> str:
        return f"{self.rule.name}: {self.name}"


@cache
def pack_cases() -> tuple[PackCase, ...]:
    """Return every case of every PromQL rule of the packs."""
    rules = shipped_rules()
    return tuple(one for path in prometheus_files() for one in _cases(path, rules))


def _cases(path: Path, rules: Mapping[str, Rule]) -> list[PackCase]:
    tree: dict[str, Any] = _read(path.with_name(path.name.removesuffix(".yaml") + ".test.yaml"))
    waits = {
        rule["alert"]: {name: rule[name] for name in ("for", "keep_firing_for") if name in rule}
        for group in _read(path)["groups"]
        for rule in group["rules"]
        if "alert" in rule
    }
    found: list[PackCase] = []
    for test in tree["tests"]:
        asked: dict[str, dict[str, tuple[Labels, ...]]] = {}
        for case in test["alert_rule_test"]:
            alerts = (one.get("exp_labels", {}) for one in case.get("exp_alerts") or ())
            labels = tuple(Labels({name: str(value) for name, value in one.items()}) for one in alerts)
            asked.setdefault(case["alertname"], {})[case["eval_time"]] = labels
        series = tuple(InputSeries.of(one["series"], str(one["values"])) for one in test["input_series"])
        found += (
            PackCase(
                name=test["name"],
                rule=rules[name],
                waits=waits[name],
                series=series,
                interval=test.get("interval", "1m"),
                evaluation_interval=tree.get("evaluation_interval", "1m"),
                expected=expected,
            )
            for name, expected in asked.items()
        )
    return found


def _read(path: Path) -> Any:
    return from_yaml(path.read_text(encoding="utf-8"))
