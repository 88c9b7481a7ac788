"""The inbox: what came along and cannot be taken is said, and what breaks is owned up to without a claim."""

import asyncio
from datetime import UTC, datetime

from bot.channels.inbox import Inbox
from bot.channels.slack.interactions import Interaction, InteractionFile
from bot.metrics import Metrics
from bot.store.memory_store import MemoryStore
from collectors.facts.clock import SystemClock
from collectors.facts.results import SourceError
from commands.core.command import Answer
from commands.core.request import Actor, Request, Upload
from tests.support.yard import DANA, told

HEARD = Interaction(
    id="g1",
    user_id="U1",
    team_id="T1",
    text="training launch x --image y",
    channel="C1",
    at=datetime(2026, 3, 2, 12, tzinfo=UTC),
    files=(InteractionFile(name="run.sh", address="https://files.slack.com/x", size=3_000_000),),
)


class Everybody:
    async def actor(self, id: str) -> Actor:
        return DANA


class Answers:
    """Hears what is answered. `why` is what is wrong with the files."""

    def __init__(self, why: str = "") -> None:
        self.said: list[str] = []
        self._why = why

    async def respond(self, heard: Interaction, answer: Answer) -> None:
        self.said.append(told(answer.message))

    async def files(self, heard: Interaction) -> tuple[Upload, ...]:
        if self._why:
            raise SourceError(self._why, temporary=False)
        return ()


async def _one(answers: Answers, take: object) -> None:
    queue: asyncio.Queue[Interaction] = asyncio.Queue()
    inbox = Inbox(
        queue,
        people=Everybody(),  # type: ignore[arg-type]
        store=MemoryStore(),
        take=take,  # type: ignore[arg-type]
        answers=answers,
        clock=SystemClock(),
        metrics=Metrics(),
    )
    queue.put_nowait(HEARD)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        running = group.create_task(inbox.run())
        while not answers.said:  # noqa: ASYNC110 - an answer rings no bell
            await asyncio.sleep(0.01)
        running.cancel()


async def test_a_file_that_cannot_be_taken_is_answered_in_its_own_words() -> None:
    async def never(_: Request) -> Answer | None:
        raise AssertionError("the line must not run without its file")

    answers = Answers("run.sh: the file is larger than 1000000 bytes")
    await _one(answers, never)
    assert answers.said == [
        "I cannot take what came along: run.sh: the file is larger than 1000000 bytes. Nothing was done."
    ]


async def test_what_breaks_is_answered_without_claiming_that_nothing_was_done() -> None:
    async def breaks(_: Request) -> Answer | None:
        raise RuntimeError("a bug")

    answers = Answers()
    await _one(answers, breaks)
    (said,) = answers.said
    assert "audit says whether anything was done" in said
    assert "a bug" not in said
