"""The incident book: a cluster's live incidents in memory, and what a cycle's alerts change in them. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from alerts.alert import Alert
from alerts.incidents.cycle_draft import CycleDraft
from alerts.incidents.grouping import GroupingContext, resolve_if_over
from alerts.incidents.impacts import with_failures
from alerts.incidents.incident import Incident
from alerts.incidents.incident_draft import MAX_MEMBERS
from alerts.incidents.member_rows import IncidentWrite, MemberRow, incident_write, with_rows
from alerts.incidents.proofs import with_proofs
from alerts.incidents.shortening import KEPT
from alerts.lifecycle import AlertState
from alerts.store import Changed
from collectors.facts.stepwise import STEP, Stepwise

REMEMBERED_FOR = timedelta(hours=1)  # what ended: the next incident of its object names it, or it is reopened


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What a cycle changes. `before` has the known incidents as they were stored; opened ones are in `opened` only.

    The ids of opened incidents are provisional until `numbered`.
    """

    before: Mapping[str, Incident]
    changed: Mapping[str, Incident]
    opened: tuple[Incident, ...]

    def numbered(self, ids: Iterable[str]) -> "Effects":
        """Return the effects with these ids for the opened incidents."""
        named = (replace(incident, id=id) for incident, id in zip(self.opened, ids, strict=True))
        return replace(self, opened=tuple(named))

    @property
    def incidents(self) -> Iterator[Incident]:
        """The incidents to store."""
        yield from self.changed.values()
        yield from self.opened


class IncidentBook:
    """The open incidents of a cluster and those that ended not long ago.

    It follows the store through `apply`, also for what it proposed itself: `absorb` changes nothing.
    """

    def __init__(
        self,
        cluster: str,
        *,
        incidents: Iterable[Incident] = (),
        remembered_for: timedelta = REMEMBERED_FOR,
        documents: Mapping[str, Incident] = MappingProxyType({}),
        most_members: int = MAX_MEMBERS,
        kept: int = KEPT,
    ) -> None:
        self._kept = kept
        self._documents = {id: one for id, one in documents.items() if one.totals is not None}
        self._proposed: dict[str, IncidentWrite] = {}
        self._most_members = most_members
        self._remembered_for = remembered_for
        self._cluster = cluster
        self._incidents: dict[str, Incident] = {}
        self._by_group: dict[str, dict[str, None]] = {}  # group key -> ids, oldest first
        self._by_alert: dict[str, str] = {}  # Alert.id -> id of its open incident
        for incident in incidents:
            self._index(incident)

    @property
    def open(self) -> Iterator[Incident]:
        return (incident for incident in self._incidents.values() if incident.is_open)

    def get(self, id: str) -> Incident | None:
        return self._incidents.get(id)

    def apply(self, changed: Changed) -> None:
        """Take over committed rows: table -> id -> the row, None if it was deleted."""
        rows = changed.get("members", {})
        for id, incident in changed.get("incidents", {}).items():
            if incident is None:
                self._drop(id)
            elif incident.cluster == self._cluster and (incident.is_open or id in self._incidents):
                self._put(incident, rows)  # one that was forgotten stays so

    def forget(self, now: datetime) -> tuple[str, ...]:
        """Drop the incidents that ended long ago, which can no longer change. Return their ids."""
        over = tuple(
            incident.id
            for incident in self._incidents.values()
            if incident.resolved_at is not None and now - incident.resolved_at >= self._remembered_for
        )
        for id in over:
            self._drop(id)
        return over

    def absorb(
        self,
        updates: Iterable[tuple[Alert, datetime]],
        *,
        grouping: GroupingContext,
        channels_of: Callable[[Alert], tuple[str, ...]],
        now: datetime,
    ) -> Stepwise[Effects]:
        """Return what the alerts change, in their order: incidents opened, changed, reopened and resolved.

        An alert stays with the incident that has it, whatever its group key is now. One of severity info is
        context for an open incident and opens none.
        """
        draft = CycleDraft(self._incidents, self._by_group, self._by_alert, grouping, self._most_members)
        for number, (alert, at) in enumerate(updates, 1):
            if alert.life.state is not AlertState.PENDING:
                draft.add(alert, channels_of(alert), at)
            if number % STEP == 0:
                yield
        opened: list[Incident] = []
        changed: dict[str, Incident] = {}
        ids = dict.fromkeys((*(one.id for one in self.open), *draft.touched))
        for number, id in enumerate(ids, 1):
            if number % STEP == 0:
                yield
            incident = draft.touched[id].incident if id in draft.touched else self._incidents[id]
            updated = as_seen(incident, grouping, now)
            stored = self._incidents.get(id)
            if stored is None:
                opened.append(updated)
            elif updated is not stored and updated != stored:
                changed[id] = updated
        before = {id: self._incidents[id] for id in changed}
        return Effects(before=before, changed=changed, opened=tuple(opened))

    def writes(self, effects: Effects) -> Stepwise[tuple[IncidentWrite, ...]]:
        """Return what to store of the incidents that the effects change; their ids must be final."""
        self._proposed = {}
        for number, whole in enumerate(effects.incidents, 1):
            before, stored = effects.before.get(whole.id), self._documents.get(whole.id)
            self._proposed[whole.id] = yield from incident_write(whole, before, stored, self._kept)
            if number % STEP == 0:
                yield
        return tuple(self._proposed.values())

    def _put(self, document: Incident, rows: Mapping[str, MemberRow | None]) -> None:
        """Take over a stored incident: its document, and of the changed rows of alerts those that are its own."""
        proposed = self._proposed.pop(document.id, None)
        known = self._incidents.get(document.id)
        if proposed is not None and proposed.document is document:
            incident = proposed.whole
        elif document.totals is None:
            incident = document
        elif known is not None:
            members = {member.alert: member for member in (*known.members, *document.members)}
            own = [row for row in rows.values() if row is not None and row.incident == document.id]
            incident = with_rows(replace(document, members=tuple(members.values())), own)
        else:
            return  # another process opened it: the next cycle finds that the book lacks it
        if document.totals is None:
            self._documents.pop(document.id, None)
        else:
            self._documents[document.id] = document
        self._index(incident)

    def _index(self, incident: Incident) -> None:
        before = self._incidents.get(incident.id)
        self._incidents[incident.id] = incident
        self._by_group.setdefault(incident.group_key, {})[incident.id] = None
        if before is not None and before.is_open == incident.is_open and before.members is incident.members:
            return
        for member in before.members if before is not None else ():
            if self._by_alert.get(member.alert) == incident.id:
                del self._by_alert[member.alert]
        if incident.is_open:
            own = [member.alert for member in incident.members if not member.moved_to]
            self._by_alert.update(dict.fromkeys(own, incident.id))

    def _drop(self, id: str) -> None:
        incident = self._incidents.pop(id, None)
        if incident is None:
            return
        self._documents.pop(id, None)
        self._by_group[incident.group_key].pop(id, None)
        if not self._by_group[incident.group_key]:
            del self._by_group[incident.group_key]
        for member in incident.members:
            if self._by_alert.get(member.alert) == id:
                del self._by_alert[member.alert]


def as_seen(incident: Incident, grouping: GroupingContext, now: datetime) -> Incident:
    """Return the incident with what was seen besides its alerts: trainings that failed, proofs, and so its end."""
    seen = with_failures(incident, grouping.topology)
    if grouping.facts is not None:
        seen = with_proofs(seen, grouping.facts, now)
    return resolve_if_over(seen, now)
