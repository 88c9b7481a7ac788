"""The shipped packs for tests: every rule, its file, and the promtool cases next to it."""

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from alerts.loading import Loaded, load
from alerts.rules import Rule, Symbols
from collectors.check_catalogue import CHECKS
from tests.support.quick_yaml import from_yaml

PACKS = Path(str(resources.files("alerts.packs")))
RUNBOOKS = PACKS / "runbooks"


def pack_files() -> list[Path]:
    """Return every shipped rule file, without the test cases."""
    return sorted(path for path in PACKS.glob("*.yaml") if not path.name.endswith(".test.yaml"))


def prometheus_files() -> list[Path]:
    return [path for path in pack_files() if not path.name.endswith(".yard.yaml")]


@cache
def loaded(path: Path) -> Loaded:
    """Return the file's rules. Actions are not checked here: a separate test parses them."""
    symbols = Symbols(checks={name: check.parameters for name, check in CHECKS.items()})
    return load(path.read_text(encoding="utf-8"), file=path.name, symbols=symbols, own=True)


def shipped_rules() -> dict[str, Rule]:
    """Return every shipped rule by its name, which is unique among the packs."""
    return {rule.name: rule for path in pack_files() for group in loaded(path).groups for rule in group.rules}


@cache
def promtool_cases(path: Path) -> dict[str, list[bool]]:
    """Return, for each alert in the file's cases, whether each case expects it to fire."""
    file = path.with_name(path.name.removesuffix(".yaml") + ".test.yaml")
    expectations: dict[str, list[bool]] = {}
    if not file.exists():
        return expectations
    tree: dict[str, Any] = from_yaml(file.read_text(encoding="utf-8"))
    for test in tree["tests"]:
        for case in test["alert_rule_test"]:
            expectations.setdefault(case["alertname"], []).append(bool(case.get("exp_alerts")))
    return expectations
