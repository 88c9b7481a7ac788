"""The alert inbox: keeps what senders post, so that they can be answered, and brings it to the receiver.

To store what follows from an alert takes a hundred times as long as to keep it. What was accepted is in the order of
its numbers, and is deleted after its effects are stored; what a crash left is brought again by the next process.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

import structlog

from alerts.kept_bodies import BodyStore, InboxMark
from alerts.received import ReceivedAlert
from alerts.store import Store, StoreError
from bot.event_waits import set_within
from bot.receiving.accepted_body import AcceptedBody, decode_body, encode_body
from bot.receiving.receiver import BusyError, Delivery, Receiver
from collectors.facts.clock import Clock

MOST_WAITING = 50_000  # alerts that wait until their effects are stored: a sender has to come back
MOST_BYTES = 64 << 20  # of their bodies
ACCEPTED_WITHIN = 20.0  # seconds, or a sender has to come back
SHOWN_WITHIN = 10.0  # seconds that a program waits until what was accepted before is shown, and
CAUGHT_UP_WITHIN = 2.0  # that a person waits, whose answer then says how much is not
STORED_AT_ONCE = 2_000  # alerts in a transaction
STORED_IN_BETWEEN = 250  # in one that senders do not pause for
SENDERS_FIRST = (
    1.0  # seconds that a transaction waits for senders to pause: a body takes long beside our work
)
PRESSING = 0.1  # seconds between two bodies: no more, and senders are at it
PAUSED = 0.025  # seconds without a body: senders that were at it have paused
AGAIN = 1.0  # seconds until what could not be stored is brought again
DROPPED_AFTER = 1.0  # seconds without a body, until those whose effects are stored are deleted
MOST_KEPT = 2_000  # bodies whose effects are stored and that are not deleted yet

_log = structlog.get_logger()


@dataclass(slots=True)
class _Entry:
    number: int
    alerts: int  # how many
    body: bytes  # not decoded: an alert takes a quarter of the memory
    accepted: "asyncio.Future[None] | None" = None  # what its sender waits for
    is_lost: bool = False  # it could not be kept: it is accepted once its effects are stored

    def accept(self) -> None:
        if self.accepted is not None and not self.accepted.done():
            self.accepted.set_result(None)

    def refuse(self) -> None:
        if self.accepted is not None and not self.accepted.done():
            self.accepted.set_exception(BusyError("they could not be stored"))


class AlertInbox:
    """Accepts alerts for a receiver. `run` does the work, beside the receiver's own.

    `bodies`: where they are kept; None: they are accepted once their effects are stored. `note_waiting` is called
    with how many alerts wait.
    """

    def __init__(
        self,
        receiver: Receiver,
        bodies: BodyStore | None,
        store: Store,
        clock: Clock,
        *,
        note_waiting: Callable[[int], None] = lambda _count: None,
    ) -> None:
        self._receiver = receiver
        self._bodies = bodies
        self._store = store
        self._clock = clock
        self._note_waiting = note_waiting
        self._arrived: list[_Entry] = []
        self._has_arrived = asyncio.Event()
        self._entries: deque[_Entry] = deque()  # whose effects are not stored, by their numbers
        self._has_entries = asyncio.Event()
        self._waiting = 0  # alerts, and
        self._bytes = 0  # of those that arrived and of the entries
        self._number = 0  # of the last body that arrived, and
        self._kept = 0  # of the last one that was accepted
        self._stored = 0  # the number up to which effects are stored, and
        self._dropped = 0  # bodies are deleted
        self._progress = asyncio.Event()
        self._last_at = 0.0  # loop time of the last body, and
        self._is_pressed = False  # whether it came right after another
        self._is_restored = asyncio.Event()

    async def accept(self, alerts: Sequence[ReceivedAlert]) -> None:
        """Return when no crash can lose the alerts. Raises BusyError; they may have been accepted all the same."""
        if self._bodies is None:
            return await self._receiver.take(alerts)
        if not alerts:
            return
        try:
            async with asyncio.timeout(ACCEPTED_WITHIN):
                await self._receiver.begun()
                await self._is_restored.wait()
                if self._receiver.trouble:
                    raise BusyError(self._receiver.trouble)
                await self._arrive(alerts)
        except TimeoutError as error:
            raise BusyError(f"they were not stored within {ACCEPTED_WITHIN:g} s") from error

    async def _arrive(self, alerts: Sequence[ReceivedAlert]) -> None:
        body = encode_body(AcceptedBody(at=self._clock.now(), alerts=list(alerts)))
        is_full = self._waiting + len(alerts) > MOST_WAITING or self._bytes + len(body) > MOST_BYTES
        if self._waiting and is_full:  # a body alone is taken, however many it has
            raise BusyError(f"{self._waiting} alerts wait to be stored")
        now = asyncio.get_running_loop().time()
        self._is_pressed, self._last_at = now - self._last_at < PRESSING, now
        is_alone = not self._is_pressed and self._stored == self._number
        self._number += 1  # it is not used again, whatever becomes of this one
        entry = _Entry(self._number, len(alerts), body, accepted=asyncio.get_running_loop().create_future())
        self._arrived.append(entry)
        self._count(len(alerts), len(body))
        self._has_arrived.set()
        if is_alone:  # its effects are stored while it is kept: whichever is first, no crash can lose it then
            self._enter(entry)
        assert entry.accepted is not None
        await entry.accepted

    def _is_entered(self, entry: _Entry) -> bool:
        return entry.number <= (self._entries[-1].number if self._entries else self._stored)

    def _enter(self, entry: _Entry) -> None:
        if not self._is_entered(entry):
            self._entries.append(entry)
            self._has_entries.set()

    async def settled(self) -> None:
        """Return when the effects of all that was accepted before are stored. Raises BusyError if that takes long."""
        if self._bodies is None:
            return
        try:
            async with asyncio.timeout(SHOWN_WITHIN):
                await self._is_restored.wait()
                await self._stored_up_to(self._kept)
        except TimeoutError as error:
            raise BusyError(f"{self._waiting} alerts that were accepted are not shown yet") from error

    async def caught_up(self) -> int:
        """Wait a moment for what was accepted before; return how many alerts of it are not shown yet."""
        if self._bodies is None:
            return 0
        last = self._kept
        try:
            async with asyncio.timeout(CAUGHT_UP_WITHIN):
                await self._stored_up_to(last)
        except TimeoutError:
            return sum(one.alerts for one in self._entries if one.number <= last)
        return 0

    async def _stored_up_to(self, number: int) -> None:
        while self._stored < number:
            await self._progress.wait()

    async def run(self) -> None:
        """Keep what arrives and bring it to the receiver, until cancelled."""
        if self._bodies is None:
            await asyncio.Event().wait()
            return
        await self._restore(self._bodies)
        async with asyncio.TaskGroup() as parts:
            parts.create_task(self._keep_arrivals(self._bodies))
            parts.create_task(self._bring(self._bodies))

    async def _restore(self, bodies: BodyStore) -> None:
        """Begin with what is kept: of the last process, or of a run of this one that failed."""
        async with self._store.read() as snapshot:
            marks = [mark.number for mark in await snapshot.rows(InboxMark).find()]
        self._entries = deque(
            _Entry(number, len(decode_body(body).alerts), body) for number, body in await bodies.read()
        )
        both = [*self._entries, *self._arrived]
        self._waiting = sum(one.alerts for one in both)
        self._bytes = sum(len(one.body) for one in both)
        first = self._entries[0].number if self._entries else None
        self._kept = max([self._kept, *marks, *(one.number for one in self._entries)])
        self._number = max(self._number, self._kept)
        self._stored = self._dropped = self._kept if first is None else first - 1
        self._note_waiting(self._waiting)
        self._is_restored.set()
        if self._entries:
            self._has_entries.set()

    async def _keep_arrivals(self, bodies: BodyStore) -> None:
        while True:
            await self._has_arrived.wait()
            self._has_arrived.clear()
            arrived, self._arrived = self._arrived, []
            try:
                await bodies.append([(one.number, one.body) for one in arrived])
            except BaseException as error:
                for one in arrived:
                    one.is_lost = True
                    if not self._is_entered(one):
                        self._count(-one.alerts, -len(one.body))
                        one.refuse()
                if not isinstance(error, StoreError):
                    for one in arrived:
                        one.refuse()  # this part is restarted, and reads again what is kept
                    raise
                _log.warning("alerts are not kept", bodies=len(arrived), reason=str(error))
                continue
            for one in arrived:
                self._enter(one)
                self._accept(one)

    async def _bring(self, bodies: BodyStore) -> None:
        while True:
            while not self._entries:
                self._has_entries.clear()
                await self._wait_for_entries(bodies)
            some = self._next(await self._most_now())
            try:
                await self._receiver.take_kept([_delivery(one) async for one in _one_by_one(some)])
            except BusyError:
                for one in some:
                    if one.is_lost:
                        one.refuse()
                await asyncio.sleep(AGAIN)
                continue
            for one in some:
                self._entries.popleft()
                self._count(-one.alerts, -len(one.body))
                self._accept(one)
            self._stored = some[-1].number
            self._progress.set()
            self._progress.clear()  # those that wait now look once
            if self._stored - self._dropped >= MOST_KEPT:
                await self._drop(bodies)

    def _accept(self, entry: _Entry) -> None:
        self._kept = max(self._kept, entry.number)
        entry.accept()

    async def _wait_for_entries(self, bodies: BodyStore) -> None:
        has_none = self._dropped == self._stored
        if not await set_within(self._has_entries, None if has_none else DROPPED_AFTER):
            await self._drop(bodies)

    async def _most_now(self) -> int:
        """Wait for senders that are at it to pause, for a moment; return how many alerts the transaction may have."""
        loop = asyncio.get_running_loop()
        end = loop.time() + SENDERS_FIRST
        while self._is_pressed and (rest := self._last_at + PAUSED - loop.time()) > 0:
            if loop.time() >= end:
                return STORED_IN_BETWEEN
            await asyncio.sleep(rest)
        return STORED_AT_ONCE

    def _next(self, most: int) -> list[_Entry]:
        found: list[_Entry] = []
        count = 0
        for one in self._entries:
            if found and count + one.alerts > most:
                break
            found.append(one)
            count += one.alerts
        return found

    async def _drop(self, bodies: BodyStore) -> None:
        """Delete the bodies whose effects are stored. What cannot be deleted is brought again by the next process."""
        last = self._stored
        try:
            await bodies.drop(last)
        except StoreError as error:
            _log.warning("accepted alerts are not deleted yet", reason=str(error))
        self._dropped = last

    def _count(self, alerts: int, bytes_: int) -> None:
        self._waiting += alerts
        self._bytes += bytes_
        self._note_waiting(self._waiting)


async def _one_by_one(entries: Sequence[_Entry]) -> AsyncIterator[_Entry]:
    for one in entries:
        yield one
        await asyncio.sleep(0)


def _delivery(entry: _Entry) -> Delivery:
    body = decode_body(entry.body)
    return Delivery(alerts=body.alerts, at=body.at, number=entry.number)
