"""The reconciler: one task that wakes when rows change, and a worker for each channel."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from math import inf
from random import Random
from typing import Any

from alerts.cards.channel_id import kind_and_name
from alerts.cards.posted import CardKind
from alerts.store import Changed, Store
from bot.cards.card_catalogue import CardCatalogue
from bot.delivery.card_entries import CardEntry
from bot.delivery.channel_worker import ChannelWorker
from bot.delivery.desired_state import DesiredState
from bot.delivery.fallback import Fallback, FallbackOptions
from bot.delivery.journal import DeliveryJournal
from bot.delivery.message_sender import DeliveryDependencies
from bot.delivery.notifier_protocol import Notifier, Refuses
from bot.delivery.notifier_registry import NotifierRegistry
from bot.delivery.retry import RetryPolicy
from collectors.facts.clock import Clock
from collectors.internal_errors import InternalErrors

LONGEST_SLEEP = 30.0  # seconds: the wall clock, by which cards change by themselves, may step


class Reconciler:
    """Edits and posts until every live card matches its rows, and posts every reply once.

    `notifiers`: by kind of channel. `counts`: calls by method (post, edit, find, delete), failures by kind, `adopted`
    and `duplicates`. Pass `wake` to the store's `listen`. All state is in the store, so a restart continues
    where a crash left off.
    """

    def __init__(
        self,
        store: Store,
        notifiers: Mapping[str, Notifier],
        catalogue: CardCatalogue,
        *,
        clock: Clock,
        retry: RetryPolicy | None = None,
        fallback: FallbackOptions | None = None,
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
        self._dependencies = DeliveryDependencies(
            notifiers=NotifierRegistry(notifiers),
            journal=DeliveryJournal(store, catalogue),
            fallback=Fallback(fallback or FallbackOptions(), store, self._notice),
            clock=clock,
            retry=retry or RetryPolicy(),
            may_send=may_send,
            counts=self.counts,
            random=random or Random(),
        )

    def wake(self, changed: Changed) -> None:
        """Listen to the store: take note of changed rows. Our own workers' changes are ignored: they know them."""
        if asyncio.current_task() not in self._tasks:
            self._desired.mark_changed(changed)

    def _notice(self, changed: Changed) -> None:
        """Take note of what the workers stored for each other."""
        self._desired.mark_changed(changed)

    def mark_view_change(self, cluster: str) -> None:
        """Take note that what is blind in a cluster changed, or its rules in force: incident cards show it."""
        self._desired.mark_cluster(CardKind.INCIDENT, cluster)
        self._desired.mark_cluster(CardKind.PARENT, cluster)

    def retry_now(self, channel: str = "") -> None:
        """Retry at once what a channel refused, or each: somebody writes there, or the connection is back.

        What the whole chat refused, such as a revoked token, is retried in every channel of its kind.
        """
        kind, _ = kind_and_name(channel)
        for worker in self._workers.values():
            is_of_chat = worker.refused_by is Refuses.CHAT and worker.kind == kind
            if channel in ("", worker.channel) or is_of_chat:
                worker.retry_now()

    def _chat_works(self, kind: str) -> None:
        for worker in self._workers.values():
            if worker.refused_by is Refuses.CHAT and worker.kind == kind:
                worker.retry_now()

    async def run(self) -> None:
        """Deliver until cancelled. A store error ends it; it can be run again, and starts from what is stored."""
        self._desired = DesiredState(self._store, self._catalogue, self._errors)
        self._workers.clear()
        async with asyncio.TaskGroup() as tasks:
            while True:
                await self._desired.refresh(self._clock.now(), partial(self._hand_over, tasks))
                await self._rest()

    def _hand_over(self, tasks: asyncio.TaskGroup, entry: CardEntry) -> None:
        """Give an entry to its channel's worker."""
        channel = entry.card.channel
        worker = self._workers.get(channel)
        if worker is None:
            kind, _ = kind_and_name(channel)
            worker = self._workers[channel] = ChannelWorker(
                channel,
                self._desired.entries,
                self._dependencies,
                drop=self._desired.drop,
                on_success=partial(self._chat_works, kind),
            )
            self._start(tasks, self._work(tasks, worker))
        worker.put(entry)

    def _start(self, tasks: asyncio.TaskGroup, work: Coroutine[Any, Any, None]) -> None:
        """Start a task whose changes of rows are our own."""
        task = tasks.create_task(work, name="delivery")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, tasks: asyncio.TaskGroup, worker: ChannelWorker) -> None:
        try:
            await worker.run(partial(self._start, tasks))
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
