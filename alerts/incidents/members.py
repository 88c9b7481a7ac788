"""An alert as a member of its incident: what it says there, whom it concerns, and when it is worse than alone. Pure."""

from collections.abc import Iterable

from alerts.alert import Alert
from alerts.incidents.incident import Member
from alerts.incidents.ladders import ladder_of
from alerts.incidents.proofs import proofs_of
from alerts.incidents.wording import readable
from alerts.incidents.xid_advice import with_advice
from alerts.rules import Consequence, ImpactScope, ResolveWhen, Rule, Severity
from collectors.facts.queries import LogQuery

# Components that every training depends on. A rule that says nothing else concerns everybody if it is about one.
SHARED_COMPONENTS = frozenset({"admission-webhook", "apiserver", "dns", "etcd"})


def member_of(
    alert: Alert, rule: Rule | None, others: Iterable[Member] = (), *, is_worse: bool = False
) -> Member:
    """Return the alert as a member of an incident that has these others.

    `is_worse`: one of them made it worse before. It stays so while it stands, whatever becomes of the other.
    """
    if rule is not None and not is_worse:
        is_worse = any(_leads_to(other, alert, rule) for other in others)
    is_worse = is_worse and rule is not None
    severity = Severity.CRITICAL if is_worse else alert.severity
    is_critical = severity is Severity.CRITICAL
    is_logged = rule is not None and _is_fact(rule)
    proofs = proofs_of(alert, rule, severity) if rule is not None else ()
    consequence = rule.template.consequence if rule is not None else None
    # Once the worse alert is over, a loss stays one, and anything else is past.
    says_its_end = rule is not None and not (is_worse and consequence is Consequence.LOSS)
    member = Member(
        alert=alert.id,
        rule=alert.rule,
        name=alert.name,
        severity=severity,
        state=alert.life.state,
        since=alert.life.since,
        summary=(_said("worse_summary", alert) if is_worse else "") or summary_of(alert),
        description=(_said("worse_description", alert) if is_worse else "") or _said("description", alert),
        headline=_said("headline", alert) if rule is not None and not is_worse else "",
        resolved_headline=_said("resolved_headline", alert) if says_its_end else "",
        value=alert.value,
        texts=alert.texts,
        subject=alert.subject,
        resolved_at=alert.life.resolved_at,
        unseen_since=alert.unseen_since,
        ended_reason=alert.ended_reason,
        is_logged=is_logged,
        is_worse=is_worse,
        consequence=consequence if is_critical else None,
        foreseen=None if is_critical else consequence,
        scope=scope_of(alert, rule),
        ladder=ladder_of(alert, rule),
        labels=alert.labels.without("alertname", "severity") if is_logged or proofs else {},
        proofs=proofs,
    )
    return with_advice(member, alert.labels)


def _said(annotation: str, alert: Alert) -> str:
    return readable(alert.annotations.get(annotation, ""), alert)


def _is_fact(rule: Rule) -> bool:
    """Whether one line says what has happened. A rule that counts lines measures, and recovers."""
    query = rule.query
    return isinstance(query, LogQuery) and not query.above and not query.novel and not query.times_usual


def _leads_to(other: Member, alert: Alert, rule: Rule) -> bool:
    """Whether the other alert makes this one worse: the rule names it, and no word says that it is of another thing."""
    if other.alert == alert.id or other.name not in rule.template.worse_after:
        return False
    named = other.labels.items() if other.is_logged else ()
    return all(alert.labels.get(name, value) == value for name, value in named)


def scope_of(alert: Alert, rule: Rule | None) -> ImpactScope:
    """Return whom the alert concerns: what its rule says, else by the component that it is about."""
    if rule is not None and rule.template.impact is not None:
        return rule.template.impact
    is_shared = alert.own_subject.component in SHARED_COMPONENTS
    return ImpactScope.CLUSTER if is_shared else ImpactScope.SUBJECT


def summary_of(alert: Alert) -> str:
    """Return the alert in one sentence: its own summary, or its name and what it is about."""
    if summary := alert.annotations.get("summary") or alert.annotations.get("message"):
        return readable(summary, alert)
    about = ", ".join(alert.own_subject.words().values()) or ", ".join(
        alert.labels.without("alertname", "severity").values()
    )
    return f"{alert.name}: {about}" if about else alert.name


def asks_for_somebody(member: Member, rule: Rule | None) -> bool:
    """Whether somebody must acknowledge the alert. One of severity info is context, and holds nothing open."""
    is_asked = rule is not None and rule.template.resolve_when is ResolveWhen.ACKNOWLEDGED
    return is_asked and member.severity is not Severity.INFO
