"""The inbox: unusable files are reported, and an internal error is answered without a claim about what was done."""

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta

from bot.channels.inbox import MAX_INTERRUPTED, Inbox, InboxDependencies
from bot.channels.interaction import Interaction, InteractionFile
from bot.store.memory_store import MemoryStore
from collectors.facts.results import SourceError
from commands.core.command import Answer
from commands.core.request import Actor, Request, Upload
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
    inbox = Inbox(
        InboxDependencies(
            people=EveryoneIsDana(),  # type: ignore[arg-type]
            store=store,
            take=take,  # type: ignore[arg-type]
            responder=answers,
            clock=FixedClock(),
        )
    )
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
    for _ in range(MAX_INTERRUPTED + 2):
        dependencies = InboxDependencies(
            people=EveryoneIsDana(),  # type: ignore[arg-type]
            store=store,
            take=ends_the_process,
            responder=answers,
            clock=FixedClock(),
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await Inbox(dependencies).run()
    assert taken == [True] * MAX_INTERRUPTED
    (text,) = answers.texts
    assert "each time that it ran, Yardmaster ended" in text
    assert await _waiting(store) == []
