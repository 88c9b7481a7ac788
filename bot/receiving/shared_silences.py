"""Silences shared with an Alertmanager that stays: its own hold here, and where the settings say so ours hold there.

Both sides are compared, again and again, so nothing is lost if either is away. A silence of ours says in its comment
there which one it is: one that was added there, and whose id was not stored any more, is found by that.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from alerts.silences import Silence
from alerts.store import Changed, Store, Unit
from bot.event_waits import set_within
from bot.receiving.alertmanager_client import AlertmanagerClient, AlertmanagerError, AlertmanagerRefusedError
from bot.receiving.silence_wire import WireSilence
from collectors.facts.clock import Clock

EVERY = 15.0  # seconds
_SHOWN = timedelta(milliseconds=1)  # Alertmanager shows moments no more exactly
_OURS = re.compile(r"\(Yardmaster silence (s\d+)\)$")

_log = structlog.get_logger()


@dataclass(slots=True, kw_only=True)
class SharedSilences:
    """The silences of one cluster, and those of its Alertmanager. `writes`: ours are added there."""

    client: AlertmanagerClient
    cluster: str
    store: Store
    clock: Clock
    writes: bool
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _stored: dict[str, Silence] = field(default_factory=dict)  # by the comparison itself
    _reported: set[str] = field(
        default_factory=set
    )  # ids of silences of which was said that they are not shared

    def wake(self, changed: Changed) -> None:
        """Listen to the store: compare at once when a silence changed, if not by the comparison."""
        if any(self._stored.get(id) != row for id, row in changed.get("silences", {}).items()):
            self._changed.set()

    async def run(self) -> None:
        """Compare until cancelled."""
        is_away = False
        while True:
            self._changed.clear()
            try:
                await self.compare()
                is_away = False
            except AlertmanagerError as error:
                if not is_away:
                    _log.warning("silences are not shared now", reason=str(error), cluster=self.cluster)
                is_away = True
            await set_within(self._changed, EVERY)

    async def compare(self) -> None:
        """Take over what changed there, and change there what changed here. Raises AlertmanagerError."""
        self._stored.clear()
        theirs = {one.id: one for one in await self.client.silences()}
        await self._take_over(theirs)
        if not self.writes:
            return
        async with self.store.read() as snapshot:
            ours = await snapshot.rows(Silence).find(cluster=self.cluster)
        for silence in ours:
            there = theirs.get(silence.there)
            try:
                await self._change_there(
                    silence, there if there is not None and not there.is_expired else None
                )
            except AlertmanagerRefusedError as error:  # the others may be taken
                self._report(silence.id, error)

    async def _take_over(self, theirs: Mapping[str, WireSilence]) -> None:
        async with self.store.read() as snapshot:
            known = await snapshot.rows(Silence).find(cluster=self.cluster)
        if not self._changes(known, theirs):
            return
        async with self.store.unit() as unit:
            known = await unit.rows(Silence).find(cluster=self.cluster)
            for change in self._changes(known, theirs):
                await self._put(await self._numbered(change, unit), unit)

    async def _put(self, row: Silence, unit: Unit) -> None:
        self._stored[row.id] = row
        await unit.rows(Silence).put(row)

    def _report(self, id: str, reason: Exception) -> None:
        if id not in self._reported:
            self._reported.add(id)
            _log.warning("a silence is not shared", silence=id, reason=str(reason), cluster=self.cluster)

    def _changes(self, known: Sequence[Silence], theirs: Mapping[str, WireSilence]) -> list[Silence]:
        """Return the rows of ours that what is there changes. A new one has no id yet.

        One of ours that is not listed at all was lost there, and is added again. One that is listed as over was ended.
        """
        now = self.clock.now()
        by_id = {one.id: one for one in known}
        of_there = {one.there: one for one in known if one.there}
        changes: list[Silence] = []
        found_again: set[str] = set()
        for one in theirs.values():
            if one.is_expired:
                continue
            row = of_there.get(one.id)
            marked = _OURS.search(one.comment)
            ours = by_id.get(marked[1]) if marked is not None else None
            if row is None and ours is not None and not ours.is_from_there:
                changes.append(replace(ours, there=one.id))
                found_again.add(ours.id)
            elif row is None or (row.is_from_there and row.expired_at is None):
                current = self._from_there(one, row.id if row is not None else "")
                changes += [current] if current is not None and current != row else []
        for row in of_there.values():
            counterpart = theirs.get(row.there)
            if row.is_over(now) or row.id in found_again:
                continue
            if counterpart is None and not row.is_from_there:
                changes.append(replace(row, there=""))
            elif counterpart is None or counterpart.is_expired:
                changes.append(replace(row, expired_at=now))
        return changes

    def _from_there(self, one: WireSilence, id: str) -> Silence | None:
        """Return it as a row of ours; None if it cannot be one."""
        try:
            matchers = tuple(matcher.read() for matcher in one.matchers)
        except ValueError as error:
            self._report(one.id, error)
            return None
        return Silence(
            id=id,
            cluster=self.cluster,
            matchers=matchers,
            starts_at=one.starts_at or self.clock.now(),
            ends_at=one.ends_at,
            by="alertmanager",
            by_name=one.created_by or "Alertmanager",
            comment=one.comment,
            there=one.id,
            is_from_there=True,
        )

    async def _numbered(self, silence: Silence, unit: Unit) -> Silence:
        return silence if silence.id else replace(silence, id=f"s{await unit.next_number('silence')}")

    async def _change_there(self, silence: Silence, there: WireSilence | None) -> None:
        """Add, change or end the counterpart of a silence. One of an incident has no matchers, and none."""
        now = self.clock.now()
        if silence.is_over(now):
            if there is not None and silence.expired_at is not None:
                await self.client.expire(silence.there)
            return
        if not silence.matchers or silence.is_from_there:
            return
        if there is not None and abs(there.ends_at - silence.ends_at) <= _SHOWN:
            return
        given = replace(silence, starts_at=_start(silence, there, now))
        id = await self.client.put(given, f"{silence.comment} (Yardmaster silence {silence.id})")
        async with self.store.unit() as unit:
            row = await unit.rows(Silence).get(silence.id)
            if row is not None and row.there != id:
                await self._put(replace(row, there=id), unit)


def _start(silence: Silence, there: WireSilence | None, now: datetime) -> datetime:
    """Return the beginning to send: one that has begun there has to keep its own, or it is ended for a new one."""
    return (
        there.starts_at
        if there is not None and there.starts_at and there.starts_at <= now
        else silence.starts_at
    )
