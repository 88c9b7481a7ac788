"""The reconciler: one task that wakes when rows change, and a worker for each channel."""

import asyncio
from collections import Counter
from collections.abc import Callable
from math import inf
from random import Random

from alerts.cards.posted import CardKind
from alerts.store import Changed, Store
from bot.cards.card_catalogue import CardCatalogue
from bot.delivery.channel_worker import ChannelWorker, WorkerDependencies
from bot.delivery.desired_state import DesiredState
from bot.delivery.journal import DeliveryJournal
from bot.delivery.notifier_protocol import Notifier, Refuses
from bot.delivery.rate_limiter import DeliveryPolicy, RateLimiter
from collectors.facts.clock import Clock
from collectors.internal_errors import InternalErrors

LONGEST_SLEEP = 30.0  # seconds: the wall clock, which says when a card changes by itself, may be set


class Reconciler:
    """Edits and posts until every live card matches its rows, and posts every reply once.

    `counts`: calls by method (post, edit, find, delete), failures by kind, `adopted` and `duplicates`. Pass
    `mark_changed` to the store's `listen`. All state is in the store, so a restart continues where a crash left off.
    """

    def __init__(
        self,
        store: Store,
        notifier: Notifier,
        catalogue: CardCatalogue,
        *,
        clock: Clock,
        policy: DeliveryPolicy,
        may_send: Callable[[], bool] = lambda: True,
        random: Random | None = None,
        errors: InternalErrors | None = None,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._store = store
        self._catalogue = catalogue
        self._errors = errors or InternalErrors()
        self._desired = DesiredState(store, catalogue, self._errors)
        self._clock = clock
        self._workers: dict[str, ChannelWorker] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._dependencies = WorkerDependencies(
            notifier=notifier,
            journal=DeliveryJournal(store, catalogue),
            clock=clock,
            policy=policy,
            method_limiters={
                method: RateLimiter(limit) for method, limit in policy.rate_limits.methods.items()
            },
            may_send=may_send,
            counts=self.counts,
            random=random or Random(),
            on_success=self._chat_works,
        )

    def mark_changed(self, changed: Changed) -> None:
        """Take note of changed rows, after each commit. Our own workers' changes are ignored: they know them."""
        if asyncio.current_task() not in self._tasks:
            self._desired.mark_changed(changed)

    def mark_view_change(self, cluster: str) -> None:
        """Take note that what is blind in a cluster changed, or its rules in force: incident cards show it."""
        self._desired.mark_cluster(CardKind.INCIDENT, cluster)

    def retry_now(self, channel: str = "") -> None:
        """Retry at once what a channel refused, or each: somebody writes there, or the connection is back.

        What the whole chat refused, such as a revoked token, is retried in every channel.
        """
        for worker in self._workers.values():
            if channel in ("", worker.channel) or worker.refused_by is Refuses.CHAT:
                worker.retry_now()

    def _chat_works(self) -> None:
        for worker in self._workers.values():
            if worker.refused_by is Refuses.CHAT:
                worker.retry_now()

    async def run(self) -> None:
        """Deliver until cancelled. A store error ends it; it can be run again, and starts from what is stored."""
        self._desired = DesiredState(self._store, self._catalogue, self._errors)
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
                        task = tasks.create_task(self._work(worker), name=f"delivery {channel}")
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
        until = self._desired.next_retry()
        if (due := self._desired.next_due()) is not None:
            left = min(max(0.0, (due - self._clock.now()).total_seconds()), LONGEST_SLEEP)
            until = min(asyncio.get_running_loop().time() + left, until or inf)
        try:
            async with asyncio.timeout_at(until):
                await self._desired.changed.wait()
        except TimeoutError:
            return
