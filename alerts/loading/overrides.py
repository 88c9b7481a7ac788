"""Overrides of rules by the settings: timing, severity, interval, threshold, and whether a rule is enabled."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from alerts.loading.node_reader import did_you_mean, parse_span
from alerts.rules import Diagnostic, FileLocation, Rule, RuleGroup, Severity, Timing
from collectors.facts.queries import LogQuery

KEYS = ("for", "keep_firing_for", "severity", "enabled", "interval", "above", "remediation")
LOCATION = "rules.overrides"  # where the overrides are in the settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Overridden:
    """The groups with the overrides applied, and the errors in the overrides themselves."""

    groups: tuple[RuleGroup, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def override(groups: Iterable[RuleGroup], overrides: Mapping[str, Mapping[str, object]]) -> Overridden:
    """Change rules by id (`pack/group/name`), or by a name that only one rule has; the id takes precedence.

    An invalid value changes nothing and is a diagnostic at `rules.overrides.<name>.<key>`.
    """
    before = tuple(groups)
    ids: dict[str, list[str]] = {}
    for group in before:
        for rule in group.rules:
            ids.setdefault(rule.name, []).append(rule.id)
    known = {*ids, *(id for same in ids.values() for id in same)}
    diagnostics: list[Diagnostic] = []
    valid: dict[str, dict[str, object]] = {}
    for name, given in overrides.items():
        if name not in known:
            near = did_you_mean(name, known)
            diagnostics.append(_diagnostic(name, f"no rule is named `{name}`{near if '`' in near else ''}"))
            continue
        if len(same := ids.get(name, [])) > 1:
            written = " or ".join(f"`{id}`" for id in same)
            diagnostics.append(_diagnostic(name, f"{len(same)} rules are named `{name}`: write {written}"))
            continue
        valid[name] = {}
        for key, value in given.items():
            try:
                valid[name][key] = _value(key, value)
            except ValueError as error:
                diagnostics.append(_diagnostic(f"{name}.{key}", str(error)))
    after = tuple(
        replace(
            group,
            rules=tuple(_changed(rule, valid, diagnostics) for rule in group.rules if _is_on(rule, valid)),
        )
        for group in before
    )
    return Overridden(groups=after, diagnostics=tuple(diagnostics))


def _diagnostic(where: str, what: str) -> Diagnostic:
    return Diagnostic(location=FileLocation(file=f"{LOCATION}.{where}"), message=what)


def _value(key: str, value: object) -> object:
    match key:
        case "for" | "keep_firing_for" | "interval":
            span = value if isinstance(value, timedelta) else parse_span(str(value))
            if span < timedelta() or (key == "interval" and not span):
                raise ValueError(f"`{key}` must be longer than 0")
            return span
        case "severity":
            levels = [level.value for level in Severity]
            if value not in levels:
                raise ValueError(f"`{value}` is not a severity: use one of {', '.join(levels)}")
            return str(value)
        case "enabled" | "remediation":
            if not isinstance(value, bool):
                raise ValueError(f"`{value}` must be true or false")
            return value
        case "above":
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                raise ValueError(f"`{value}` must be a non-negative number")
            return float(value)
        case _:
            raise ValueError(f"unknown key `{key}`{did_you_mean(key, KEYS)}")


def _overrides_of(rule: Rule, valid: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    return {**valid.get(rule.name, {}), **valid.get(rule.id, {})}


def _is_on(rule: Rule, valid: Mapping[str, Mapping[str, object]]) -> bool:
    return _overrides_of(rule, valid).get("enabled", True) is not False


def _changed(rule: Rule, valid: Mapping[str, Mapping[str, object]], diagnostics: list[Diagnostic]) -> Rule:
    for key, value in _overrides_of(rule, valid).items():
        match key, value:
            case "for", timedelta():
                rule = replace(rule, timing=Timing(for_=value, keep_firing_for=rule.timing.keep_firing_for))
            case "keep_firing_for", timedelta():
                rule = replace(rule, timing=Timing(for_=rule.timing.for_, keep_firing_for=value))
            case "interval", timedelta():
                rule = replace(rule, interval=value)
            case "severity", str():
                labels = {**rule.template.labels, "severity": value}
                rule = replace(rule, template=replace(rule.template, labels=labels))
            case "remediation", False:
                rule = replace(rule, template=replace(rule.template, remediation="", remediation_with=()))
            case "above", float():
                if isinstance(rule.query, LogQuery):
                    rule = replace(rule, query=replace(rule.query, above=value))
                else:
                    what = "`above` is for log searches: in PromQL the threshold is part of the expression"
                    diagnostics.append(_diagnostic(f"{rule.name}.above", what))
            case _:
                pass
    return rule
