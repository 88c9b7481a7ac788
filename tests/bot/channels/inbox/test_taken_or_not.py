"""A sender learns whether a line was taken from what was stored: no timeout is shown as an outcome."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from alerts.store import Unit
from bot.channels.intake import InboxFullError, Intake, NotYetStoredError, Receipt, report_outcome
from bot.channels.interaction import Interaction
from tests.bot.channels.inbox.test_inbox import INTERACTION
from tests.support.memory_store import MemoryStore

LINE = replace(INTERACTION, files=())
pytestmark = (
    pytest.mark.looptime
)  # the store's time passes while nothing else goes on, however busy the machine is


class GatedStore(MemoryStore):
    """A store whose transactions wait until the gate is opened, and fail while it is broken."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.is_broken = False

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Unit]:
        await self.gate.wait()
        if self.is_broken:
            raise OSError("the disk is full")
        async with super().unit() as unit:
            yield unit


@pytest.fixture
async def store() -> GatedStore:
    return GatedStore()


@pytest.fixture
async def intake(store: GatedStore) -> AsyncIterator[Intake]:
    found = Intake(store, max_waiting=2)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(found.run())
        await asyncio.sleep(0)
        yield found
        running.cancel()


async def stored(store: GatedStore) -> list[str]:
    async with MemoryStore.read(store) as snapshot:
        return [one.id for one in await snapshot.rows(Interaction).find()]


class Sender:
    """Records what they are shown."""

    def __init__(self) -> None:
        self.receipts: list[Receipt] = []
        self._changed = asyncio.Event()

    async def report(self, receipt: Receipt) -> None:
        self.receipts.append(receipt)
        self._changed.set()

    async def until(self, receipt: Receipt) -> None:
        async with asyncio.timeout(20):
            while receipt not in self.receipts:
                self._changed.clear()
                await self._changed.wait()


async def late(intake: Intake, line: Interaction = LINE) -> Sender:
    """Send a line that is not stored in time, and return its sender."""
    with pytest.raises(NotYetStoredError) as found:
        await intake.accept(line)
    sender = Sender()
    intake.follow(report_outcome(found.value.outcome, sender.report))
    return sender


async def test_a_line_that_is_stored_late_is_taken_and_its_sender_reads_it(
    store: GatedStore, intake: Intake
) -> None:
    sender = await late(intake)
    await sender.until(Receipt.PENDING)
    assert await stored(store) == []
    store.gate.set()
    await sender.until(Receipt.TAKEN)
    assert sender.receipts == [Receipt.PENDING, Receipt.TAKEN]
    assert await stored(store) == [LINE.id]


async def test_a_line_that_is_not_stored_is_not_taken_also_when_it_is_delivered_again(
    store: GatedStore, intake: Intake
) -> None:
    sender = await late(intake)
    store.is_broken = True
    store.gate.set()
    await sender.until(Receipt.NOT_TAKEN)
    assert Receipt.TAKEN not in sender.receipts
    store.is_broken = False
    await intake.accept(LINE)  # Slack delivers it again
    await intake.accept(replace(LINE, id="sent again"))
    assert await stored(store) == ["sent again"]


async def test_a_delivery_that_waited_behind_the_refused_one_is_not_taken_either(
    store: GatedStore, intake: Intake
) -> None:
    sender = await late(intake)
    with pytest.raises(NotYetStoredError):
        await intake.accept(LINE)
    store.is_broken = True
    store.gate.set()
    await sender.until(Receipt.NOT_TAKEN)
    store.is_broken = False
    await intake.accept(replace(LINE, id="another"))
    assert await stored(store) == ["another"]


async def test_a_line_that_was_stored_when_its_deadline_passed_is_taken(
    store: GatedStore, intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts is that it is stored, not that a busy process looked too late."""
    store.gate.set()

    @asynccontextmanager
    async def late_to_look(_seconds: float) -> AsyncGenerator[None]:
        yield
        raise TimeoutError

    monkeypatch.setattr(asyncio, "timeout", late_to_look)
    await intake.accept(LINE)
    monkeypatch.undo()
    assert await stored(store) == [LINE.id]


async def test_a_line_for_which_there_is_no_room_says_so(store: GatedStore, intake: Intake) -> None:
    store.gate.set()
    for number in range(2):
        await intake.accept(replace(LINE, id=f"g{number}"))
    with pytest.raises(InboxFullError):
        await intake.accept(replace(LINE, id="one too many"))
    store.gate.clear()
    sender = await late(intake, replace(LINE, id="two too many"))
    store.gate.set()
    await sender.until(Receipt.FULL)


async def test_one_delivery_that_waits_is_stored_once(store: GatedStore, intake: Intake) -> None:
    sender = await late(intake)
    with pytest.raises(NotYetStoredError):
        await intake.accept(LINE)
    store.gate.set()
    await sender.until(Receipt.TAKEN)
    assert await stored(store) == [LINE.id]
