"""Hours of the demo's world in moments: no card is edited more than once a minute without a change of its state."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise

import pytest

from alerts.cards.message import Message
from alerts.incidents.proofs import NO_FACTS
from alerts.routing import CardRouting
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.delivery.card_entries import REFRESH_EVERY, state_digest_of
from bot.delivery.notifier_protocol import NewMessage
from bot.delivery.reconciler import Reconciler
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.settings.schema import RulesSettings
from collectors.facts.clock import SystemClock
from collectors.facts.queries import PromQLQuery
from collectors.facts.topology import Topology
from tests.demo.world.clusters import working_cluster
from tests.real.fixtures import StartPrometheus
from tests.support.alerting import a_renderer
from tests.support.chat import FakeChat
from tests.support.demo_day import BlockingPrometheus, DayClock, metrics_of
from tests.support.examples import by_profile
from tests.support.memory_store import MemoryStore
from tests.support.routing import a_router
from tests.support.running_jobs import running

pytestmark = pytest.mark.looptime

EVALUATE_EVERY = timedelta(seconds=30)
CLUSTER = "prod-a"


@dataclass(slots=True)
class EditedChat(FakeChat):
    """A chat that keeps the state that each card showed, and when."""

    shown: defaultdict[str, list[tuple[float, str]]] = field(default_factory=lambda: defaultdict(list))

    async def post(self, channel: str, new: NewMessage) -> str:
        ts = await FakeChat.post(self, channel, new)
        if isinstance(new.content, Message):
            self.shown[ts].append((asyncio.get_running_loop().time(), state_digest_of(new.content)))
        return ts

    async def edit(self, channel: str, ts: str, message: Message) -> None:
        await FakeChat.edit(self, channel, ts, message)
        self.shown[ts].append((asyncio.get_running_loop().time(), state_digest_of(message)))


@pytest.mark.soak
@pytest.mark.parametrize("hours", by_profile([1], [24]))
async def test_no_card_is_edited_more_than_once_a_minute_without_a_change_of_state(
    start_prometheus: StartPrometheus, hours: int, record_property: Callable[[str, object], None]
) -> None:
    lasting = timedelta(hours=hours)
    start = (SystemClock().now() - lasting).replace(second=0, microsecond=0)
    server = start_prometheus(samples=metrics_of(working_cluster(), start, lasting))
    source = BlockingPrometheus(server.url)
    rules = [one for one in read_rulebook(RulesSettings()).rules if isinstance(one.query, PromQLQuery)]
    store, chat, clock, topology = MemoryStore(), EditedChat(), DayClock(start), Topology(cluster=CLUSTER)
    scheduler = RuleScheduler(CLUSTER, rules, a_router(source), a_renderer(topology))
    recorder = IncidentRecorder(CLUSTER, store, CardRouting(default="slack:C1"))
    context = CardContext(rules=lambda: scheduler.rules, training=lambda *_: None, blind=lambda *_: {})
    reconciler = Reconciler(store, {"slack": chat}, CardCatalogue(context), clock=clock)
    async with running(store, reconciler):
        while clock.elapsed() < lasting:
            cycle = await scheduler.run_cycle(clock.now())
            await recorder.record(cycle.batch(NO_FACTS), rules=scheduler.rules, topology=topology)
            await asyncio.sleep(EVALUATE_EVERY.total_seconds())
    await source.close()

    counts: Counter[str] = Counter()
    for shown in chat.shown.values():
        counts["cards"] += 1
        for (before, was), (at, now) in pairwise(shown):
            counts["refreshes" if was == now else "changes of state"] += 1
            assert was != now or at - before >= REFRESH_EVERY.total_seconds()
    counts["edits of the busiest card"] = max(len(shown) for shown in chat.shown.values()) - 1
    record_property("counts", {"hours": hours, **counts})
    assert counts["cards"] >= hours
    assert counts["refreshes"] > 0
    assert chat.too_fast == 0
