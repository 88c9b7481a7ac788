"""This file owns the telling: one task that wakes when rows change, and a worker for each channel."""

import asyncio
from collections import Counter
from collections.abc import Callable
from random import Random

from bot.store.unit import Changed
from bot.telling.channel import ChannelWorker
from bot.telling.composing import Composers
from bot.telling.journal import Journal
from bot.telling.means import Means, Patience
from bot.telling.pacing import Pacer, Paces
from bot.telling.picture import Picture
from bot.telling.speaking import Speaker
from collectors.facts.clock import Clock
from commands.stores import Store


class Reconciler:
    """Edits and posts until every live card matches its rows, and tells every line once.

    `counts`: calls by method (post, edit, find, delete), failures by kind, `adopted` and `twins`. Feed `note` from
    the store's `listen`. All state is in the store: a second life goes on where the first was killed.
    """

    def __init__(
        self,
        store: Store,
        speaker: Speaker,
        composers: Composers,
        *,
        clock: Clock,
        paces: Paces | None = None,
        patience: Patience | None = None,
        may_speak: Callable[[], bool] = lambda: True,
        random: Random | None = None,
    ) -> None:
        paces = paces or Paces()
        self.counts: Counter[str] = Counter()
        self._store = store
        self._composers = composers
        self._picture = Picture(store, composers)
        self._clock = clock
        self._workers: dict[str, ChannelWorker] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._means = Means(
            speaker=speaker,
            journal=Journal(store, composers),
            clock=clock,
            paces=paces,
            methods={method: Pacer(pace) for method, pace in paces.methods.items()},
            patience=patience or Patience(),
            may_speak=may_speak,
            counts=self.counts,
            random=random or Random(),
        )

    def note(self, changed: Changed) -> None:
        """Rows changed: called by the store after each commit. Our workers know what they changed themselves."""
        if asyncio.current_task() not in self._tasks:
            self._picture.note(changed)

    def nudge(self, channel: str) -> None:
        """Somebody may have mended the channel: try again at once what it refused."""
        if worker := self._workers.get(channel):
            worker.nudge()

    async def run(self) -> None:
        """Tell until cancelled. A store that fails ends it; it may be run again, and begins with what is stored."""
        self._picture = Picture(self._store, self._composers)
        self._workers.clear()
        async with asyncio.TaskGroup() as tasks:
            while True:
                for channel in sorted(await self._picture.refresh(self._clock.now())):
                    if worker := self._workers.get(channel):
                        worker.awake.set()
                    else:
                        worker = self._workers[channel] = ChannelWorker(
                            channel, self._picture.entries, self._means
                        )
                        task = tasks.create_task(self._work(worker), name=f"telling {channel}")
                        self._tasks.add(task)
                        task.add_done_callback(self._tasks.discard)
                await self._rest()

    async def _work(self, worker: ChannelWorker) -> None:
        try:
            await worker.run(self._picture.drop)
        finally:
            if self._workers.get(worker.channel) is worker:
                del self._workers[worker.channel]

    async def _rest(self) -> None:
        due = self._picture.next_due()
        pause = None if due is None else max(0.0, (due - self._clock.now()).total_seconds())
        try:
            async with asyncio.timeout(pause):
                await self._picture.awake.wait()
        except TimeoutError:
            return
