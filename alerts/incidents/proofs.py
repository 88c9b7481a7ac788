"""Proofs that a fault is over which time does not heal: what was seen of it since its alert began, and what ends it.

A proof must be seen to come true: one that held all the time says nothing of the fault. What cannot be seen proves
nothing, and neither does it count as the fault. Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.incidents.events import IncidentEventType
from alerts.incidents.evidence import Evidence, Proven
from alerts.incidents.incident import Incident, Member
from alerts.incidents.volumes import claim_of
from alerts.rules import Proof, ResolveWhen, Rule, Severity
from collectors.facts.label_mapping import subject_of
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from collectors.facts.topology import NodeFacts, Topology

LATE = timedelta(minutes=2)  # within which log lines of before a repair may come after it


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofFacts:
    """What may prove something now. Without `topology` the cluster cannot be seen.

    `metrics`: the results of proof queries by rule id; a rule is missing while its query is not answered.
    """

    topology: Topology | None = None
    metrics: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)


NO_FACTS = ProofFacts()


def proofs_of(alert: Alert, rule: Rule, severity: Severity) -> tuple[Proof, ...]:
    """Return what may prove that the alert's fault is over; empty if its end is proof enough."""
    template = rule.template
    if template.resolve_when is not ResolveWhen.PROVEN or severity.rank < template.proof_severity.rank:
        return ()
    words = alert.annotations.get("proof", "").split()
    return tuple(proof for proof in Proof if proof in words) or ((Proof.WORD,) if words else ())


def carried(member: Member, before: Member | None, now: datetime) -> Member:
    """Return the alert with what was seen of it before, unless it fired again or happened again."""
    if before is None or not before.is_firing:
        return member
    if member.is_firing and member.value > before.value:
        at = before.evidence.repaired_at if before.evidence else None
        is_late = at is not None and now - at <= LATE
        return replace(member, evidence=Evidence(since=now, repaired_at=at)) if is_late else member
    is_proven = member.is_unseen or not member.is_firing
    return replace(member, evidence=before.evidence, proven=before.proven if is_proven else None)


def with_proofs(incident: Incident, facts: ProofFacts, now: datetime) -> Incident:
    """Return the incident with what is seen now of the faults that need a proof, and with the proofs."""
    if not incident.is_open or not any(incident.needs_proof(member) for member in incident.members):
        return incident
    members = tuple(
        _looked(member, incident, facts, now) if incident.needs_proof(member) else member
        for member in incident.members
    )
    if members == incident.members:
        return incident
    after = replace(incident, members=members)
    is_new = any(member.proven and member.proven.at == now for member in members)
    return after.with_event(IncidentEventType.PROVEN, now) if is_new else after


def say_over(
    incident: Incident, *, who: str, who_name: str = "", reason: str = "", now: datetime
) -> Incident:
    """Return the incident with a person's word that the faults which wait for a proof are over.

    An alert that fires only because its target no longer has data, such as a GPU that was replaced, is over as well.
    """
    word = Proven(proof=Proof.WORD, at=now, who=who, who_name=who_name, reason=reason)
    members = tuple(
        replace(member, proven=word)
        if incident.awaits_proof(member) or (member.is_firing and member.is_unseen)
        else member
        for member in incident.members
    )
    after = replace(incident, members=members)
    return after.with_event(IncidentEventType.PROVEN, now, text=reason, who=who, who_name=who_name)


def take_back_word(
    incident: Incident, *, who: str, who_name: str = "", reason: str = "", now: datetime
) -> Incident | None:
    """Return the incident as it stood before a person's word, or their acknowledgement, ended it.

    None where neither did: then nothing but its alerts can open it again.
    """
    word = next((one.proven for one in incident.members if _is_word(one, incident)), None)
    is_acknowledgement = _ended_by_acknowledging(incident)
    if word is None and not is_acknowledgement:
        return None
    members = tuple(replace(one, proven=None) if _is_word(one, incident) else one for one in incident.members)
    again = replace(incident, members=members, resolved_at=None)
    came_with_it = word is not None and (word.who, word.at) == (again.acknowledged_by, again.acknowledged_at)
    if is_acknowledgement or came_with_it:
        again = replace(again, acknowledged_by="", acknowledged_by_name="", acknowledged_at=None)
    return again.with_event(IncidentEventType.REOPENED, now, text=reason, who=who, who_name=who_name)


def _is_word(member: Member, incident: Incident) -> bool:
    proven = member.proven
    return proven is not None and proven.proof is Proof.WORD and proven.at >= incident.began_at


def _ended_by_acknowledging(incident: Incident) -> bool:
    at = incident.acknowledged_at
    if incident.is_open or at is None or incident.resolve_when is not ResolveWhen.ACKNOWLEDGED:
        return False
    return all(one.resolved_at is not None and one.resolved_at <= at for one in incident.members)


def _looked(member: Member, incident: Incident, facts: ProofFacts, now: datetime) -> Member:
    """Return the alert after a look at the facts: what was seen of its fault, and the proof once it no longer fires."""
    evidence = member.evidence or Evidence(since=now)
    proven: Proven | None = None
    for proof in member.proofs:
        if proof is Proof.METRIC:
            evidence, found = _metric(member, evidence, facts.metrics.get(member.rule), now)
        elif proof is Proof.REPAIRED:
            found = Proven(proof=proof, at=now) if evidence.repaired_at else None
        elif facts.topology is None or proof in (Proof.WORD, Proof.ACCEPTED):
            continue
        elif proof is Proof.VOLUME_MOUNTED:
            evidence, found = _volume(member, evidence, incident.members, facts.topology, now)
        else:
            evidence, found = _node(member, proof, evidence, facts.topology, now)
        proven = proven or found
    if evidence == Evidence(since=now):
        return member  # nothing of it could be seen yet
    holds_since = (evidence.holds_since or now) if proven else None
    evidence = replace(evidence, holds_since=holds_since)
    if proven is None or (member.is_firing and not member.is_unseen):
        return replace(member, evidence=evidence)
    return replace(member, evidence=evidence, proven=replace(proven, since=holds_since))


def _node(
    member: Member, proof: Proof, evidence: Evidence, topology: Topology, now: datetime
) -> tuple[Evidence, Proven | None]:
    node = topology.nodes.get(member.subject.node)
    if node is None:
        is_gone = bool(topology.nodes) and bool(evidence.gpus) and proof is Proof.GPUS_ALLOCATABLE
        return evidence, Proven(proof=proof, at=now, is_gone=True) if is_gone else None
    is_rebooted = bool(evidence.boot_id) and node.boot_id not in ("", evidence.boot_id)
    before = evidence
    evidence = replace(
        evidence,
        boot_id=evidence.boot_id or node.boot_id,
        gpus=max(evidence.gpus, node.gpus),
        was_short=evidence.was_short or node.gpus_out > 0 or node.gpus < evidence.gpus,
    )
    is_well = node.is_ready is True
    if proof is Proof.GPUS_ALLOCATABLE:
        is_well = is_well and has_all_gpus(node, evidence) and (before.was_short or is_rebooted)
    else:
        is_well = is_well and is_rebooted
    proven = Proven(proof=proof, at=now, gpus=node.gpus, is_rebooted=is_rebooted) if is_well else None
    return evidence, proven


def has_all_gpus(node: NodeFacts, evidence: Evidence) -> bool:
    """Whether the node advertises as many GPUs as it had since then."""
    return node.gpus > 0 and node.gpus >= evidence.gpus and not node.gpus_out


def _volume(
    member: Member, evidence: Evidence, members: Iterable[Member], topology: Topology, now: datetime
) -> tuple[Evidence, Proven | None]:
    """A pod that waited for the volume on the alert's node runs. Without the name of the claim, it may be any pod."""
    claim = claim_of(member, members, topology)
    if claim is None:
        return evidence, None
    node = member.subject.node
    waiting = {pod for pod, where in claim.waiting.items() if not node or where == node}
    known = frozenset(evidence.waiting)
    runs = sorted(known & frozenset(claim.running))
    evidence = replace(evidence, waiting=tuple(sorted(known | waiting)))
    return evidence, Proven(proof=Proof.VOLUME_MOUNTED, at=now, pod=runs[0]) if runs else None


def _metric(
    member: Member, evidence: Evidence, samples: tuple[Sample, ...] | None, now: datetime
) -> tuple[Evidence, Proven | None]:
    """What the query says of the alert's labels: 0, or nothing beside others of its node, is not well."""
    if samples is None:
        return evidence, None
    own = [sample.value for sample in samples if _is_of(sample.labels, member.labels)]
    if own and all(value and value == value for value in own):
        return evidence, Proven(proof=Proof.METRIC, at=now) if evidence.metric_failed else None
    is_failed = bool(own) or _has_neighbours(member, samples)
    return replace(evidence, metric_failed=evidence.metric_failed or is_failed), None


def _is_of(labels: Labels, alert: Mapping[str, str]) -> bool:
    """Whether the labels say nothing else than the alert's, and something of it."""
    named = labels.without("__name__")
    return bool(named) and all(alert.get(name) == value for name, value in named.items())


def _has_neighbours(member: Member, samples: Iterable[Sample]) -> bool:
    node = subject_of(Labels(member.labels)).node
    return bool(node) and any(subject_of(sample.labels).node == node for sample in samples)
