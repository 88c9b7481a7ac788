"""The volume that an alert is about, from what the log lines of its incident name together. Pure."""

from collections.abc import Iterable
from dataclasses import replace

from alerts.incidents.incident import Incident, Member
from alerts.rules import ImpactScope
from collectors.facts.topology import ClaimFacts, Topology

_WORDS = ("device", "volume", "claim")


def with_volume(member: Member, others: Iterable[Member], topology: Topology) -> Member:
    """Return the alert with its volume's claim, and, if data is lost, with the training that writes to it.

    One line names the device, another the volume on that device, a third its claim: what they have in common connects
    them. A training is only named if no other may be meant, since it may be stopped for it. While the volume is only
    in danger, its claim is what an action is about, and whom the alert concerns stays as its rule says.
    """
    claim = claim_of(member, others, topology)
    if claim is None:
        return member
    if not member.is_worse:
        return replace(member, subject=replace(member.subject, volume=claim.name))
    training = claim.writers[0] if len(claim.writers) == 1 else ""
    facts = topology.trainings.get(training)
    subject = replace(
        member.subject,
        volume=claim.name,
        namespace=claim.name.partition("/")[0],
        training=training,
        training_name=facts.name if facts is not None else "",
        owner=facts.owner if facts is not None else "",
    )
    return replace(member, subject=subject, scope=ImpactScope.SUBJECT)


def names_volume(member: Member) -> bool:
    """Whether the alert's labels name a device, a volume or a claim: else no other line says anything of it."""
    return any(word in member.labels for word in _WORDS)


def claim_of(member: Member, others: Iterable[Member], topology: Topology) -> ClaimFacts | None:
    """Return the claim of the volume that the alert is about; None where the lines do not name it."""
    named = _connected(member, [one for one in others if one.alert != member.alert])
    return next((topology.claims[name] for name in named if name in topology.claims), None)


def logs_of_volume(incident: Incident, volume: str) -> bool:
    """Whether the incident is open, and a log line that stands in it is about this volume."""
    return incident.is_open and any(
        one.is_logged and one.subject.volume == volume and incident.stands(one) for one in incident.members
    )


def _connected(member: Member, others: list[Member]) -> list[str]:
    """Return the claims and volumes that the member's line names, or lines that share a device or volume with it."""
    known = {word: name for word, name in member.labels.items() if word in _WORDS}
    while True:
        joined = [one for one in others if any(known.get(word) == name for word, name in one.labels.items())]
        found = {word: one.labels[word] for one in joined for word in _WORDS if word in one.labels}
        if found.keys() <= known.keys():
            return [known[word] for word in ("claim", "volume") if word in known]
        known = {**found, **known}
