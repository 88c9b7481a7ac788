"""Verdicts on rules: what each can see, and what to do first so that the most and most severe rules see again. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from alerts.rules import Rule, Severity
from collectors.facts.findings import Finding, RuleHealth
from collectors.facts.sentences import sentence
from commands.core.rule_runs import RuleRun
from commands.rule.notifications import NotificationCount

_WEIGHT = {Severity.CRITICAL: 9, Severity.WARNING: 3, Severity.INFO: 1}
_NEVER_RUN = RuleRun()
_NONE_SENT = NotificationCount()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleVerdict:
    """What one rule can see and why, and how often it called people. `finding` says how to fix it."""

    rule: Rule
    health: RuleHealth
    reason: str = ""
    finding: Finding | None = None
    run: RuleRun = _NEVER_RUN
    sent: NotificationCount = _NONE_SENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """One thing to do, and the rules that see again once it is done."""

    finding: Finding
    rules: tuple[Rule, ...]

    @property
    def worst(self) -> Severity:
        return max((severity_of(rule) for rule in self.rules), key=lambda one: one.rank)

    @property
    def value(self) -> int:
        return sum(_WEIGHT[severity_of(rule)] for rule in self.rules)


def severity_of(rule: Rule) -> Severity:
    """Return a rule's severity; of one that is chosen by a template, the highest that it names."""
    label = rule.template.labels.get("severity", "")
    if "{{" not in label:
        return Severity.of(label)
    named = [one for one in Severity if one in label]
    return max(named, key=lambda one: one.rank, default=Severity.WARNING)


def verdicts(
    rules: Iterable[Rule],
    findings: Sequence[Finding],
    runs: Mapping[str, RuleRun],
    sent: Mapping[str, NotificationCount],
    now: datetime,
) -> list[RuleVerdict]:
    """Return a verdict of each rule, the worst first. `runs` and `sent` are by the rule's id."""
    worst: dict[str, Finding] = {}
    for finding in findings:
        for name in finding.rules:
            known = worst.get(name)
            if known is None or finding.health.rank > known.health.rank:
                worst[name] = finding
    found = []
    for rule in rules:
        run, finding_of = runs.get(rule.id, _NEVER_RUN), worst.get(rule.name)
        health, reason = _seen(rule, finding_of, run, now)
        found.append(
            RuleVerdict(
                rule=rule,
                health=health,
                reason=reason,
                finding=finding_of,
                run=run,
                sent=sent.get(rule.id, _NONE_SENT),
            )
        )
    return sorted(
        found, key=lambda one: (-one.health.rank, -severity_of(one.rule).rank, one.reason, one.rule.name)
    )


def _seen(rule: Rule, finding: Finding | None, run: RuleRun, now: datetime) -> tuple[RuleHealth, str]:
    if finding is not None and finding.health is RuleHealth.BLIND:
        return finding.health, finding.cause_of(rule.name)
    if run.blind:
        return RuleHealth.BLIND, run.blind
    if finding is not None and finding.health is RuleHealth.LATE:
        return finding.health, finding.cause_of(rule.name)
    if run.is_overdue(rule, now) and run.evaluated is not None:
        return RuleHealth.LATE, sentence(
            "it was last evaluated {age} ago, and is due every {interval}",
            age=now - run.evaluated,
            interval=rule.interval,
        )
    if run.is_slow(rule):
        reason = sentence(
            "its answer takes {took}, and it is due every {interval}", took=run.took, interval=rule.interval
        )
        return RuleHealth.LATE, reason
    return (finding.health, finding.cause_of(rule.name)) if finding is not None else (RuleHealth.HAS_DATA, "")


def fixes(found: Iterable[RuleVerdict]) -> list[Fix]:
    """Return what to do for the rules that are blind or late, what is worth most first."""
    rules: dict[Finding, list[Rule]] = {}
    for verdict in found:
        finding = verdict.finding
        if finding is not None and verdict.health.is_unseeing:
            rules.setdefault(finding, []).append(verdict.rule)
    every = (Fix(finding=finding, rules=tuple(some)) for finding, some in rules.items())
    return sorted(every, key=lambda one: (-one.value, one.finding.text))
