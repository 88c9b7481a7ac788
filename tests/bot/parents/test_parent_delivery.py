"""Delivery of a parent: in Chinese, to programs, after a crash, and with the plans that are started from it."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from alerts.cards.message import Message
from alerts.cards.posted import CardKind, PostedCard
from alerts.parents.parent_incident import ParentIncident
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.cards.plan_cards import wanted_plan_card
from bot.delivery.notifier_protocol import Capabilities, NewMessage
from bot.delivery.rate_limiter import UNLIMITED
from bot.delivery.reconciler import Reconciler
from bot.language.message_catalogue import catalogue
from commands.execution.plan import Origin
from tests.support.alerting import CLUSTER
from tests.support.chat import FakeChat
from tests.support.execution import plan_of
from tests.support.running_jobs import running
from tests.support.storm_stage import StormStage, a_site, racks

pytestmark = pytest.mark.looptime

NODES = racks(1, 20)
FEW, REST = list(NODES)[:3], list(NODES)[3:]
SOON = 20.0  # seconds


async def test_in_chinese_nothing_of_it_is_english() -> None:
    stage = StormStage(topology=a_site(NODES), language=catalogue("zh"))
    async with stage.delivering():
        await stage.fire(NODES, ["NodeNotReady"])
        await asyncio.sleep(SOON)
        (card,) = stage.slack.cards
    assert card.text == "严重：机架 r1 有 20 个节点告警：NodeNotReady 20 个"
    shown = str(card.attachments)
    for words in (
        "影响：",
        "最严重：",
        "节点：",
        "完整列表见附件",
        "全部认领",
        "列出全部",
        "打开…",
        "20 个故障",
    ):
        assert words in shown


async def test_a_post_whose_outcome_nobody_knows_is_found_or_left_out_once_a_parent_speaks_for_it() -> None:
    stage = StormStage(topology=a_site(NODES))
    await stage.fire(FEW, ["NodeNotReady"])
    async with stage.store.unit() as unit:
        for card in await unit.rows(PostedCard).find():
            tried = replace(card, intent_at=stage.clock.now(), nonce=f"nonce of {card.id}")
            await unit.rows(PostedCard).put(tried)
    await stage.fire(REST, ["NodeNotReady"])
    async with stage.delivering():
        await asyncio.sleep(600)
    assert [card.text for card in stage.slack.cards] == [
        "CRITICAL: 20 nodes of rack r1 have alerts: NodeNotReady on 20"
    ]


async def test_cards_that_wait_for_their_turn_are_not_posted_after_the_parent_formed() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        await stage.fire(list(NODES)[:7], ["NodeNotReady"])
        await asyncio.sleep(2.0)
        await stage.fire(list(NODES)[7:], ["NodeNotReady"])
        await asyncio.sleep(600)
    assert len(stage.slack.cards) <= 4  # those of two seconds, and the parent's


async def test_the_cards_of_its_members_become_final_with_it() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        alerts = await stage.fire(FEW, ["NodeNotReady"])
        await asyncio.sleep(SOON)
        alerts += await stage.fire(REST, ["NodeNotReady"])
        await asyncio.sleep(SOON)
        await stage.end(alerts)
        await asyncio.sleep(3600)
    cards = await stage.cards()
    assert (len(cards), {card.state for card in cards}) == (4, {"final"})


async def test_a_plan_that_is_started_from_it_or_a_member_has_its_card_in_its_thread() -> None:
    stage = StormStage(topology=a_site(NODES))
    await stage.fire(NODES, ["NodeNotReady"])
    (card,) = await stage.cards()
    (member, *_) = await stage.incidents()
    async with stage.store.read() as snapshot:
        for incident in (card.row_id, member.id):
            plan = replace(plan_of(), origin=Origin(channel=card.channel, incident=incident))
            wanted = await wanted_plan_card(plan, snapshot, card.channel)
            assert wanted is not None
            assert wanted.parent == card.id


class Hook(FakeChat):
    """What programs get: the facts of each post."""

    def __init__(self) -> None:
        super().__init__(seconds_a_post=0.0, capabilities=Capabilities(facts=True, limits=UNLIMITED))
        self.bodies: list[Any] = []

    async def post(self, channel: str, new: NewMessage) -> str:
        assert isinstance(new.content, Message)
        self.bodies.append(new.content.facts)
        return await super().post(channel, new)


async def test_programs_get_the_parent_once_and_the_end_of_what_they_know() -> None:
    stage, hook = StormStage(topology=a_site(NODES), channel="hook:night"), Hook()
    context = CardContext(
        rules=dict, training=lambda *_: None, blind=lambda *_: {}, wants_facts=lambda _: True
    )
    reconciler = Reconciler(stage.store, {"hook": hook}, CardCatalogue(context), clock=stage.clock)
    async with running(stage.store, reconciler):
        alerts = await stage.fire(FEW, ["NodeNotReady"])
        await asyncio.sleep(SOON)
        alerts += await stage.fire(REST, ["NodeNotReady"])
        await asyncio.sleep(SOON)
        open_ones = [(body.group_key, body.phase, len(body.alerts)) for body in hook.bodies]
        await stage.end(alerts)
        await asyncio.sleep(SOON)
    own = [(f"{CLUSTER}/node/{node}", "firing", 1) for node in FEW]
    assert sorted(open_ones) == sorted([*own, (f"{CLUSTER}/rack/r1", "firing", 20)])
    ends = {body.group_key for body in hook.bodies if body.phase == "resolved"}
    assert ends == {key for key, _, _ in open_ones}
    assert len(hook.bodies) == 8


async def test_a_parent_of_another_key_is_no_part_of_its_card() -> None:
    stage = StormStage(topology=a_site(racks(2, 20)))
    await stage.fire(racks(2, 20), ["NodeNotReady"])
    async with stage.store.read() as snapshot:
        parents = await snapshot.rows(ParentIncident).find()
        cards = await snapshot.rows(PostedCard).find(kind=CardKind.PARENT.value)
        shown = {
            str((await stage.catalogue.compose(card, snapshot, stage.clock.now())).message) for card in cards
        }
    assert len(parents) == len(shown) == 2
    assert not any("n1-01" in one and "n2-01" in one for one in shown)
