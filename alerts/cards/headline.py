"""The headline of an incident: of all alerts that its lead stands for, and in the past tense once it is over. Pure."""

import re
from collections.abc import Mapping, Sequence

from alerts.annotation_template import RULE_CONTEXT
from alerts.incidents.group_keys import CLUSTER_WIDE
from alerts.incidents.grouping import place_of, shared_by
from alerts.incidents.incident import Incident, Member
from alerts.incidents.ladders import implied
from alerts.incidents.totals import GroupTotals
from alerts.rules import Severity
from collectors.facts.sentences import (
    Sentence,
    counted,
    escaped_braces,
    headline_of,
    in_context,
    listed,
    sentence,
)

_PLACEHOLDER = re.compile(r"\{\{([a-z]+)\}\}")  # in the template of a sentence
_PLAIN_PLACEHOLDER = re.compile(r"\{([a-z]+)\}")


def headline(incident: Incident) -> str:
    """Return what is wrong in one sentence without its full stop, or what was wrong.

    Of a component of the whole cluster it counts what else is wrong: its faults may have nothing to do with each other.
    """
    said = _of_lead(incident)
    others = _other_faults(incident)
    if not others:
        return said
    return counted(
        "{said}, and {count} other alert", "{said}, and {count} other alerts", said=said, count=others
    )


def _other_faults(incident: Incident) -> int:
    if incident.subject.component not in CLUSTER_WIDE:
        return 0
    lead = incident.lead
    said_already = implied(incident)
    others = (
        one
        for one in incident.standing
        if one.severity is not Severity.INFO and one.alert not in said_already
    )
    return len({one.name for one in others} - {lead.name})


def _of_lead(incident: Incident) -> str:
    """Return what the lead says, or the alerts of its rule together."""
    alike = alike_of(incident)
    if incident.crash_of and incident.lead.xid:
        crashed = (
            "{training} crashed: XID {xid} on all of its nodes"
            if incident.is_open
            else "{training} had crashed: XID {xid} on all of its nodes"
        )
        return sentence(crashed, training=incident.crash_of, xid=incident.lead.xid)
    totals = incident.totals.alike if incident.totals is not None else None
    if (said := group_headline(incident, alike, totals)) is not None:
        return said
    count = totals.count if totals else len(alike)
    said = headline_of(incident.lead.summary)
    if count > 1:
        said = sentence("{alert} (+{count} more)", alert=said, count=count - 1)
    return said if incident.is_open or incident.lead.is_worse else sentence("Over: {alert}", alert=said)


def alike_of(incident: Incident) -> tuple[Member, ...]:
    """Return the alerts of the lead's rule: those that stand, or those of the last time once it is over."""
    lead = incident.lead
    recent = (
        member
        for member in incident.members
        if not incident.is_open and (member.resolved_at or member.since) >= incident.began_at
    )
    alike = (one for one in incident.standing or recent if one.name == lead.name)
    return tuple(one for one in alike if one.gravity == lead.gravity or not lead.is_worse) or (lead,)


def group_headline(
    incident: Incident,
    alike: Sequence[Member],
    totals: GroupTotals | None = None,
    *,
    is_over: bool | None = None,
) -> str | None:
    """Return what alerts of one rule say together, in the past tense once it is over; None where their rule does not.

    The one with the highest value speaks for all. `totals`: of all that are alike, where these are only the first.
    `is_over`: whether these alerts are, if not as the incident is.
    """
    worst = max(alike, key=lambda member: member.value if member.value == member.value else float("-inf"))
    is_past = not incident.is_open if is_over is None else is_over
    template = worst.resolved_headline if is_past else worst.headline
    said = filled(template, group_words(incident, alike, totals)) if template else None
    return headline_of(said) if said else None


def group_words(
    incident: Incident, alike: Sequence[Member], totals: GroupTotals | None = None
) -> Mapping[str, str]:
    """Return what a headline may name: what the alerts share, how many they are, and their GPUs."""
    known = sorted({member.subject.gpu for member in alike if member.subject.gpu})
    shared = totals.subject if totals else shared_by(incident.subject, alike)
    own = shared_by(alike[0].subject, alike) if totals is None else shared  # what the incident is not about
    return {
        **own.words(),
        **shared.words(),
        "component": shared.component.removesuffix(".service"),  # a unit of systemd
        "place": place_of(shared) or incident.cluster,
        "count": str(totals.count if totals else len(alike)),
        "gpus": _gpus(incident, known, totals.gpus if totals else len(known)),
        "xids": listed(map(str, sorted({member.xid for member in alike if member.xid})), "and"),
    }


def _gpus(incident: Incident, known: Sequence[str], count: int) -> str:
    """Return `GPU 3`, or `8 of 8 GPUs` of the node; empty if the alerts are not about GPUs."""
    if count == 1:
        return sentence("GPU {known}", known=known[0])
    if not count:
        return ""
    return (
        counted("{number} of {count} GPU", "{number} of {count} GPUs", number=count, count=incident.gpus)
        if incident.gpus >= count
        else counted("{count} GPU", "{count} GPUs", count=count)
    )


def filled(template: str, words: Mapping[str, str]) -> str | None:
    """Return the template with its {placeholders} filled, or None if one is not known.

    Those of a sentence are escaped in its own template, and become holes of it.
    """
    known = template.arguments if isinstance(template, Sentence) else {}
    own = template.template if isinstance(template, Sentence) else escaped_braces(template)
    names = set(_PLACEHOLDER.findall(own))
    if any(not words.get(name) for name in names):
        return None
    arguments = {**known, **{name: words[name] for name in names}}
    if own.count("`") % 2 or any(known.get(name, words[name]) != words[name] for name in names):
        return _PLAIN_PLACEHOLDER.sub(lambda found: words.get(found[1], found[0]), template)
    return in_context(RULE_CONTEXT, _PLACEHOLDER.sub(r"{\1}", own), arguments)
