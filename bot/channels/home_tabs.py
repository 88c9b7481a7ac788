"""Home tabs: each person's page, published when they open it and again while they may look at it and it changes."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import structlog

from alerts.cards.message import Message
from alerts.store import Changed
from bot.chat_accounts import People, UnknownPersonError
from bot.delivery.notifier_protocol import SendError
from bot.event_waits import set_within
from collectors.facts.clock import Clock
from commands.core.command import Handler
from commands.core.request import Request

LINE = "home"
WATCHED_FOR = 1800.0  # seconds after a person opened their page
MAX_WATCHED = 100  # people: whoever opened theirs longest ago is forgotten
MIN_GAP = 3.0  # seconds between two publications of one person's page
LOOK_AGAIN = 60.0  # seconds: trainings are not in the store, so their changes are looked for
PAUSE = 0.75  # seconds between two calls: Slack allows about a hundred in a minute
SHOWN_TABLES = frozenset({"incidents", "parents", "plans", "reclaim_requests", "leases", "launches"})

_log = structlog.get_logger()


class HomePublisher(Protocol):
    """Shows people their page."""

    def listen(self, on_opened: Callable[[str], None]) -> None:
        """Call the listener with a person's id when they open theirs."""
        ...

    async def publish(self, user: str, message: Message) -> None:
        """Replace a person's page. Raises SendError."""
        ...


@dataclass(slots=True)
class _Watched:
    """A person's page. Times are the event loop's."""

    opened_at: float
    published_at: float = float("-inf")
    is_due: bool = True
    shown: Message | None = None


class HomeTabs:
    """Publishes the answer of the line `home`, run by each person for themselves, for each cluster."""

    def __init__(
        self, publisher: HomePublisher, people: People, take: Handler, clock: Clock, clusters: Sequence[str]
    ) -> None:
        self._publisher = publisher
        self._people = people
        self._take = take
        self._clock = clock
        self._clusters = clusters or ("",)
        self._watched: dict[str, _Watched] = {}
        self._changed = asyncio.Event()
        publisher.listen(self.opened)

    def opened(self, user: str) -> None:
        """Publish the person's page now, whether it changed or not."""
        self._watched.pop(user, None)
        self._watched[user] = _Watched(opened_at=asyncio.get_running_loop().time())
        if len(self._watched) > MAX_WATCHED:
            del self._watched[next(iter(self._watched))]
        self._changed.set()

    def wake(self, changed: Changed) -> None:
        """Listen to the store: look again at the pages when something on them may have changed."""
        if self._watched and not SHOWN_TABLES.isdisjoint(changed):
            self._make_due()

    async def run(self) -> None:
        """Publish until cancelled."""
        while True:
            self._changed.clear()
            wait = LOOK_AGAIN
            for user, watched in list(self._watched.items()):
                wait = min(wait, await self._look_at(user, watched))
            if not self._watched:
                await self._changed.wait()
                continue
            if not await set_within(self._changed, wait) and wait == LOOK_AGAIN:
                self._make_due()

    async def _look_at(self, user: str, watched: _Watched) -> float:
        """Publish the page if it is due and changed. Return the seconds until it has to be looked at."""
        now = asyncio.get_running_loop().time()
        if now - watched.opened_at > WATCHED_FOR:
            self._watched.pop(user, None)
            return LOOK_AGAIN
        if not watched.is_due:
            return LOOK_AGAIN
        if (left := watched.published_at + MIN_GAP - now) > 0:
            return left
        watched.is_due = False
        try:
            message = await self._page(user)
            if message is None:
                self._watched.pop(user, None)
            elif message != watched.shown:
                await self._publisher.publish(user, message)
                watched.shown, watched.published_at = message, asyncio.get_running_loop().time()
                await asyncio.sleep(PAUSE)
        except SendError as error:
            _log.warning("home tab not published", user=user, reason=str(error))
        return LOOK_AGAIN

    async def _page(self, user: str) -> Message | None:
        """Return the page; None for outsiders, and for people whose lookup fails."""
        try:
            actor = await self._people.actor(user)
        except UnknownPersonError:
            return None
        page: Message | None = None
        for cluster in self._clusters:
            request = Request(
                id=f"home/{user}/{cluster}/{self._clock.now().isoformat()}",
                line=f"{LINE} --cluster {cluster}" if cluster else LINE,
                actor=actor,
                at=self._clock.now(),
            )
            answer = await self._take(request)
            if answer is None:
                return None
            found = answer.message
            page = found if page is None else replace(page, blocks=(*page.blocks, *found.blocks))
        return page

    def _make_due(self) -> None:
        for watched in self._watched.values():
            watched.is_due = True
        self._changed.set()
