"""One XID on all nodes of a training is a crash of the training, and not that many broken nodes. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.incidents.incident import Incident, Member
from alerts.incidents.xid_advice import number_of
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from collectors.facts.xid_catalogue import xid_of

WITHIN = timedelta(
    minutes=5
)  # of one crash: the exporters are scraped, and the logs shipped, one after the other


class Crashes:
    """The incidents that another node of the same training may join, for one cycle. Made when an XID first asks."""

    def __init__(self, topology: Topology, incidents: Iterable[Incident]) -> None:
        self._trainings: dict[str, list[str]] = defaultdict(list)  # by node
        self._found: dict[tuple[int, str], str] = {}  # XID and training -> id of the incident
        for training in topology.trainings.values():
            for node in training.nodes if len(training.nodes) > 1 else ():
                self._trainings[node].append(training.id)
        for incident in incidents:
            self.add(incident)

    def add(self, incident: Incident) -> None:
        for member in incident.members if incident.is_open and _broken_gpu(incident) is None else ():
            if member.xid:
                for training in self._trainings.get(member.subject.node, ()):
                    self._found.setdefault((member.xid, training), incident.id)

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


def joins_crash(incident: Incident, alert: Alert, at: datetime) -> bool:
    """Whether the incident is of the alert's crash: the same XID at the same time, on another node."""
    number, node = number_of(alert.labels), alert.subject.node
    return (
        incident.is_open
        and _broken_gpu(incident) is None
        and any(
            one.xid == number and one.subject.node not in ("", node) and at - one.since < WITHIN
            for one in incident.members
        )
    )


def with_crash(incident: Incident, topology: Topology) -> Incident:
    """Return the incident about the training that crashed, once every node of one has reported the same XID."""
    if (broken := _broken_gpu(incident)) is not None:
        return replace(incident, crash_of="", subject=broken.subject) if incident.crash_of else incident
    crashed = incident.crash_of or _crashed(incident, topology)
    if not crashed:
        return incident
    facts = topology.trainings.get(crashed)
    before = incident.subject
    subject = Subject(
        cluster=before.cluster,
        training=crashed,
        training_name=facts.name if facts else before.training_name,
        namespace=crashed.partition("/")[0],
        owner=facts.owner if facts else before.owner,
        team=facts.team if facts else before.team,
    )
    return replace(incident, crash_of=crashed, subject=subject)


def _broken_gpu(incident: Incident) -> Member | None:
    """Return what stands of an XID that only hardware causes: then a node is broken, and the training died of it."""
    broken = (one for one in incident.standing if one.xid and xid_of(one.xid).is_hardware)
    return next(broken, None)


def _crashed(incident: Incident, topology: Topology) -> str:
    nodes: dict[int, set[str]] = defaultdict(set)
    for member in incident.standing:
        if member.xid and not xid_of(member.xid).is_hardware:
            nodes[member.xid].add(member.subject.node)
    seen = [reporting for reporting in nodes.values() if len(reporting) > 1]
    if not seen:
        return ""
    for training in topology.trainings.values():
        if len(training.nodes) > 1 and any(reporting.issuperset(training.nodes) for reporting in seen):
            return training.id
    return ""
