"""This file owns the telling: one task that wakes when rows change, and a worker for each channel."""

import asyncio
from collections import Counter
from collections.abc import Callable
from random import Random

from bot.delivery.card_entries import Composers
from bot.delivery.channel_worker import ChannelWorker, WorkerDependencies
from bot.delivery.desired_state import DesiredState
from bot.delivery.journal import DeliveryJournal
from bot.delivery.notifier_protocol import Notifier
from bot.delivery.rate_limiter import DeliveryPolicy, RateLimiter
from bot.store.unit import Changed
from collectors.facts.clock import Clock
from commands.store import Store


class Reconciler:
    """Edits and posts until every live card matches its rows, and tells every line once.

    `counts`: calls by method (post, edit, find, delete), failures by kind, `adopted` and `twins`. Feed `note` from
    the store's `listen`. All state is in the store: a second life goes on where the first was killed.
    """

    def __init__(
        self,
        store: Store,
        notifier: Notifier,
        composers: Composers,
        *,
        clock: Clock,
        policy: DeliveryPolicy,
        may_send: Callable[[], bool] = lambda: True,
        random: Random | None = None,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._store = store
        self._composers = composers
        self._desired = DesiredState(store, composers)
        self._clock = clock
        self._workers: dict[str, ChannelWorker] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._dependencies = WorkerDependencies(
            notifier=notifier,
            journal=DeliveryJournal(store, composers),
            clock=clock,
            policy=policy,
            method_limiters={
                method: RateLimiter(limit) for method, limit in policy.rate_limits.methods.items()
            },
            may_send=may_send,
            counts=self.counts,
            random=random or Random(),
        )

    def mark_changed(self, changed: Changed) -> None:
        """Rows changed: called by the store after each commit. Our workers know what they changed themselves."""
        if asyncio.current_task() not in self._tasks:
            self._desired.mark_changed(changed)

    def retry_now(self, channel: str) -> None:
        """Somebody may have mended the channel: try again at once what it refused."""
        if worker := self._workers.get(channel):
            worker.retry_now()

    async def run(self) -> None:
        """Tell until cancelled. A store that fails ends it; it may be run again, and begins with what is stored."""
        self._desired = DesiredState(self._store, self._composers)
        self._workers.clear()
        async with asyncio.TaskGroup() as tasks:
            while True:
                for channel in sorted(await self._desired.refresh(self._clock.now())):
                    if worker := self._workers.get(channel):
                        worker.awake.set()
                    else:
                        worker = self._workers[channel] = ChannelWorker(
                            channel, self._desired.entries, self._dependencies
                        )
                        task = tasks.create_task(self._work(worker), name=f"telling {channel}")
                        self._tasks.add(task)
                        task.add_done_callback(self._tasks.discard)
                await self._rest()

    async def _work(self, worker: ChannelWorker) -> None:
        try:
            await worker.run(self._desired.drop)
        finally:
            if self._workers.get(worker.channel) is worker:
                del self._workers[worker.channel]

    async def _rest(self) -> None:
        due = self._desired.next_due()
        pause = None if due is None else max(0.0, (due - self._clock.now()).total_seconds())
        try:
            async with asyncio.timeout(pause):
                await self._desired.changed.wait()
        except TimeoutError:
            return
