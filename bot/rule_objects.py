"""This file reads the cluster's PrometheusRule objects: others' rules, whose annotations offer nothing."""

from dataclasses import dataclass

import msgspec

from alerts.loading import Loaded, load, together
from alerts.rules import Diagnostic, FileLocation
from bot.rulebook import symbols
from collectors.facts.errors import SourceError
from collectors.sources.kubernetes import KubernetesSource

PATH = "/apis/monitoring.coreos.com/v1/prometheusrules"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleObjects:
    """What was read. `is_served` is False where the cluster does not know the kind."""

    loaded: Loaded
    is_served: bool = True


async def read_rule_objects(source: KubernetesSource) -> RuleObjects:
    """All of them. Each object is judged alone: a broken one is a diagnostic, and the others load."""
    found: list[Loaded] = []
    try:
        async for page in source.pages(PATH):
            for item in msgspec.json.decode(page).get("items") or []:
                meta = item["metadata"]
                name = f"{meta['namespace']}:{meta['name']}"  # its rules' ids begin with all of it: no `/`
                whole = {"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule", **item}
                text = msgspec.json.encode(whole)  # JSON is YAML
                found.append(load(text, file=name, symbols=symbols(), own=False))
    except SourceError as why:
        if why.status == 404:
            return RuleObjects(loaded=Loaded(), is_served=False)
        diagnostic = Diagnostic(location=FileLocation(file=PATH), message=str(why))
        return RuleObjects(loaded=Loaded(diagnostics=(diagnostic,)))
    return RuleObjects(loaded=together(found))
