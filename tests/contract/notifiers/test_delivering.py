"""Delivery to every notifier: an incident opens, gets worse and is resolved, and nothing is left to do."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.alert import Alert
from alerts.cards.channel_id import channel_id
from alerts.cards.desired_cards import desired_cards, desired_replies
from alerts.cards.posted import PostedCard, ThreadReply
from alerts.incidents.events import IncidentEventType
from alerts.incidents.grouping import REOPENS_WITHIN
from alerts.incidents.incident import Incident
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.delivery.reconciler import Reconciler
from bot.delivery.retry import RetryPolicy
from tests.contract.notifiers.conftest import Site
from tests.support.grouping import add_alert
from tests.support.incidents import GROUPING, an_open_incident, resolved
from tests.support.kill_points import Killer
from tests.support.memory_store import MemoryStore
from tests.support.rows import NOON, an_alert
from tests.support.running_jobs import running
from tests.support.yard import Hands

QUICK = RetryPolicy(
    outcome_timeout=timedelta(seconds=0.2), retry=timedelta(seconds=0.05), max_retry=timedelta(seconds=0.1)
)
HOT, COLD = an_alert("gpu-a04"), replace(an_alert("gpu-a04"), rule="gpu/heat/GPUFanFailed")


class IncidentDelivery:
    """A store with one incident, and the delivery of its card to the site."""

    def __init__(self, site: Site) -> None:
        self.store = MemoryStore()
        self.clock = Hands()
        self._site = site
        self._channel = channel_id(site.kind, site.channel)

    def an_incident(self, *alerts: Alert) -> Incident:
        return an_open_incident(*alerts, channels=(self._channel,))

    async def put(self, incident: Incident, *alerts: Alert) -> None:
        """Store the incident as the recorder does: with its alerts, missing cards and replies."""
        async with self.store.unit() as unit:
            for alert in alerts:
                await unit.rows(Alert).put(alert)
            await unit.rows(Incident).put(incident)
            posted = {card.id: card for card in await unit.rows(PostedCard).find()}
            for card in desired_cards(incident, posted):
                await unit.rows(PostedCard).put(card)
            cards = await unit.rows(PostedCard).find()
            for reply in desired_replies(incident, cards):
                await unit.rows(ThreadReply).add(reply)

    def reconciler(self) -> Reconciler:
        can = self._site.notifier.capabilities
        context = CardContext(
            rules=dict,
            training=lambda *_: None,
            blind=lambda *_: {},
            wants_facts=lambda _: can.facts,
            has_buttons=lambda _: can.buttons,
        )
        notifiers = {self._site.kind: self._site.notifier}
        return Reconciler(self.store, notifiers, CardCatalogue(context), clock=self.clock, retry=QUICK)

    @asynccontextmanager
    async def delivering(self) -> AsyncIterator[Reconciler]:
        reconciler = self.reconciler()
        async with running(self.store, reconciler):
            yield reconciler

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not is_so():  # noqa: ASYNC110 - what a reader sees sends no signal
                await asyncio.sleep(0.01)

    async def left(self) -> list[str]:
        """Return the ids of the cards and replies that are not over."""
        async with self.store.read() as snapshot:
            cards = await snapshot.rows(PostedCard).find(state="live")
            replies = await snapshot.rows(ThreadReply).find(state=("pending", "refused"))
        return [*(card.id for card in cards), *(reply.id for reply in replies)]

    async def until_posts_are_confirmed(self) -> None:
        """Wait until the answers to the posts are recorded: a reader sees a message earlier."""
        async with asyncio.timeout(60):
            while not await self._are_confirmed():  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)

    async def _are_confirmed(self) -> bool:
        async with self.store.read() as snapshot:
            return all(card.message_id for card in await snapshot.rows(PostedCard).find())

    async def until_nothing_is_left(self) -> None:
        async with asyncio.timeout(60):
            while await self.left():  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)


async def test_an_incident_is_delivered_to_its_end(site: Site) -> None:
    delivery = IncidentDelivery(site)
    incident = delivery.an_incident(HOT)
    async with delivery.delivering():
        await delivery.put(incident, HOT)
        await delivery.until(lambda: bool(site.shown()))
        worse = add_alert(incident, COLD, GROUPING, NOON)
        await delivery.put(worse, HOT, COLD)
        acknowledged = worse.with_event(IncidentEventType.ACKNOWLEDGED, NOON, who="U1", who_name="Ann")
        await delivery.put(acknowledged, HOT, COLD)
        over = resolved(acknowledged).with_event(IncidentEventType.RESOLVED, NOON)
        await delivery.put(over, HOT, COLD)
        delivery.clock.move(REOPENS_WITHIN * 2)
        await delivery.put(over, HOT, COLD)  # a change wakes it, so that nobody waits for half an hour
        await delivery.until_nothing_is_left()
    if not site.notifier.capabilities.thread and not site.keeps_all:
        assert len(site.shown()) == 1  # the replies are not posts of their own


async def test_a_restart_delivers_nothing_twice(site: Site) -> None:
    delivery = IncidentDelivery(site)
    await delivery.put(delivery.an_incident(HOT), HOT)
    async with delivery.delivering():
        await delivery.until_posts_are_confirmed()
        before = site.shown()
    async with delivery.delivering() as reconciler:
        await delivery.put(replace(delivery.an_incident(HOT), acknowledged_by_name=""), HOT)
        await asyncio.sleep(0.1)
        assert reconciler.counts["post"] == 0
    assert site.shown() == before


async def test_what_is_down_is_delivered_when_it_is_up_again(site: Site) -> None:
    if site.fail is None:
        return
    delivery = IncidentDelivery(site)
    failures = 1 if site.notifier.capabilities.repeats_reach_people else 3  # which are repeated seldom
    site.fail(failures)
    async with delivery.delivering() as reconciler:
        await delivery.put(delivery.an_incident(HOT), HOT)
        await delivery.until(lambda: bool(site.shown()))
    assert reconciler.counts["post"] == failures + 1


@pytest.mark.parametrize("at", range(4, 60, 8))
async def test_a_kill_at_an_await_loses_nothing_and_notifies_once(site: Site, at: int) -> None:
    delivery = IncidentDelivery(site)
    incident = delivery.an_incident(HOT)
    reconciler = delivery.reconciler()
    stop = delivery.store.listen(reconciler.wake)

    async def goes_on() -> None:
        await delivery.put(incident, HOT)
        await asyncio.sleep(0.3)

    await Killer(at).execute(reconciler.run(), goes_on)
    stop()
    over = resolved(incident).with_event(IncidentEventType.RESOLVED, NOON)
    async with delivery.delivering():
        await delivery.until_posts_are_confirmed()
        await delivery.put(over, HOT)
        delivery.clock.move(REOPENS_WITHIN * 2)
        await delivery.put(over, HOT)
        await delivery.until_nothing_is_left()
    assert len(set(site.shown())) == len(site.shown()) or site.keeps_all
    assert site.notified() in (1, None)
