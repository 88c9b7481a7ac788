"""The headline of an incident: of all alerts that its lead stands for, and in the past tense once it is over. Pure."""

import re
from collections.abc import Mapping, Sequence

from alerts.incidents.grouping import place_of, shared_by
from alerts.incidents.incident import Incident, Member

_PLACEHOLDER = re.compile(r"\{([a-z]+)\}")


def headline(incident: Incident) -> str:
    """Return what is wrong in one sentence without its full stop, or what was wrong."""
    alike = alike_of(incident)
    if incident.crash_of and incident.lead.xid:
        return (
            f"{incident.crash_of} crashed: XID {incident.lead.xid} on all of its nodes"
            if incident.is_open
            else f"{incident.crash_of} had crashed: XID {incident.lead.xid} on all of its nodes"
        )
    if (said := group_headline(incident, alike)) is not None:
        return said
    more = f" (+{len(alike) - 1} more)" if len(alike) > 1 else ""
    said = f"{incident.lead.summary.rstrip('.')}{more}"
    return said if incident.is_open or incident.lead.is_worse else f"Over: {said}"


def alike_of(incident: Incident) -> tuple[Member, ...]:
    """Return the alerts of the lead's rule: those that stand, or those of the last time once it is over."""
    lead = incident.lead
    recent = (
        member
        for member in incident.members
        if not incident.is_open and (member.resolved_at or member.since) >= incident.began_at
    )
    return tuple(one for one in incident.standing or recent if one.name == lead.name) or (lead,)


def group_headline(incident: Incident, alike: Sequence[Member]) -> str | None:
    """Return what alerts of one rule say together, in the past tense once it is over; None where their rule does not.

    The one with the highest value speaks for all.
    """
    worst = max(alike, key=lambda member: member.value if member.value == member.value else float("-inf"))
    template = worst.headline if incident.is_open else worst.resolved_headline
    said = filled(template, group_words(incident, alike)) if template else None
    return said.rstrip(".") if said else None


def group_words(incident: Incident, alike: Sequence[Member]) -> Mapping[str, str]:
    """Return what a headline may name: what the alerts share, how many they are, and their GPUs."""
    shared = shared_by(incident.subject, alike)
    return {
        **shared.words(),
        "component": shared.component.removesuffix(".service"),  # a unit of systemd
        "place": place_of(shared) or incident.cluster,
        "count": str(len(alike)),
        "gpus": _gpus(incident, alike),
    }


def _gpus(incident: Incident, alike: Sequence[Member]) -> str:
    """Return `GPU 3`, or `8 of 8 GPUs` of the node; empty if the alerts are not about GPUs."""
    known = sorted({member.subject.gpu for member in alike if member.subject.gpu})
    if len(known) == 1:
        return f"GPU {known[0]}"
    if not known:
        return ""
    return f"{len(known)} of {incident.gpus} GPUs" if incident.gpus >= len(known) else f"{len(known)} GPUs"


def filled(sentence: str, words: Mapping[str, str]) -> str | None:
    """Return the sentence with its {placeholders} filled, or None if one is not known."""
    if any(not words.get(name) for name in _PLACEHOLDER.findall(sentence)):
        return None
    return _PLACEHOLDER.sub(lambda found: words[found[1]], sentence)
