"""Proofs by actions: tests that a node passed, and repairs that have looked at what they repaired. Pure."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase

from alerts.incidents.events import IncidentEventType
from alerts.incidents.evidence import Evidence, Proven
from alerts.incidents.incident import Incident, Member
from alerts.rules import Proof


def prove_accepted(
    incident: Incident, *, node: str, since: datetime, now: datetime, gpus: Collection[str] = ()
) -> Incident:
    """Return the incident with the proof that the node passed its tests, which began at `since`.

    It proves that faults of GPUs are over that wait for a proof, and those whose rule asks for it: not a volume's.
    `gpus`: the names of the GPU that was tested alone; of the others it proves nothing.
    """
    proven = Proven(proof=Proof.ACCEPTED, at=now, since=since)
    members = tuple(
        replace(member, proven=proven)
        if _is_tested(member, incident, node, since) and (not gpus or member.subject.gpu in gpus)
        else member
        for member in incident.members
    )
    if members == incident.members:
        return incident
    return replace(incident, members=members).with_event(IncidentEventType.PROVEN, now)


def note_repair(
    incident: Incident, *, nodes: Collection[str], relieves: Collection[str], now: datetime
) -> Incident:
    """Return the incident after an action on these nodes has worked that relieves the alerts of these patterns.

    It proves the fault over of a rule that asks for it, once its alert has ended and unless it happens again.
    """
    return replace(
        incident,
        members=tuple(
            replace(member, evidence=replace(member.evidence or Evidence(since=now), repaired_at=now))
            if Proof.REPAIRED in member.proofs
            and member.subject.node in nodes
            and any(fnmatchcase(member.name, pattern) for pattern in relieves)
            else member
            for member in incident.members
        ),
    )


def _is_tested(member: Member, incident: Incident, node: str, since: datetime) -> bool:
    if member.subject.node != node or since < incident.began_at or not incident.awaits_proof(member):
        return False
    return Proof.ACCEPTED in member.proofs or bool(member.subject.gpu) or member.name.startswith("GPU")
