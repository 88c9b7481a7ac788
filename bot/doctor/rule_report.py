"""The last part of the doctor's report: what every rule of a cluster can see, as findings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from alerts.received import RECEIVED
from alerts.rules import Rule
from alerts.silences import Silence
from alerts.store import EvaluationProgress, StoreError
from bot.store.backends.backend_catalogue import DATABASE_ERRORS, backend_of
from bot.store.sql_store import SqlStore
from collectors.facts.findings import Finding, FindingLevel, RuleHealth, ok, warning
from collectors.facts.sentences import counted
from commands.core.rule_runs import RuleRun
from commands.rule.notifications import NotificationCount, notification_counts
from commands.rule.verdicts import RuleVerdict, fixes, severity_of, verdicts

_LOOKED_THROUGH = 5_000  # incidents
_UNREADABLE: tuple[type[Exception], ...] = (StoreError, *DATABASE_ERRORS)
_RUNS_WITHIN = timedelta(minutes=15)  # a Yardmaster that has not evaluated any rule since does not run
_WHERE = "yardmaster_rule_evaluation_duration_seconds and yardmaster_rule_evaluation_lag_seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleHistory:
    """What a running Yardmaster has stored about its rules, by the rule's id."""

    runs: Mapping[str, RuleRun] = field(default_factory=dict)
    sent: Mapping[str, NotificationCount] = field(default_factory=dict)
    received: Sequence[Alert] = ()  # from other programs


async def stored_history(url: str, cluster: str, now: datetime) -> RuleHistory:
    """Return what the store has about a cluster's rules; nothing where there is no store yet."""
    try:
        if not _is_there(url):
            return RuleHistory()
        store = SqlStore.to_read(url)
    except (ValueError, OSError):
        return RuleHistory()
    try:
        async with store.read() as snapshot:
            incidents = await snapshot.rows(Incident).find(
                cluster=cluster, newest=True, limit=_LOOKED_THROUGH
            )
            received = await snapshot.rows(Alert).find(
                cluster=cluster, rule=RECEIVED, newest=True, limit=_LOOKED_THROUGH
            )
            silences = await snapshot.rows(Silence).find(cluster=cluster)
            progress = await snapshot.rows(EvaluationProgress).get(cluster)
    except _UNREADABLE:
        return RuleHistory()
    finally:
        await store.close()
    evaluated = progress.evaluated if progress is not None else {}
    is_running = bool(evaluated) and now - max(evaluated.values()) < _RUNS_WITHIN
    return RuleHistory(
        runs={id: RuleRun(evaluated=at) for id, at in evaluated.items()} if is_running else {},
        sent=notification_counts(incidents, silences, now),
        received=received,
    )


def _is_there(url: str) -> bool:
    """Whether there is a store to read: opening a file that is not there would create it."""
    file = backend_of(url).file
    return file is None or file.is_file()


def rule_findings(
    rules: Sequence[Rule], findings: Sequence[Finding], history: RuleHistory, now: datetime
) -> list[Finding]:
    """Return what to do first, and a finding of each rule: whether it has data, waits, is late or blind, is noisy."""
    found = verdicts(rules, findings, history.runs, history.sent, now)
    seeing = sum(one.health is RuleHealth.HAS_DATA for one in found)
    report = [
        ok(
            counted(
                "{count} of {rules} rules has data",
                "{count} of {rules} rules have data",
                count=seeing,
                rules=len(found),
            )
        )
    ]
    for number, fix in enumerate(fixes(found), start=1):
        opens = counted(
            "{number}. {count} rule, {severity} at most: {cause}",
            "{number}. {count} rules, {severity} at most: {cause}",
            number=number,
            count=len(fix.rules),
            severity=fix.worst.value,
            cause=fix.finding.cause,
        )
        first = warning(opens, fix.finding.fix, fix.finding.lines)
        report.append(replace(first, cause=fix.finding.cause))
    return [*report, *map(_of_rule, found)]


def _of_rule(verdict: RuleVerdict) -> Finding:
    sent = verdict.sent
    said = f"{verdict.rule.name} ({severity_of(verdict.rule).value}): {verdict.health.value}"
    if verdict.reason:
        said += f", {verdict.reason}"
    if sent.sent:
        said += "; " + counted(
            "{count} notification in a week, {acted:.0%} acted on",
            "{count} notifications in a week, {acted:.0%} acted on",
            count=sent.sent,
            acted=sent.acted / sent.sent,
        )
    sees = not verdict.health.is_unseeing
    # What is broken is the finding that names its cause.
    level = FindingLevel.OK if sees else FindingLevel.WARNING
    fix = verdict.finding.fix if verdict.finding is not None and level is not FindingLevel.OK else ""
    if verdict.health is RuleHealth.LATE and verdict.finding is None:
        fix = f"look at {_WHERE}: its source is slow, or Yardmaster does not run"
    if sent.is_noisy:
        level = FindingLevel.WARNING
        said += ": noisy"
        fix = fix or "raise its threshold or its `for` with rules.overrides, or leave it out"
    one = Finding(
        level=level,
        text=said,
        fix=fix,
        rules=(verdict.rule.name,),
        health=verdict.health,
        cause=verdict.finding.cause if verdict.finding is not None and not sent.is_noisy else "",
    )
    return replace(
        one, lines=verdict.finding.lines_of(verdict.rule.name) if verdict.finding is not None else ()
    )
