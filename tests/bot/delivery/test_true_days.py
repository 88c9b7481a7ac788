"""Days of the demo's world in moments: every version of every card is true, as the demo's checker reads them."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random

import pytest

from alerts.cards.channel_id import channel_id
from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.grouping import acknowledge
from alerts.incidents.incident import Incident
from alerts.incidents.proofs import NO_FACTS
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.channels.slack.notifier import SlackNotifier
from bot.delivery.reconciler import Reconciler
from bot.evaluation.recorder import CardRouting, IncidentRecorder
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.language.message_catalogue import ENGLISH
from bot.settings.schema import RulesSettings
from collectors.facts.clock import SystemClock
from collectors.facts.queries import PromQLQuery
from collectors.facts.topology import Topology
from demo.card_checks import Moment, Shown, faults_in
from demo.card_record import known_as, shown_as
from tests.demo.world.clusters import working_cluster
from tests.real.fixtures import StartPrometheus
from tests.support.alerting import a_renderer
from tests.support.demo_day import BlockingPrometheus, DayClock, metrics_of
from tests.support.examples import by_profile
from tests.support.memory_store import MemoryStore
from tests.support.routing import a_router
from tests.support.running_jobs import running
from tests.support.slack_in_process import SlackInProcess

pytestmark = [pytest.mark.looptime, pytest.mark.soak]

LOOK_EVERY = timedelta(seconds=30)
EVALUATE_EVERY = 2  # looks: so a day takes four minutes of a core
CHECK_EVERY = timedelta(hours=1)
CLUSTER = "prod-a"


@pytest.mark.parametrize(
    ("day", "hours"), by_profile([(1, 0.5)], [(day, 24) for day in range(1, 8)]), ids=lambda part: str(part)
)
async def test_every_version_of_every_card_is_true(
    start_prometheus: StartPrometheus, day: int, hours: float, record_property: Callable[[str, object], None]
) -> None:
    lasting = timedelta(hours=hours)
    start = (SystemClock().now() - lasting).replace(second=0, microsecond=0)
    server = start_prometheus(samples=metrics_of(working_cluster(), start, lasting))
    source, store, clock = BlockingPrometheus(server.url), MemoryStore(), DayClock(start)
    slack, random = SlackInProcess(clock), Random(day)
    rules = [one for one in read_rulebook(RulesSettings()).rules if isinstance(one.query, PromQLQuery)]
    topology = Topology(cluster=CLUSTER)
    scheduler = RuleScheduler(CLUSTER, rules, a_router(source), a_renderer(topology))
    recorder = IncidentRecorder(CLUSTER, store, CardRouting(default=channel_id("slack", slack.id)))
    context = CardContext(rules=lambda: scheduler.rules, training=lambda *_: None, blind=lambda *_: {})
    notifier = SlackNotifier(slack.client, ENGLISH)
    reconciler = Reconciler(store, {"slack": notifier}, CardCatalogue(context), clock=clock)
    moments, found = list[Moment](), list[str]()
    async with running(store, reconciler):
        looks = 0
        while clock.elapsed() < lasting:
            if looks % EVALUATE_EVERY == 0:
                cycle = await scheduler.run_cycle(clock.now())
                await recorder.record(cycle.batch(NO_FACTS), rules=scheduler.rules, topology=topology)
            looks += 1
            if random.random() < 0.02:
                await _acknowledge_one(store, random, clock.now())
            moments.append(await _moment(store, clock.now()))
            await asyncio.sleep(LOOK_EVERY.total_seconds())
            if clock.elapsed() % CHECK_EVERY < LOOK_EVERY:
                found += faults_in(await _changed_since(slack, store, moments[0].at), moments)
                moments = moments[-4:]
    await source.close()

    shown = await _changed_since(slack, store, start)
    counts = {"cards": len(shown), "versions": sum(len(one.versions) for one in shown)}
    record_property("counts", {"hours": hours, **counts})
    assert not found
    assert counts["cards"] >= hours


async def _moment(store: MemoryStore, now: datetime) -> Moment:
    async with store.read() as snapshot:
        incidents = await snapshot.rows(Incident).find()
    already = [
        *(f"alert ack {one.id}" for one in incidents if one.acknowledged_by),
        *(f"incident resolve {one.id}" for one in incidents if not one.is_open),
    ]
    known = {one.id: known_as(one) for one in incidents if one.is_open}
    return Moment(at=now, already=frozenset(already), incidents=known)


async def _acknowledge_one(store: MemoryStore, random: Random, now: datetime) -> None:
    async with store.unit() as unit:
        waiting = [one for one in await unit.rows(Incident).find(state="open") if not one.acknowledged_by]
        if waiting:
            one = random.choice(waiting)
            await unit.rows(Incident).put(acknowledge(one, who="U1", who_name="dana", now=now))


async def _changed_since(slack: SlackInProcess, store: MemoryStore, since: datetime) -> list[Shown]:
    """Return the messages that changed since, or whose incident is open, with all of their versions."""
    async with store.read() as snapshot:
        rows = await snapshot.rows(PostedCard).find(kind=CardKind.INCIDENT.value)
        incidents = {one.id for one in await snapshot.rows(Incident).find(state="open")}
    cards = {row.message_id: row.row_id for row in rows if row.message_id}
    shown = [
        shown_as(slack.channel, message, cards)
        for message in slack.lookalike.everything(slack.channel)
        if message.by_bot
    ]
    return [one for one in shown if one.incident in incidents or one.versions[-1].at >= since]
