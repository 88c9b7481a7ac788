"""The shipped PromQL rules and public rule files, once for Prometheus and once for the product."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from alerts.loading import load
from alerts.rules import RuleGroup, Symbols
from tests.alerts.packs.shipped import PACKS, prometheus_files
from tests.support.quick_yaml import from_yaml

SHARED = Path(__file__).parents[4].parent / "shared" / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFile:
    """A rule file: its name, unique among all, its text for Prometheus, and its groups as the product reads them."""

    name: str
    text: str
    own: bool  # one of the packs
    groups: tuple[RuleGroup, ...]


def rule_files() -> Iterator[RuleFile]:
    """Yield the packs, and every public file that Prometheus accepts."""
    for pack in prometheus_files():
        yield _file(f"pack-{pack.name}", pack.read_text(encoding="utf-8"), own=True)
    manifest = json.loads((SHARED / "rules" / "MANIFEST.json").read_text(encoding="utf-8"))
    public = [SHARED / "rules" / one["file"] for one in manifest["files"] if one["accept"]]
    for number, path in enumerate([*public, SHARED / "rule_eval" / "rules.yaml"]):
        text = path.read_text(encoding="utf-8")
        yield _file(f"{number:03}-{path.name}", _plain(text), own=False)


def series() -> Iterator[dict[str, str]]:
    """Yield the input series of the packs' cases and of the public cases."""
    for file in sorted(PACKS.glob("*.test.yaml")):
        tree = from_yaml(file.read_text(encoding="utf-8"))
        for test in tree["tests"]:
            yield {one["series"]: str(one["values"]) for one in test["input_series"]}
    for case in json.loads((SHARED / "rule_eval" / "cases.json").read_text(encoding="utf-8")):
        yield {one["series"]: one["values"] for one in case["input_series"]}


def _file(name: str, text: str, *, own: bool) -> RuleFile:
    loaded = load(text, file=name, symbols=Symbols(), own=own)
    assert not loaded.diagnostics, loaded.diagnostics
    return RuleFile(name=name, text=text, own=own, groups=loaded.groups)


def _plain(text: str) -> str:
    """Return a PrometheusRule object as the plain file that its operator writes."""
    tree: Any = from_yaml(text)
    if isinstance(tree, dict) and tree.get("kind") == "PrometheusRule":
        return yaml.safe_dump(tree["spec"], sort_keys=False, width=10_000)
    return text
