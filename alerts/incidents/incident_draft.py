"""An incident within a cycle: its alerts are added one by one, each at a cost that does not grow with the others."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from alerts.alert import Alert
from alerts.incidents.crashes import crashed_training, is_same_crash, subject_of_crash
from alerts.incidents.events import MAX_EVENTS, IncidentEvent, IncidentEventType
from alerts.incidents.grouping import GroupingContext, end_of, reopened, subject_in_group
from alerts.incidents.impacts import add_impacts, dependants_of, ordered
from alerts.incidents.incident import Impact, Incident, Member, explains_most
from alerts.incidents.member_index import MemberIndex
from alerts.incidents.members import asks_for_somebody, member_of
from alerts.incidents.proofs import carried
from alerts.incidents.standing_alerts import StandingAlerts
from alerts.incidents.twin import beside_twin, with_twin
from alerts.incidents.volumes import names_volume, with_volume
from alerts.lifecycle import AlertState
from alerts.rules import ImpactScope, ResolveWhen, Rule
from collectors.facts.sentences import listed, sentence, word

MAX_MEMBERS = 50_000  # per incident: resolved ones make room for firing ones, less severe for more severe


class IncidentDraft:
    """An incident to which a cycle adds alerts. `incident` is what it is by now.

    Its header has what seldom changes within a cycle: whether it is open, since when, and whether it is a crash.
    """

    def __init__(self, incident: Incident, grouping: GroupingContext, *, most: int = MAX_MEMBERS) -> None:
        self._most = most
        self._grouping = grouping
        self._header = incident
        self._subject = incident.subject
        self._severity = incident.severity
        self._channels = incident.channels
        self._resolve_when = incident.resolve_when
        self._gpus = incident.gpus
        self._dependants = incident.dependants
        self._running: int | None = None  # trainings in the cluster, once an alert concerns all of them
        self._events = list(incident.events)
        self._impacts = incident.impacts
        self._affected: dict[str, Impact] | None = None  # by training, once an alert changed whom it concerns
        self._members = MemberIndex(incident.members)
        self._is_crowded = incident.is_crowded  # an alert was refused, or took the place of another
        self._standing = StandingAlerts(incident, incident.members)
        self._may_be_crash = self._members.has_xids  # what reports XIDs has changed
        self._made: Incident | None = incident

    @property
    def incident(self) -> Incident:
        """The incident after what was added."""
        if self._made is None:
            self._made = replace(
                self._header,
                subject=self._subject,
                severity=self._severity,
                channels=self._channels,
                members=tuple(self._members.values()),
                impacts=self._impacts if self._affected is None else ordered(self._affected.values()),
                events=tuple(self._events),
                resolve_when=self._resolve_when,
                dependants=self._dependants,
                gpus=self._gpus,
                is_crowded=self._is_crowded,
            )
        return self._made

    @property
    def id(self) -> str:
        return self._header.id

    @property
    def is_open(self) -> bool:
        return self._header.is_open

    @property
    def is_of_volume(self) -> bool:
        """Whether it is about a volume alone, and not about the node that says what befell it."""
        return self._header.group_key.startswith("volume/")

    def pass_on(self, alert: str, to: str, now: datetime) -> None:
        """Let another incident have an alert. It is over if nothing else holds it open."""
        before = self._members.get(alert)
        if before is None or before.moved_to:
            return
        reason = sentence("it is a part of incident `{incident}`", incident=to)
        over = AlertState.RESOLVED
        self._made = None
        self._put(replace(before, state=over, resolved_at=now, ended_reason=reason, moved_to=to), before)
        if self.is_open and not self._standing.firing and not self._standing.awaiting:
            self._record(IncidentEventType.JOINED, now, to)
            self._change_header(replace(self._header, resolved_at=now))
            self._record(IncidentEventType.RESOLVED, now)

    def takes(self, alert: Alert, at: datetime) -> bool:
        """Whether an alert about its object belongs to it: it is open, or the alert's rule ended it just now."""
        ended = self._header.resolved_at
        if ended is None:
            return True
        is_known = self._members.has_rule(alert.rule) or alert.twin in self._members
        is_known = is_known or self._members.stands_for(alert.id)
        return at - ended < self._grouping.reopens_within and is_known

    def member_of(self, alert: Alert) -> Member | None:
        """Return the member that the alert is, or that its twin is in its place."""
        return self._members.get(alert.id) or self._members.get(alert.twin)

    def logs_of_volume(self, volume: str) -> bool:
        """Whether it is open, and a log line that stands in it is about this volume."""
        return self.is_open and any(
            one.subject.volume == volume and self._header.stands(one)
            for one in self._members.lines_about(volume)
        )

    @property
    def takes_crashes(self) -> bool:
        """Whether it is open and no GPU is broken: another node may report the same crash."""
        return self.is_open and not self._standing.hardware

    @property
    def crash_members(self) -> Iterable[Member]:
        """The alerts about XIDs, if another node may report the same crash."""
        return self._members.about_xids() if self.takes_crashes else ()

    def joins_crash(self, alert: Alert, at: datetime) -> bool:
        """Whether the alert is of the same crash as one of its own, on another node."""
        return any(is_same_crash(member, alert, at) for member in self.crash_members)

    def add_channels(self, channels: Iterable[str]) -> None:
        wanted = tuple(dict.fromkeys((*self._channels, *channels)))
        if wanted != self._channels:
            self._channels, self._made = wanted, None

    def resolve_if_over(self, now: datetime) -> bool:
        """Resolve it as `grouping.resolve_if_over` does. Return whether it was."""
        if not self.is_open or self._standing.firing or self._standing.awaiting:
            return False
        if self._resolve_when is not ResolveWhen.CLEARED and not self._header.acknowledged_by:
            return False
        ended = end_of(self._resolve_when, self._events, now)
        self._change_header(replace(self._header, resolved_at=ended))
        self._record(IncidentEventType.RESOLVED, ended)
        return True

    def add(self, alert: Alert, now: datetime) -> None:
        """Add one of its alerts that fired, kept firing or resolved."""
        self._made = None
        if alert.id not in self._members and (ours := self._members.get(alert.twin)) is not None:
            self._keep(with_twin(ours, alert), ours, now, self._standing.gravity)
            return
        rule = self._grouping.rules.get(alert.rule)
        before = self._members.get(alert.id) or self._in_place_of_twin(alert)
        was_worse = before is not None and before.is_worse and self._header.stands(before)
        concerning = member_of(alert, rule, self._leading_to(rule), is_worse=was_worse)
        member = concerning
        if concerning.is_logged and names_volume(concerning):
            others = [one for one in self._members.values() if self._header.stands(one)]
            member = with_volume(concerning, others, self._grouping.topology)
        if member.is_worse:
            concerning = member
        member = beside_twin(carried(member, before, now), before, alert)
        gravity = self._standing.gravity  # also of the alert that makes room
        if before is None and len(self._members) >= self._most and not self._makes_room(member):
            self._follow_crash()
            return
        node = self._grouping.topology.nodes.get(self._subject.node)
        self._gpus = node.gpus if node else self._gpus
        self._subject = self._subject.or_else(subject_in_group(alert))
        if asks_for_somebody(member, rule):
            self._resolve_when = ResolveWhen.ACKNOWLEDGED
        self._keep(member, before, now, gravity, concerning)

    def _keep(
        self,
        member: Member,
        before: Member | None,
        now: datetime,
        gravity: int,
        concerning: Member | None = None,
    ) -> None:
        """Keep the alert as it is now. `gravity`: of the incident until now.

        `concerning`: the alert as whom it concerns is found with; None: as before.
        """
        reopens = member.is_firing and not self.is_open
        is_first = not self._members
        self._put(member, before)
        if reopens:
            self._reopen(now)
        if member.is_firing and concerning is not None:
            self._add_impacts(concerning)
        if reopens:
            self._record(IncidentEventType.REOPENED, now, member.summary)
        else:
            self._record_change(member, before, gravity, now, is_first=is_first)
        self._severity = self._standing.severity or self._severity
        self._follow_crash()

    def _in_place_of_twin(self, alert: Alert) -> Member | None:
        """Let an alert of ours be the member that its twin is, if that came first. Return it as it was."""
        twin = self._members.twin_of(alert.id)
        if twin is None:
            return None
        self._drop(twin)
        ours = replace(
            twin,
            alert=alert.id,
            rule=alert.rule,
            twin=twin.alert,
            twin_fires=twin.is_firing,
            is_twin_alone=twin.is_firing,
        )
        self._put(ours, None)
        return ours

    def _leading_to(self, rule: Rule | None) -> Iterable[Member]:
        """Return the alerts that stand and that the rule names as what makes its own worse."""
        names = rule.template.worse_after if rule is not None else ()
        return (
            member for name in names for member in self._members.named(name) if self._header.stands(member)
        )

    def _put(self, member: Member, before: Member | None) -> None:
        if before is not None:
            self._standing.remove(before)
        self._members.put(member)
        self._standing.add(member)
        self._may_be_crash = self._may_be_crash or bool(member.xid or (before is not None and before.xid))

    def _makes_room(self, member: Member) -> bool:
        """Remove the alert that weighs least if the new one weighs more. Return whether it was removed."""
        self._is_crowded = True
        least = self._members.lighter_than(member)
        if least is None:
            return False
        self._drop(least)
        return True

    def _drop(self, member: Member) -> None:
        self._members.drop(member)
        self._standing.remove(member)
        self._may_be_crash = self._may_be_crash or bool(member.xid)

    def _change_header(self, header: Incident) -> None:
        """Change what decides which alerts stand."""
        self._header, self._made = header, None
        self._standing = StandingAlerts(header, self._members.values())
        self._may_be_crash = self._members.has_xids

    def _reopen(self, now: datetime) -> None:
        self._impacts, self._affected, self._is_crowded = (), None, False
        self._change_header(reopened(self._header, now))

    def _add_impacts(self, member: Member) -> None:
        if member.scope is ImpactScope.CLUSTER:
            if self._running is None:
                self._running = dependants_of(self._grouping.topology)
            self._dependants = self._running
            return
        if self._affected is None:
            self._affected = {impact.training: impact for impact in self._impacts}
        add_impacts(self._affected, member, self._grouping.topology)

    def _record_change(
        self, member: Member, before: Member | None, gravity: int, now: datetime, *, is_first: bool
    ) -> None:
        """Record what changed. `gravity`: of the incident until now. What is no worse than that raises nothing."""
        was_firing = before is not None and before.is_firing
        became_worse = before is not None and member.gravity > before.gravity
        if member.is_firing and (became_worse or not was_firing):
            if member.severity.rank > self._severity.rank:
                said = listed([word(member.severity.value), member.summary], ":")
                self._record(IncidentEventType.SEVERITY_RAISED, now, said)
            elif member.gravity > max(gravity, self._severity.rank):
                self._record(IncidentEventType.WORSENED, now, member.summary)
            elif not is_first and not was_firing:
                self._record(IncidentEventType.ALERT_ADDED, now, member.summary)
        elif was_firing and not member.is_firing:
            self._record(IncidentEventType.ALERT_RESOLVED, now, member.summary)

    def _record(self, type: IncidentEventType, at: datetime, text: str = "") -> None:
        number = self._events[-1].number + 1 if self._events else 1
        self._events.append(IncidentEvent(number=number, at=at, type=type, text=text))
        if len(self._events) > MAX_EVENTS:
            del self._events[1]

    def _follow_crash(self) -> None:
        """Make it about the training that crashed, once every node of one has reported the same XID."""
        if self._standing.hardware:
            if self._header.crash_of:
                broken = min(
                    (one for one in self._members.values() if one.alert in self._standing.hardware),
                    key=explains_most,
                )
                self._subject = broken.subject
                self._change_header(replace(self._header, crash_of=""))
            return
        crashed = self._header.crash_of
        if not crashed and self._may_be_crash:
            self._may_be_crash = False
            crashed = crashed_training(self._standing.nodes, self._grouping.topology)
        if crashed:
            self._subject = subject_of_crash(crashed, self._subject, self._grouping.topology)
        if crashed != self._header.crash_of:
            self._change_header(replace(self._header, crash_of=crashed))
