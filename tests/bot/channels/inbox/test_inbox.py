"""The inbox: unusable files are reported, and an internal error is answered without a claim about what was done."""

import asyncio
from collections.abc import Awaitable, Callable, Sized
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from alerts.store import StoreError
from bot.channels.fair_slots import SHARE
from bot.channels.inbox import MAX_INTERRUPTED, Inbox, InboxDependencies
from bot.channels.interaction import Interaction, InteractionFile
from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from commands.core.command import Answer
from commands.core.request import Actor, Request, Upload
from commands.models import HandledRequest
from tests.support.memory_store import MemoryStore
from tests.support.yard import DANA, text_of

INTERACTION = Interaction(
    id="g1",
    via="slack",
    user_id="U1",
    workspace="T1",
    text="training launch x --image y",
    channel="slack:C1",
    at=datetime(2026, 3, 2, 12, tzinfo=UTC),
    files=(InteractionFile(name="run.sh", address="https://files.slack.com/x", size=3_000_000),),
)


class FixedClock:
    def now(self) -> datetime:
        return INTERACTION.at

    def elapsed(self) -> timedelta:
        return timedelta()


class EveryoneIsDana:
    async def actor(self, id: str) -> Actor:
        return DANA


class Answers:
    """Records the answers. `error` is what is wrong with the files."""

    def __init__(self, error: str = "") -> None:
        self.texts: list[str] = []
        self._error = error

    async def respond(self, interaction: Interaction, answer: Answer) -> None:
        self.texts.append(text_of(answer.message))

    async def files(self, interaction: Interaction) -> tuple[Upload, ...]:
        if self._error:
            raise SourceError(self._error, temporary=False)
        return ()


async def _handle(answers: Answers, take: object) -> MemoryStore:
    store = MemoryStore()
    inbox = _inbox(store, take, answers)
    store.listen(inbox.wake)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        running = group.create_task(inbox.run())
        await _put(store)
        while await _waiting(store):  # noqa: ASYNC110 - a deleted row sends no signal
            await asyncio.sleep(0.01)
        running.cancel()
    return store


async def _put(store: MemoryStore) -> None:
    async with store.unit() as unit:
        await unit.rows(Interaction).put(INTERACTION)


async def _waiting(store: MemoryStore) -> list[Interaction]:
    async with store.unit() as unit:
        return list(await unit.rows(Interaction).find())


async def test_a_file_that_cannot_be_used_is_answered_with_the_reason() -> None:
    async def never(_: Request) -> Answer | None:
        raise AssertionError("the line must not run without its file")

    answers = Answers("run.sh: the file is larger than 1000000 bytes")
    await _handle(answers, never)
    assert answers.texts == [
        "Cannot read the attached files: run.sh: the file is larger than 1000000 bytes. Nothing was done."
    ]


async def test_an_internal_error_is_answered_without_claiming_that_nothing_was_done() -> None:
    async def breaks(_: Request) -> Answer | None:
        raise RuntimeError("a bug")

    answers = Answers()
    await _handle(answers, breaks)
    (text,) = answers.texts
    assert "audit shows whether anything was done" in text
    assert "a bug" not in text


async def test_a_line_that_ends_every_process_is_given_up() -> None:
    store, taken = MemoryStore(), []
    answers = Answers()

    async def ends_the_process(request: Request) -> Answer | None:
        taken.append(request.is_resumed)
        raise asyncio.CancelledError

    await _put(store)
    for ended in range(1, MAX_INTERRUPTED + 2):
        await _run_until(_inbox(store, ends_the_process, answers), partial(_has, taken, ended))
    await _run_until(_inbox(store, ends_the_process, answers), partial(_is_empty, store))
    assert taken == [False] + [True] * MAX_INTERRUPTED
    (text,) = answers.texts
    assert "Yardmaster stopped each time that it ran this" in text


async def test_a_line_that_had_not_begun_to_run_is_not_given_up() -> None:
    """Processes that end while they look somebody up have done nothing of the line."""
    store, looked_up, taken = MemoryStore(), [], []
    answers = Answers()

    async def records(request: Request) -> Answer | None:
        taken.append(request.is_resumed)
        return None

    async def never_answers(interaction: Interaction) -> tuple[Upload, ...]:
        looked_up.append(interaction.id)
        await asyncio.Event().wait()
        return ()

    await _put(store)
    for ended in range(1, MAX_INTERRUPTED + 3):
        slow = Answers()
        slow.files = never_answers  # type: ignore[method-assign]
        await _run_until(_inbox(store, records, slow), partial(_has, looked_up, ended))
    await _run_until(_inbox(store, records, answers), partial(_is_empty, store))
    assert (taken, answers.texts) == ([False], [])


async def test_a_line_that_only_waited_is_not_interrupted() -> None:
    store, begun = MemoryStore(), []
    answers = Answers()

    async def never_ends(request: Request) -> Answer | None:
        begun.append(request.id)
        await asyncio.Event().wait()
        return None

    first = [replace(INTERACTION, id=f"g{number}", files=()) for number in range(SHARE)]
    waiting = replace(INTERACTION, id="waits", files=())
    async with store.unit() as unit:
        for one in (*first, waiting):
            await unit.rows(Interaction).put(one)
    await _run_until(_inbox(store, never_ends, answers), partial(_has, begun, SHARE))
    assert "waits" not in begun
    resumed: dict[str, bool] = {}

    async def records(request: Request) -> Answer | None:
        resumed[request.id] = request.is_resumed
        return None

    await _run_until(_inbox(store, records, answers), partial(_has, resumed, SHARE + 1))
    assert resumed == {**dict.fromkeys((one.id for one in first), True), "waits": False}


async def test_a_line_that_waits_is_read_again_only_when_another_arrives() -> None:
    """Not each time that one of those before it begins, or ends."""
    store, read, ended = MemoryStore(), list[str](), list[str]()
    may_end = asyncio.Event()

    async def take(request: Request) -> Answer | None:
        await may_end.wait()
        ended.append(request.id)
        return None

    def changes(line: str) -> bool:
        read.append(line)
        return False

    inbox = _inbox(store, take, Answers(), changes)
    store.listen(inbox.wake)
    lines = [f"line {number}" for number in range(3 * SHARE)]
    async with store.unit() as unit:
        for line in lines:
            await unit.rows(Interaction).put(replace(INTERACTION, id=line, text=line, files=()))
    may_end.set()
    await _run_until(inbox, partial(_has, ended, len(lines)))
    assert sorted(read) == sorted(lines)


class UnusableStore(MemoryStore):
    is_down = False

    def unit(self) -> Any:
        if self.is_down:
            raise StoreError("the store is full", sentence("the disk of its store is full"))
        return super().unit()


async def test_what_cannot_be_stored_is_said_so_and_not_done_later() -> None:
    """Neither by this process nor by the next: its sender read that nothing was done."""
    store, taken, answers = UnusableStore(), list[str](), Answers()

    async def take(request: Request) -> Answer | None:
        taken.append(request.id)
        return None

    async def goes_down(interaction: Interaction) -> tuple[Upload, ...]:
        store.is_down = True
        return ()

    answers.files = goes_down  # type: ignore[method-assign]
    inbox = _inbox(store, take, answers)
    store.listen(inbox.wake)
    await _put(store)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        running = group.create_task(inbox.run())
        while not answers.texts:  # noqa: ASYNC110 - an answer sends no signal
            await asyncio.sleep(0.01)
        assert answers.texts == [
            "Yardmaster could not store this: the disk of its store is full. Nothing was done: send it again later."
        ]
        store.is_down = False
        async with store.unit() as unit:
            await unit.rows(HandledRequest).put(HandledRequest(id="another", at=INTERACTION.at))
        while await _waiting(store):  # noqa: ASYNC110 - a deleted row sends no signal
            await asyncio.sleep(0.01)
        running.cancel()
    assert taken == []
    async with store.read() as snapshot:
        assert await snapshot.rows(HandledRequest).get("g1") is not None, "a second delivery is refused"


def _inbox(
    store: MemoryStore, take: object, answers: Answers, changes: Callable[[str], bool] = lambda _line: False
) -> Inbox:
    return Inbox(
        InboxDependencies(
            people=EveryoneIsDana(),  # type: ignore[arg-type]
            store=store,
            take=take,  # type: ignore[arg-type]
            responder=answers,
            clock=FixedClock(),
            changes=changes,
        )
    )


async def _run_until(inbox: Inbox, is_enough: Callable[[], Awaitable[bool]]) -> None:
    """Run an inbox until then, and end it as a stop of the process does."""
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        running = group.create_task(inbox.run())
        while not await is_enough():  # noqa: ASYNC110 - a row sends no signal
            await asyncio.sleep(0.01)
        running.cancel()


async def _has(items: Sized, count: int) -> bool:
    return len(items) >= count


async def _is_empty(store: MemoryStore) -> bool:
    return not await _waiting(store)
