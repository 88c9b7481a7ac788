"""A model of the incident book: alert by alert, every value derived again from all members. Simple and slow."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.alert_batch import Update
from alerts.incidents.crashes import crashed_training, is_same_crash, may_be_crash, subject_of_crash
from alerts.incidents.events import IncidentEventType
from alerts.incidents.group_keys import group_keys_of
from alerts.incidents.grouping import (
    GroupingContext,
    has_rule,
    open_incident,
    reopened,
    resolve_if_over,
    subject_in_group,
)
from alerts.incidents.impacts import add_impacts, dependants_of, ordered
from alerts.incidents.incident import Incident, Member
from alerts.incidents.incident_book import Effects, as_seen
from alerts.incidents.least_members import weight_of
from alerts.incidents.members import asks_for_somebody, member_of
from alerts.incidents.proofs import carried
from alerts.incidents.volumes import with_volume
from alerts.incidents.xid_advice import number_of
from alerts.lifecycle import AlertState
from alerts.rules import ImpactScope, ResolveWhen, Severity
from collectors.facts.topology import Topology
from collectors.facts.xid_catalogue import xid_of


class AlertByAlert:
    """The live incidents of a cluster. `store` takes over what `absorb` proposed."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self.incidents: dict[str, Incident] = {}

    def store(self, effects: Effects) -> None:
        for incident in effects.incidents:
            self.incidents[incident.id] = incident

    def forget(self, id: str) -> None:
        del self.incidents[id]

    def absorb(
        self,
        updates: Iterable[Update],
        *,
        grouping: GroupingContext,
        channels_of: Callable[[Alert], tuple[str, ...]],
        now: datetime,
    ) -> Effects:
        draft = _Draft(self.incidents, grouping)
        for alert, at in updates:
            if alert.life.state is not AlertState.PENDING:
                incident_of = draft.incident_of(alert, channels_of(alert), at)
                if incident_of is not None:
                    added = _add_alert(incident_of, alert, grouping, at, self._most)
                    draft.put(_with_crash(added, grouping.topology), alert)
        open_ones = {one.id: one for one in self.incidents.values() if one.is_open}
        touched = {**open_ones, **draft.touched}
        seen = {id: as_seen(incident, grouping, now) for id, incident in touched.items()}
        known = self.incidents.keys() & seen.keys()
        changed = {id: one for id, one in seen.items() if id in known and one != self.incidents[id]}
        return Effects(
            before={id: self.incidents[id] for id in changed},
            changed=changed,
            opened=tuple(one for id, one in seen.items() if id not in known),
        )


class _Draft:
    """The incidents as they are within a cycle: what it has touched so far, above the book."""

    def __init__(self, incidents: Mapping[str, Incident], grouping: GroupingContext) -> None:
        self._reopens_within = grouping.reopens_within
        self._topology = grouping.topology
        self._crashes: _Crashes | None = None
        self.touched: dict[str, Incident] = {}
        self._incidents = incidents
        self._by_group: dict[str, dict[str, None]] = {}
        self._by_alert: dict[str, str] = {}
        for incident in incidents.values():
            self._by_group.setdefault(incident.group_key, {})[incident.id] = None
            if incident.is_open:
                self._by_alert.update((member.alert, incident.id) for member in incident.members)
        self._homes: dict[str, str] = {}  # Alert.id -> id, of this cycle
        self._opened: dict[str, list[str]] = {}  # group key -> ids, of this cycle

    def put(self, incident: Incident, alert: Alert) -> None:
        self.touched[incident.id] = incident
        self._homes[alert.id] = incident.id
        if self._crashes is not None:
            self._crashes.add(incident)

    def incident_of(self, alert: Alert, channels: tuple[str, ...], at: datetime) -> Incident | None:
        """Return the incident that has the alert already, else its group's, else a new one; None for none."""
        home = self._homes.get(alert.id) or self._by_alert.get(alert.id)
        of_group = self._of_group(alert) if home is None else []
        known = self._get(home) if home else self._crash(alert, at) or self._belonging(alert, of_group, at)
        if alert.is_firing and known is not None and (over := resolve_if_over(known, at)) is not known:
            self.touched[over.id] = over  # it ended within this cycle, before the alert fired
            of_group = self._of_group(alert)
            known = self._belonging(alert, of_group, at)
        if known is not None and (known.is_open or alert.severity is not Severity.INFO):
            return replace(known, channels=tuple(dict.fromkeys((*known.channels, *channels))))
        if not alert.is_firing or alert.severity is Severity.INFO:
            return None
        opened = open_incident(
            f"new {len(self.touched)} {alert.id}",
            alert,
            channels=channels,
            now=at,
            earlier=next((one for one in of_group if not one.is_open and one.id in self._incidents), None),
        )
        self._opened.setdefault(opened.group_key, []).append(opened.id)
        return opened

    def _get(self, id: str) -> Incident:
        return self.touched.get(id) or self._incidents[id]

    def _belonging(self, alert: Alert, of_group: Iterable[Incident], at: datetime) -> Incident | None:
        return next((one for one in of_group if _belongs(one, alert, at, self._reopens_within)), None)

    def _crash(self, alert: Alert, at: datetime) -> Incident | None:
        """Return the incident of the crash of a training that the alert belongs to."""
        if not may_be_crash(alert):
            return None
        if self._crashes is None:
            self._crashes = _Crashes(self._topology, map(self._get, {**self._incidents, **self.touched}))
        found = map(self._get, self._crashes.candidates(alert))
        return next((one for one in found if _joins_crash(one, alert, at)), None)

    def _of_group(self, alert: Alert) -> list[Incident]:
        """Return the incidents of the alert's object, the latest first."""
        keys = reversed(group_keys_of(alert))
        ids = [id for key in keys for of in (self._by_group, self._opened) for id in of.get(key, ())]
        return [self._get(id) for id in reversed(ids)]


def _add_alert(
    incident: Incident, alert: Alert, grouping: GroupingContext, now: datetime, most: int
) -> Incident:
    """Return the incident after one of its alerts fired, kept firing or resolved."""
    rule = grouping.rules.get(alert.rule)
    known = {one.alert: one for one in incident.members}
    before = known.get(alert.id)
    others = [one for one in incident.members if incident.stands(one)]
    was_worse = before is not None and before.is_worse and incident.stands(before)
    concerning = member_of(alert, rule, others, is_worse=was_worse)
    member = with_volume(concerning, others, grouping.topology) if concerning.is_logged else concerning
    if member.is_worse:
        concerning = member
    member = carried(member, before, now)
    if before is None and len(known) >= most:
        incident = replace(incident, is_crowded=True)
        least = min(incident.members, key=weight_of)
        if weight_of(member)[:2] <= weight_of(least)[:2]:
            return incident
        del known[least.alert]
    known[member.alert] = member
    gravity = max((one.gravity for one in incident.standing), default=0)
    reopens = member.is_firing and not incident.is_open
    if reopens:
        incident = reopened(incident, now)
    node = grouping.topology.nodes.get(incident.subject.node)
    after = replace(
        incident,
        members=tuple(known.values()),
        subject=incident.subject.or_else(subject_in_group(alert)),
        resolve_when=ResolveWhen.ACKNOWLEDGED if asks_for_somebody(member, rule) else incident.resolve_when,
        gpus=node.gpus if node else incident.gpus,
    )
    after = _with_impacts(after, concerning, grouping.topology)
    was_firing = before is not None and before.is_firing
    became_worse = before is not None and member.gravity > before.gravity
    if reopens:
        after = after.with_event(IncidentEventType.REOPENED, now, text=member.summary)
    elif member.is_firing and (became_worse or not was_firing):
        after = _with_added_event(incident, after, member, gravity, now, was_firing=was_firing)
    elif was_firing and not member.is_firing:
        after = after.with_event(IncidentEventType.ALERT_RESOLVED, now, text=member.summary)
    return replace(after, severity=_severity(after))


def _with_added_event(
    before: Incident, after: Incident, member: Member, gravity: int, now: datetime, *, was_firing: bool
) -> Incident:
    if member.severity.rank > before.severity.rank:
        return after.with_event(
            IncidentEventType.SEVERITY_RAISED, now, text=f"{member.severity.value}: {member.summary}"
        )
    if member.gravity > max(gravity, before.severity.rank):
        return after.with_event(IncidentEventType.WORSENED, now, text=member.summary)
    is_quiet = was_firing or len(before.members) == 0
    return after if is_quiet else after.with_event(IncidentEventType.ALERT_ADDED, now, text=member.summary)


def _belongs(incident: Incident, alert: Alert, now: datetime, within: timedelta) -> bool:
    """Whether the alert is about this incident's object, and the incident is open or its rule ended it just now."""
    if incident.cluster != alert.cluster or incident.group_key not in group_keys_of(alert):
        return False
    if incident.resolved_at is None:
        return True
    return now - incident.resolved_at < within and has_rule(incident, alert)


def _severity(incident: Incident) -> Severity:
    return max(
        (member.severity for member in incident.standing),
        key=lambda severity: severity.rank,
        default=incident.severity,
    )


def _with_impacts(incident: Incident, member: Member, topology: Topology) -> Incident:
    if not member.is_firing:
        return incident
    if member.scope is ImpactScope.CLUSTER:
        return replace(incident, dependants=dependants_of(topology))
    known = {impact.training: impact for impact in incident.impacts}
    add_impacts(known, member, topology)
    return replace(incident, impacts=ordered(known.values()))


class _Crashes:
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


def _joins_crash(incident: Incident, alert: Alert, at: datetime) -> bool:
    """Whether the incident is of the alert's crash: the same XID at the same time, on another node."""
    takes_crashes = incident.is_open and _broken_gpu(incident) is None
    return takes_crashes and any(is_same_crash(one, alert, at) for one in incident.members)


def _with_crash(incident: Incident, topology: Topology) -> Incident:
    """Return the incident about the training that crashed, once every node of one has reported the same XID."""
    if (broken := _broken_gpu(incident)) is not None:
        return replace(incident, crash_of="", subject=broken.subject) if incident.crash_of else incident
    crashed = incident.crash_of or _crashed(incident, topology)
    if not crashed:
        return incident
    return replace(incident, crash_of=crashed, subject=subject_of_crash(crashed, incident.subject, topology))


def _broken_gpu(incident: Incident) -> Member | None:
    """Return what stands of an XID that only hardware causes: then a node is broken, and the training died of it."""
    broken = (one for one in incident.standing if one.xid and xid_of(one.xid).is_hardware)
    return next(broken, None)


def _crashed(incident: Incident, topology: Topology) -> str:
    nodes: dict[int, set[str]] = defaultdict(set)
    for member in incident.standing:
        if member.xid and not xid_of(member.xid).is_hardware:
            nodes[member.xid].add(member.subject.node)
    return crashed_training(nodes.values(), topology)
