"""Rules as a PrometheusRule object, for Prometheus, Mimir or a Thanos ruler to evaluate."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from alerts.loading.rule_files import pack_of
from alerts.rules import RecordingRule, Rule, RuleGroup
from collectors.facts.clock import format_duration
from collectors.facts.queries import PromQLQuery

ObjectFields = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The object, and the ids of the rules that only Yardmaster can evaluate: log searches and checks."""

    object: ObjectFields
    left_out: tuple[str, ...] = ()


def prometheus_rule(
    groups: Iterable[RuleGroup], *, name: str, namespace: str = "", labels: Mapping[str, str] | None = None
) -> Exported:
    """Return the PromQL rules of these groups as an object of the Prometheus operator."""
    found, left_out = [], []
    every = tuple(groups)
    names = Counter(group.name for group in every if _promql(group))
    for group in every:
        left_out += [rule.id for rule in group.rules if not isinstance(rule.query, PromQLQuery)]
        if rules := _promql(group):
            unique = group.name if names[group.name] == 1 else f"{pack_of(group.file)}-{group.name}"
            interval = {"interval": format_duration(group.interval)} if group.interval else {}
            found.append({"name": unique, **interval, "rules": [fields for _line, fields in rules]})
    metadata: ObjectFields = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if labels:
        metadata["labels"] = dict(labels)
    whole: ObjectFields = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": metadata,
        "spec": {"groups": found},
    }
    return Exported(object=whole, left_out=tuple(left_out))


def _promql(group: RuleGroup) -> list[tuple[int, ObjectFields]]:
    """Return the PromQL rules of a group in file order, each with its line."""
    alerts = [
        (rule.location.line, _alert(rule)) for rule in group.rules if isinstance(rule.query, PromQLQuery)
    ]
    records = [(rule.location.line, _record(rule)) for rule in group.recording_rules]
    return sorted([*alerts, *records], key=lambda one: one[0])


def _alert(rule: Rule) -> ObjectFields:
    assert isinstance(rule.query, PromQLQuery)
    annotations = {name: text for name, text in rule.template.annotations.items() if name != "proof"}
    timing = {"for": rule.timing.for_, "keep_firing_for": rule.timing.keep_firing_for}
    return {
        "alert": rule.name,
        "expr": rule.query.expr,
        **{name: format_duration(span) for name, span in timing.items() if span > timedelta()},
        **({"labels": dict(rule.template.labels)} if rule.template.labels else {}),
        **({"annotations": annotations} if annotations else {}),
    }


def _record(rule: RecordingRule) -> ObjectFields:
    labels = {"labels": dict(rule.labels)} if rule.labels else {}
    return {"record": rule.name, "expr": rule.expr, **labels}
