"""Home tabs are published when they are opened, again when they change, and no more often than Slack allows."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from alerts.cards.message import Message
from alerts.cards.text import plain, text
from bot.channels.home_tabs import LOOK_AGAIN, MAX_WATCHED, MIN_GAP, WATCHED_FOR, HomeTabs
from bot.chat_accounts import Account, People
from bot.delivery.notifier_protocol import Recoverable
from bot.person_book import PersonBook
from commands.core.command import Answer
from commands.core.request import Request
from tests.support.yard import Hands

pytestmark = pytest.mark.looptime
CHANGED = {"incidents": {"i1": object()}}


class Slack:
    """A publisher and a directory: guests are outsiders, and while `is_down` nothing is published."""

    def __init__(self) -> None:
        self.on_opened: Callable[[str], None] = lambda _user: None
        self.published: list[tuple[str, str, float]] = []
        self.is_down = False

    def listen(self, on_opened: Callable[[str], None]) -> None:
        self.on_opened = on_opened

    async def publish(self, user: str, message: Message) -> None:
        if self.is_down:
            raise Recoverable("down")
        self.published.append((user, plain(message.title), asyncio.get_running_loop().time()))

    async def account(self, id: str) -> Account:
        return Account(id=id, name=id, is_outsider=id.startswith("guest"))

    async def groups(self) -> dict[str, list[str]]:
        return {}


class Stage:
    """Home tabs whose pages say `words`."""

    def __init__(self, clusters: tuple[str, ...] = ("prod-a",)) -> None:
        self.slack = Slack()
        self.words = "one"
        self.lines: list[str] = []
        people = People(self.slack, {}, PersonBook(), chat="slack")
        self.tabs = HomeTabs(self.slack, people, self._answer, Hands(), clusters)

    async def _answer(self, request: Request) -> Answer | None:
        self.lines.append(request.line)
        if request.actor.is_guest:
            return None
        return Answer(message=Message(title=text(self.words)))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.tabs.run())
            yield
            task.cancel()

    def pages(self, user: str = "dana") -> list[str]:
        return [words for who, words, _ in self.slack.published if who == user]


async def test_a_page_is_published_when_it_is_opened(looptime: Any) -> None:
    stage = Stage()
    async with stage.running():
        stage.slack.on_opened("dana")
        await asyncio.sleep(1)
        assert stage.pages() == ["one"]
        assert stage.lines == ["home --cluster prod-a"]


async def test_a_change_is_published_and_what_stayed_the_same_is_not(looptime: Any) -> None:
    stage = Stage()
    async with stage.running():
        stage.slack.on_opened("dana")
        await asyncio.sleep(MIN_GAP)
        stage.tabs.wake(CHANGED)
        await asyncio.sleep(MIN_GAP)
        assert stage.pages() == ["one"]
        stage.words = "two"
        stage.tabs.wake({"audit": {}})  # not on the page
        await asyncio.sleep(1)
        assert stage.pages() == ["one"]
        stage.tabs.wake(CHANGED)
        await asyncio.sleep(1)
        assert stage.pages() == ["one", "two"]


async def test_a_storm_of_changes_is_published_once_in_a_while(looptime: Any) -> None:
    stage = Stage()
    async with stage.running():
        stage.slack.on_opened("dana")
        for number in range(600):
            stage.words = str(number)
            stage.tabs.wake(CHANGED)
            await asyncio.sleep(0.1)
        await asyncio.sleep(MIN_GAP)
        assert stage.pages()[-1] == "599"
        assert len(stage.pages()) <= 60 / MIN_GAP + 2


async def test_many_people_stay_below_the_limit_of_a_minute(looptime: Any) -> None:
    stage = Stage()
    async with stage.running():
        for number in range(MAX_WATCHED + 20):
            stage.slack.on_opened(f"p{number}")
        await asyncio.sleep(300)
        moments = [at for _, _, at in stage.slack.published]
        assert len(moments) == MAX_WATCHED
        assert max(sum(1 for one in moments if start <= one < start + 60) for start in moments) <= 100


async def test_what_no_row_announces_is_looked_for(looptime: Any) -> None:
    stage = Stage()
    async with stage.running():
        stage.slack.on_opened("dana")
        await asyncio.sleep(1)
        stage.words = "two"
        await asyncio.sleep(LOOK_AGAIN + 1)
        assert stage.pages() == ["one", "two"]


async def test_a_page_that_nobody_looks_at_is_left_alone(looptime: Any) -> None:
    stage = Stage()
    async with stage.running():
        stage.slack.on_opened("dana")
        await asyncio.sleep(WATCHED_FOR + LOOK_AGAIN + 1)
        lines = len(stage.lines)
        stage.words = "two"
        stage.tabs.wake(CHANGED)
        await asyncio.sleep(LOOK_AGAIN + 1)
        assert (stage.pages(), len(stage.lines)) == (["one"], lines)


async def test_a_page_that_slack_refused_is_published_later(looptime: Any) -> None:
    stage = Stage()
    async with stage.running():
        stage.slack.is_down = True
        stage.slack.on_opened("dana")
        await asyncio.sleep(1)
        stage.slack.is_down = False
        await asyncio.sleep(LOOK_AGAIN + 1)
        assert stage.pages() == ["one"]


async def test_an_outsider_gets_no_page(looptime: Any) -> None:
    stage = Stage()
    async with stage.running():
        stage.slack.on_opened("guest")
        await asyncio.sleep(1)
        assert stage.pages("guest") == []


async def test_each_cluster_has_its_part(looptime: Any) -> None:
    stage = Stage(clusters=("prod-a", "prod-b"))
    async with stage.running():
        stage.slack.on_opened("dana")
        await asyncio.sleep(1)
        assert stage.lines == ["home --cluster prod-a", "home --cluster prod-b"]
        assert len(stage.pages()) == 1
