"""This file reads the shipped packs for tests: every rule, the file it stands in, and the cases beside it."""

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from alerts.loading import Loaded, load
from alerts.rules import Rule, Symbols
from collectors.checks.catalogue import CHECKS

PACKS = Path(str(resources.files("alerts.packs")))
RUNBOOKS = PACKS.parent.parent / "docs" / "runbooks"


def pack_files() -> list[Path]:
    """Every rule file that is shipped, cases left out."""
    return sorted(path for path in PACKS.glob("*.yaml") if not path.name.endswith(".test.yaml"))


def prometheus_files() -> list[Path]:
    return [path for path in pack_files() if not path.name.endswith(".yard.yaml")]


@cache
def loaded(path: Path) -> Loaded:
    """The file's rules. Any offer is taken here: whether it parses is a test of its own."""
    words = Symbols(checks={name: frozenset(check.parameters) for name, check in CHECKS.items()})
    return load(path.read_text(encoding="utf-8"), file=path.name, symbols=words, own=True)


def shipped_rules() -> dict[str, Rule]:
    """Every shipped rule by its name, which is unique among the packs."""
    return {rule.name: rule for path in pack_files() for group in loaded(path).groups for rule in group.rules}


def promtool_cases(path: Path) -> dict[str, list[bool]]:
    """For each alert in the file's cases: whether each case expects it to fire."""
    file = path.with_name(path.name.removesuffix(".yaml") + ".test.yaml")
    told: dict[str, list[bool]] = {}
    if not file.exists():
        return told
    tree: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    for test in tree["tests"]:
        for case in test["alert_rule_test"]:
            told.setdefault(case["alertname"], []).append(bool(case.get("exp_alerts")))
    return told
