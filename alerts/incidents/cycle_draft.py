"""The incidents within a cycle: which of them each alert belongs to, and a draft of each that an alert touches."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from alerts.alert import Alert
from alerts.incidents.crashes import Crashes, broken_gpu, may_be_crash
from alerts.incidents.group_keys import group_keys_of
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident, Member
from alerts.incidents.incident_draft import IncidentDraft
from alerts.incidents.volumes import LoggedVolumes
from alerts.rules import Severity


class CycleDraft:
    """What a cycle has made of the incidents so far, above the book. `touched` has the drafts that alerts changed."""

    def __init__(
        self,
        incidents: Mapping[str, Incident],
        by_group: Mapping[str, Mapping[str, None]],
        by_alert: Mapping[str, str],
        grouping: GroupingContext,
        most_members: int,
    ) -> None:
        self._most_members = most_members
        self._grouping = grouping
        self._crashes: Crashes | None = None
        self._volumes: LoggedVolumes | None = None
        self.touched: dict[str, IncidentDraft] = {}
        self._drafts: dict[str, IncidentDraft] = {}  # these, and those that were only looked at
        self._incidents = incidents
        self._by_group = by_group
        self._by_alert = by_alert
        self._homes: dict[str, str] = {}  # Alert.id -> id, of this cycle
        self._opened: dict[str, list[str]] = {}  # group key -> ids, of this cycle

    def add(self, alert: Alert, channels: tuple[str, ...], at: datetime) -> None:
        """Add an alert that is not pending to the incident that it belongs to, if there is one."""
        draft = self._draft_of(alert, channels, at)
        if draft is None:
            return
        took_crashes = draft.takes_crashes
        draft.add(alert, at)
        self.touched[draft.id] = draft
        self._homes[alert.id] = draft.id
        member = draft.member_of(alert)
        added = () if member is None else (member,)
        if self._crashes is not None and draft.takes_crashes:
            self._crashes.add(draft.id, added if took_crashes else draft.crash_members)
        if self._volumes is not None:
            self._volumes.add(draft.id, added)

    def _draft_of(self, alert: Alert, channels: tuple[str, ...], at: datetime) -> IncidentDraft | None:
        """Return the incident that has the alert already, else its group's, else a new one; None for none."""
        home = self._home(alert.id) or self._home(alert.twin)
        of_group = self._of_group(alert) if home is None else []
        known = self._at_home(alert, home, at) if home else self._joined(alert, of_group, at)
        if alert.is_firing and known is not None and known.resolve_if_over(at):
            self.touched[known.id] = known  # it ended within this cycle, before the alert fired
            of_group = self._of_group(alert)
            known = self._belonging(alert, of_group, at)
        if known is not None and (known.is_open or alert.severity is not Severity.INFO):
            known.add_channels(channels)
            return known
        if not alert.is_firing or alert.severity is Severity.INFO:
            return None
        return self._open(alert, channels, of_group, at)

    def _home(self, alert: str) -> str | None:
        """Return the id of the incident that has the alert."""
        return self._homes.get(alert) or self._by_alert.get(alert)

    def _open(
        self, alert: Alert, channels: tuple[str, ...], of_group: Iterable[str], at: datetime
    ) -> IncidentDraft:
        earlier = (id for id in of_group if id in self._incidents and not self._get(id).is_open)
        before = next(earlier, None)
        opened = open_incident(
            f"new {len(self.touched)} {alert.id}",
            alert,
            channels=channels,
            now=at,
            earlier=self._get(before).incident if before is not None else None,
        )
        self._opened.setdefault(opened.group_key, []).append(opened.id)
        self._drafts[opened.id] = self._draft(opened)
        return self._drafts[opened.id]

    def _draft(self, incident: Incident) -> IncidentDraft:
        return IncidentDraft(incident, self._grouping, most=self._most_members)

    def _get(self, id: str) -> IncidentDraft:
        if id not in self._drafts:
            self._drafts[id] = self._draft(self._incidents[id])
        return self._drafts[id]

    def _joined(self, alert: Alert, of_group: Iterable[str], at: datetime) -> IncidentDraft | None:
        """Return the incident that the alert joins: that of its crash, of its object, or of its volume's danger."""
        return self._crash(alert, at) or self._belonging(alert, of_group, at) or self._of_volume(alert)

    def _belonging(self, alert: Alert, of_group: Iterable[str], at: datetime) -> IncidentDraft | None:
        return next((one for one in map(self._get, of_group) if one.takes(alert, at)), None)

    def _crash(self, alert: Alert, at: datetime) -> IncidentDraft | None:
        """Return the incident of the crash of a training that the alert belongs to."""
        if not may_be_crash(alert):
            return None
        if self._crashes is None:
            self._crashes = Crashes(self._grouping.topology)
            for id in dict.fromkeys((*self._incidents, *self.touched)):
                self._crashes.add(id, self._crash_members(id))
        found = map(self._get, self._crashes.candidates(alert))
        return next((one for one in found if one.joins_crash(alert, at)), None)

    def _of_volume(self, alert: Alert) -> IncidentDraft | None:
        """Return the open incident in which log lines of a node say what befell the volume of the alert."""
        volume = alert.own_subject.volume
        if not volume or not alert.is_firing:
            return None
        if self._volumes is None:
            self._volumes = LoggedVolumes()
            for id in dict.fromkeys((*self._incidents, *self.touched)):
                self._volumes.add(id, self._seen(id).members)
        found = map(self._get, self._volumes.candidates(volume))
        return next((one for one in found if one.logs_of_volume(volume)), None)

    def _at_home(self, alert: Alert, home: str, at: datetime) -> IncidentDraft:
        """Return the incident that has the alert. Once the logs of a node say what befell a volume, the node's incident
        takes the alerts of the volume's own, which is over then.

        It waits until the node's incident has its id, which is named.
        """
        known = self._get(home)
        if not known.is_of_volume or (found := self._of_volume(alert)) is None:
            return known
        if found.id == home or found.id not in self._incidents:
            return known
        known.pass_on(alert.id, found.id, at)
        self.touched[home] = known
        return found

    def _seen(self, id: str) -> Incident:
        """Return an incident as it is by now, without making a draft."""
        return self._drafts[id].incident if id in self._drafts else self._incidents[id]

    def _crash_members(self, id: str) -> Iterable[Member]:
        """The same as of a draft, without making one."""
        if id in self._drafts:
            return self._drafts[id].crash_members
        incident = self._incidents[id]
        members = [member for member in incident.members if member.xid] if incident.is_open else []
        return members if members and broken_gpu(incident) is None else ()

    def _of_group(self, alert: Alert) -> list[str]:
        """Return the ids of the incidents of the alert's object, the latest first."""
        keys = reversed(group_keys_of(alert))
        return [id for key in keys for of in (self._by_group, self._opened) for id in of.get(key, ())][::-1]
