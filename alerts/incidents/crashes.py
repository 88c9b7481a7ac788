"""Crashes of trainings: one XID on all nodes of a training, which are not that many broken nodes. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.incidents.incident import Incident, Member, explains_most
from alerts.incidents.xid_advice import number_of
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from collectors.facts.xid_catalogue import xid_of

WITHIN = timedelta(
    minutes=5
)  # of one crash: the exporters are scraped, and the logs shipped, one after the other


class Crashes:
    """The incidents that another node of the same training may join, for one cycle. Made when an XID first asks."""

    def __init__(self, topology: Topology) -> None:
        self._trainings: dict[str, list[str]] = defaultdict(list)  # by node
        self._found: dict[tuple[int, str], str] = {}  # XID and training -> id of the incident
        for training in topology.trainings.values():
            for node in training.nodes if len(training.nodes) > 1 else ():
                self._trainings[node].append(training.id)

    def add(self, incident: str, members: Iterable[Member]) -> None:
        """Add the alerts about XIDs of an open incident in which no GPU is broken."""
        for member in members:
            for training in self._trainings.get(member.subject.node, ()) if member.xid else ():
                self._found.setdefault((member.xid, training), incident)

    def candidates(self, alert: Alert) -> Iterator[str]:
        """Yield the ids of incidents about the alert's XID on a training of its node."""
        number = number_of(alert.labels)
        for training in self._trainings.get(alert.subject.node, ()):
            if found := self._found.get((number, training)):
                yield found


def may_be_crash(alert: Alert) -> bool:
    """Whether the alert is about an XID that a program can cause. One that only hardware causes is about its node."""
    number = number_of(alert.labels)
    return bool(number) and alert.is_firing and not xid_of(number).is_hardware


def is_same_crash(member: Member, alert: Alert, at: datetime) -> bool:
    """Whether both are of one crash: the same XID at the same time, on another node."""
    number, node = number_of(alert.labels), alert.subject.node
    return member.xid == number and member.subject.node not in ("", node) and at - member.since < WITHIN


def is_hardware(member: Member) -> bool:
    """Whether it is about an XID that only hardware causes: then a node is broken, and the training died of it."""
    return bool(member.xid) and xid_of(member.xid).is_hardware


def broken_gpu(incident: Incident) -> Member | None:
    """Return what explains most of the XIDs that stand and that only hardware causes."""
    broken = (one for one in incident.members if is_hardware(one) and incident.stands(one))
    return min(broken, key=explains_most, default=None)


def crashed_training(nodes: Iterable[Collection[str]], topology: Topology) -> str:
    """Return the training whose nodes all reported one XID; `nodes` are those that did, for each XID that stands."""
    seen = [frozenset(reporting) for reporting in nodes if len(reporting) > 1]
    for training in topology.trainings.values() if seen else ():
        if len(training.nodes) > 1 and any(reporting.issuperset(training.nodes) for reporting in seen):
            return training.id
    return ""


def subject_of_crash(training: str, before: Subject, topology: Topology) -> Subject:
    """Return the subject of an incident that is about a training's crash."""
    facts = topology.trainings.get(training)
    return Subject(
        cluster=before.cluster,
        training=training,
        training_name=facts.name if facts else before.training_name,
        namespace=training.partition("/")[0],
        owner=facts.owner if facts else before.owner,
        team=facts.team if facts else before.team,
    )
