"""Twelve live trainings in one channel: each fact is there within two seconds of what the rate limits cost."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from alerts.cards.message import Message
from alerts.cards.posted import PostedCard
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.cards.launch_cards import LAUNCH_CARD
from bot.channels.slack.rate_limits import SLACK_RATE_LIMITS
from bot.delivery.rate_limiter import RateLimit
from bot.delivery.reconciler import Reconciler
from bot.jobs.launch_watcher import LaunchWatcher
from collectors.cluster.cache import ObjectChange
from collectors.cluster.inventory import Inventory
from collectors.facts.redaction import Redactor
from collectors.facts.sentences import sentence
from collectors.trainings.training import Rank, Training, TrainingState
from commands.models import Launch
from tests.support.changing_cache import ChangingCache
from tests.support.chat import START, FakeChat, LoopClock
from tests.support.memory_store import MemoryStore
from tests.support.objects import inventory
from tests.support.rows import a_launch
from tests.support.running_jobs import running

pytestmark = pytest.mark.looptime

TRAININGS = 12
RANKS = 40
BEYOND = 2.0  # seconds


@dataclass(slots=True)
class WatchedChat(FakeChat):
    """A chat that keeps what its cards showed, and when."""

    shown: list[tuple[float, str]] = field(default_factory=list)

    async def edit(self, channel: str, ts: str, message: Message) -> None:
        await FakeChat.edit(self, channel, ts, message)
        self.shown.append((asyncio.get_running_loop().time(), message.notification))


@dataclass(slots=True)
class World(ChangingCache):
    """A cluster of trainings whose states a test sets, and when it did."""

    trainings_by_id: dict[str, Training] = field(default_factory=dict)
    facts: list[tuple[float, str, str]] = field(default_factory=list)  # loop time, training, state
    pod_logs: None = None
    logs: None = None

    def inventory(self) -> Inventory:
        return inventory()

    @property
    def cache(self) -> "World":
        return self

    def trainings(self) -> Iterable[Training]:
        return self.trainings_by_id.values()

    def show(self, id: str, state: TrainingState, *, reason: str = "", running: int = 0) -> None:
        """Change a training: its figures, and perhaps its state."""
        before = self.trainings_by_id.get(id)
        namespace, _, name = id.partition("/")
        ranks = tuple(
            Rank(role="worker", index=index, pod=f"{name}-{index}", node=f"gpu-{index:02}", phase="Running")
            for index in range(running)
        )
        self.trainings_by_id[id] = Training(
            id=id,
            kind="Job",
            namespace=namespace,
            name=name,
            state=state,
            reason=reason,
            ranks=ranks,
            wanted=RANKS,
        )
        if before is None or before.state is not state:
            self.facts.append((asyncio.get_running_loop().time(), id, state.value))
        self.tell(ObjectChange(kind="jobs", key=f"{namespace}/{name}", before=None, after=None, at=START))


async def live(world: World) -> None:
    """Ten minutes: all wait, start rank by rank, run together, and some fail at once; figures change each second."""
    ids = [f"team/t{letter}" for letter in "abcdefghijkl"[:TRAININGS]]
    for second in range(600):
        for number, id in enumerate(ids):
            started = 60 + 10 * number
            if second < started:
                reason = sentence("{number} of {ranks} nodes fit", number=second % 37, ranks=RANKS)
                world.show(id, TrainingState.QUEUED, reason=reason)
            elif second < 300:
                running = min(RANKS - 1, second - started)
                reason = sentence("{number} of {ranks} started", number=running, ranks=RANKS)
                world.show(id, TrainingState.STARTING, reason=reason, running=running)
            elif second < 420 or number % 3:
                world.show(id, TrainingState.RUNNING, running=RANKS - second % 2)
            else:
                world.show(id, TrainingState.FAILED, reason="BackoffLimitExceeded")
        await asyncio.sleep(1)


def ideal(due: Iterable[float], limit: RateLimit) -> list[float]:
    """Return when the calls that are due then are made at the earliest, within the limit."""
    every, burst = limit.every.total_seconds(), limit.burst
    made: list[float] = []
    free = 0.0  # when a call would be free without any burst
    for at in sorted(due):
        made.append(max(at, free - every * (burst - 1)))
        free = max(free, made[-1]) + every
    return made


async def test_each_fact_is_in_the_channel_within_two_seconds_of_what_its_limit_costs() -> None:
    store, chat, clock, world = MemoryStore(), WatchedChat(), LoopClock(), World()
    context = CardContext(
        rules=dict, training=lambda _cluster, id: world.trainings_by_id.get(id), blind=lambda *_: {}
    )
    reconciler = Reconciler(store, {"slack": chat}, CardCatalogue(context, [LAUNCH_CARD]), clock=clock)
    clusters: Any = {"lab": world}
    watcher = LaunchWatcher(store, clusters, clock, redact=Redactor(()), channel="slack:C1")
    async with store.unit() as unit:
        for letter in "abcdefghijkl"[:TRAININGS]:
            id = f"team/t{letter}"
            launch = a_launch(START, id=id, cluster="lab", training=id, by_name="Ann", channel="slack:C1")
            await unit.rows(Launch).put(launch)
    async with running(store, reconciler, watcher):
        await live(world)
        await asyncio.sleep(60)

    posts = sorted(message.at for message in chat.messages.values())
    replied = [message for message in chat.messages.values() if message.thread is not None]
    changed = [fact for fact in world.facts if fact[2] != "queued"]
    failed = [at for at, _, state in world.facts if state == "failed"]
    assert failed
    assert len(replied) == len(failed)  # the card shows the other states, which have to reach nobody
    due = sorted([*failed, *(at for at, _, state in world.facts if state == "queued")])
    assert len(posts) == len(due)
    for at, earliest in zip(posts, ideal(due, SLACK_RATE_LIMITS.channel), strict=True):
        assert at <= earliest + BEYOND

    shown = [_first_shown(chat, id, state, after=at) for at, id, state in changed]
    limit = SLACK_RATE_LIMITS.methods["edit"]
    for at, earliest in zip(sorted(shown), ideal((at for at, _, _ in changed), limit), strict=True):
        assert at <= earliest + BEYOND
    assert chat.too_fast == 0

    edits = len(chat.shown)
    assert edits <= len(changed) + TRAININGS * 11  # beside the facts, each card once a minute
    async with store.read() as snapshot:
        cards = await snapshot.rows(PostedCard).find()
    assert len(cards) == TRAININGS


def _first_shown(chat: WatchedChat, id: str, state: str, *, after: float) -> float:
    return min(at for at, text in chat.shown if at >= after and id in text and state in text)
