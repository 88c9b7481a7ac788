"""Workloads that an incident concerns: those affected, those that hold its subject, and those only near it. Pure."""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import Impact, Incident, Member
from alerts.rules import ImpactScope
from collectors.facts.topology import GpuUser, Topology, TrainingFacts, gpu_keys

_NAMESPACED = re.compile(r"[a-z0-9][a-z0-9.-]*/[a-z0-9][a-z0-9.-]*")
JOINS_WITHIN = timedelta(minutes=5)  # a training fails before or after the alert of what killed it
_STRONGEST = (ImpactScope.SUBJECT, ImpactScope.HOLDER, ImpactScope.BYSTANDERS)


def add_impacts(known: dict[str, Impact], member: Member, topology: Topology) -> None:
    """Add whom a firing alert concerns to those that are known, by training.

    A training that ended because of it stays; one that is affected by another alert too stays affected.
    """
    named = _named_in(member.texts, topology) if member.scope is ImpactScope.BYSTANDERS else frozenset()
    users, is_on_gpu = _users(member, topology)
    for training in users:
        before = known.pop(training.id, None) or known.pop(
            training.shown, None
        )  # an old row may have the name
        known[training.id] = Impact(
            training=training.id,
            name=training.shown,
            owner=training.owner,
            team=training.team,
            gpus=training.gpus or (before.gpus if before else 0),
            scope=min(member.scope, before.scope, key=_STRONGEST.index) if before else member.scope,
            is_named=training.id in named or (before is not None and before.is_named),
            is_on_gpu=_or_stronger(is_on_gpu, before),
            failed_at=before.failed_at if before else None,
        )
    for id in named - known.keys():
        facts = topology.trainings[id]
        known[id] = Impact(
            training=id,
            name=facts.shown,
            owner=facts.owner,
            team=facts.team,
            gpus=facts.gpus,
            scope=ImpactScope.BYSTANDERS,
            is_named=True,
        )


def dependants_of(topology: Topology) -> int:
    """Return how many trainings run in the cluster: all of them, for an alert that concerns everybody."""
    return sum(1 for training in topology.trainings.values() if training.gpus)


def _users(member: Member, topology: Topology) -> tuple[tuple[GpuUser, ...], bool | None]:
    """Return whom the alert concerns; and for one about a GPU, whether they run on it or are only on its node."""
    pci = member.labels.get("pci", "")
    if not gpu_keys(member.subject, pci):
        return topology.affected_by(member.subject), None
    if users := topology.on_gpu(member.subject, pci):
        return users, True
    return topology.affected_by(member.subject, holding_gpus=True), False


def _or_stronger(is_on_gpu: bool | None, before: Impact | None) -> bool | None:
    if before is None or is_on_gpu is None:
        return is_on_gpu
    return None if before.is_on_gpu is None else is_on_gpu or before.is_on_gpu


def with_failures(incident: Incident, topology: Topology) -> Incident:
    """Return the incident with the trainings that have failed on its node since it began."""
    if not incident.is_open:
        return incident
    for failed in _failed(incident, topology):
        known = {impact.training: impact for impact in incident.impacts}
        impact = known.get(failed.id) or Impact(
            training=failed.id, name=failed.shown, owner=failed.owner, team=failed.team
        )
        if failed.failed_at is None or failed.failed_at < incident.began_at - JOINS_WITHIN:
            continue
        if impact.failed_at is None or impact.failed_at < failed.failed_at:
            known[failed.id] = replace(impact, scope=ImpactScope.SUBJECT, failed_at=failed.failed_at)
            said = f"{failed.shown}: {failed.failure}"
            incident = replace(incident, impacts=ordered(known.values())).with_event(
                IncidentEventType.TRAINING_FAILED, failed.failed_at, text=said
            )
    return incident


def _failed(incident: Incident, topology: Topology) -> tuple[TrainingFacts, ...]:
    """Return the trainings that failed on the incident's node, or the training whose crash it is if that has failed."""
    if not incident.crash_of:
        return topology.failed_on.get(incident.subject.node, ())
    crashed = topology.trainings.get(incident.crash_of)
    return (crashed,) if crashed is not None and crashed.failed_at is not None else ()


def ordered(impacts: Iterable[Impact]) -> tuple[Impact, ...]:
    return tuple(sorted(impacts, key=lambda impact: (-impact.gpus, impact.training)))


def _named_in(texts: Iterable[str], topology: Topology) -> frozenset[str]:
    """Return the trainings that log lines name, by their own id or by one of their pods."""
    found: set[str] = set()
    for line in texts:
        for word in _NAMESPACED.findall(line):
            namespace, _, name = word.partition("/")
            if (key := topology.keys.get(word, word)) in topology.trainings:
                found.add(key)
            elif (pod := topology.pods.get((namespace, name.rstrip(".")))) and pod.training:
                found.add(pod.training)
            elif owning := topology.training_of.get(namespace):
                found.add(owning)
    return frozenset(found & topology.trainings.keys())
