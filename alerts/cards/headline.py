"""The headline of an incident: of all alerts that its lead stands for, and in the past tense once it is over. Pure."""

import re
from collections.abc import Mapping, Sequence

from alerts.incidents.grouping import place_of, shared_subject
from alerts.incidents.incident import Incident, Member

_PLACEHOLDER = re.compile(r"\{([a-z]+)\}")


def headline(incident: Incident) -> str:
    """Return what is wrong in one sentence without its full stop, or what was wrong."""
    lead = incident.lead
    alike = alike_of(incident)
    said = _standing(incident, lead, alike)
    if incident.is_open:
        return said
    past = filled(lead.resolved_headline, group_words(incident, alike)) if lead.resolved_headline else None
    return past.rstrip(".") if past else f"Over: {said}"


def alike_of(incident: Incident) -> tuple[Member, ...]:
    """Return the alerts of the lead's rule: those that stand, or those of the last time once it is over."""
    lead = incident.lead
    recent = (
        member
        for member in incident.members
        if not incident.is_open and (member.resolved_at or member.since) >= incident.began_at
    )
    return tuple(one for one in incident.standing or recent if one.name == lead.name) or (lead,)


def _standing(incident: Incident, lead: Member, alike: Sequence[Member]) -> str:
    worst = max(alike, key=lambda member: member.value if member.value == member.value else float("-inf"))
    if worst.headline and not lead.is_worse:
        said = filled(worst.headline, group_words(incident, alike))
        if said is not None:
            return said.rstrip(".")
    more = f" (+{len(alike) - 1} more)" if len(alike) > 1 else ""
    return f"{lead.summary.rstrip('.')}{more}"


def group_words(incident: Incident, alike: Sequence[Member]) -> Mapping[str, str]:
    """Return what a headline may name: what the alerts share, how many they are, and their GPUs."""
    shared = shared_subject(incident)
    return {
        **shared.words(),
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
