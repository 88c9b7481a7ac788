"""The life of a parent incident: whom it takes, what stays on its card, and what it never does."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.alert import Alert
from alerts.cards.posted import CardKind
from alerts.incidents.grouping import acknowledge
from alerts.incidents.incident import Incident
from alerts.matching import Matcher, Operator
from alerts.parents.parent_incident import ParentIncident
from alerts.parents.working_on import acknowledge_all
from alerts.silences import Silence
from tests.support.alerting import CLUSTER
from tests.support.storm_stage import EVERY, StormStage, a_site, racks

pytestmark = pytest.mark.looptime

NODES = racks(4, 20)
FIRST = [node for node, rack in NODES.items() if rack == "r1"]
SECOND = [node for node, rack in NODES.items() if rack == "r2"]
SOON = 20.0  # seconds: what is due is posted and edited


@pytest.fixture
def stage() -> StormStage:
    return StormStage(topology=a_site(NODES))


def card_texts(stage: StormStage) -> list[str]:
    return [one.text for one in stage.slack.cards]


async def parents(stage: StormStage) -> list[ParentIncident]:
    async with stage.store.read() as snapshot:
        return list(await snapshot.rows(ParentIncident).find())


async def test_a_card_that_was_posted_points_to_the_parent_that_formed_later(stage: StormStage) -> None:
    async with stage.delivering():
        await stage.fire(FIRST[:3], ["NodeNotReady"])
        await asyncio.sleep(EVERY.total_seconds())
        assert len(card_texts(stage)) == 3
        await stage.fire(FIRST[3:], ["NodeNotReady"])
        await asyncio.sleep(SOON)
        (parent,) = await parents(stage)
        *pointing, own = stage.slack.cards
    assert (parent.key, parent.standing.nodes) == ("rack/r1", 20)
    assert own.text == "CRITICAL: 20 nodes of rack r1 have alerts: NodeNotReady on 20"
    assert all(f"Part of incident `{parent.id}`" in str(card.attachments) for card in pointing)
    assert all(f"incident show {parent.id}" in str(card.attachments) for card in pointing)
    assert all("↪ " in card.said and "🔴" not in card.said for card in pointing)


async def test_a_few_nodes_are_no_storm(stage: StormStage) -> None:
    async with stage.delivering():
        await stage.fire(FIRST[:7])
        await asyncio.sleep(SOON)
    assert (len(card_texts(stage)), await parents(stage)) == (7, [])


async def test_the_setting_says_how_many_make_one() -> None:
    stage = StormStage(topology=a_site(NODES), storm_from=3)
    async with stage.delivering():
        await stage.fire(FIRST[:3])
        await asyncio.sleep(SOON)
    assert card_texts(stage) == [
        "CRITICAL: 3 nodes of rack r1 have alerts: GPUGone on 3, KubeletDown on 3, NodeNotReady on 3, "
        "NodeUnreachable on 3"
    ]


async def test_two_racks_are_two_parents(stage: StormStage) -> None:
    async with stage.delivering():
        first = await stage.fire([*FIRST, *SECOND], ["NodeNotReady"])
        await asyncio.sleep(SOON)
        assert sorted(one.key for one in await parents(stage)) == ["rack/r1", "rack/r2"]
        await stage.end([alert for alert in first if alert.subject.rack == "r1"])
        await asyncio.sleep(SOON)
    assert sorted(card_texts(stage)) == [
        "CRITICAL: 20 nodes of rack r2 have alerts: NodeNotReady on 20",
        "Resolved: 20 nodes of rack r1 had alerts",
    ]


@pytest.mark.parametrize(
    ("zone", "keys"), [("z1", ["zone/z1"]), ("", [f"cluster/{CLUSTER}"])], ids=["of a zone", "of no zone"]
)
async def test_more_racks_than_a_person_reads_are_one(zone: str, keys: list[str]) -> None:
    stage = StormStage(topology=a_site(NODES, zone=zone))
    await stage.fire(NODES, ["NodeNotReady"])
    assert [one.key for one in await parents(stage)] == keys


async def test_the_nodes_of_a_training_are_one_where_no_rack_explains_them() -> None:
    nodes = racks(10, 4)
    on = [node for node in nodes if node.endswith("-01")]
    stage = StormStage(topology=a_site(nodes, trainings={"vision/detr": on}))
    async with stage.delivering():
        await stage.fire(on, ["NodeNotReady"])
        await asyncio.sleep(SOON)
    assert card_texts(stage) == ["CRITICAL: 10 nodes of training vision/detr have alerts: NodeNotReady on 10"]
    assert "`vision/detr` 80 GPUs" in stage.slack.seen()


async def test_nodes_of_one_component_are_one_where_no_rack_explains_them() -> None:
    nodes = racks(10, 4)
    stage = StormStage(topology=a_site(nodes))
    on = [node for node in nodes if node.endswith("-01")]
    alerts = [_with_component(alert) for alert in stage.alerts(on, ["KubeletDown"])]
    await stage.cycle(alerts)
    assert [one.key for one in await parents(stage)] == ["component/kubelet"]


def _with_component(alert: Alert) -> Alert:
    return replace(
        alert,
        own_subject=replace(alert.own_subject, component="kubelet"),
        subject=replace(alert.subject, component="kubelet"),
    )


async def test_scattered_nodes_are_one_only_if_they_are_many() -> None:
    nodes = racks(40, 4)
    stage = StormStage(topology=a_site(nodes))
    scattered = [node for node in nodes if node.endswith("-01")]
    await stage.fire(scattered[:20], ["NodeNotReady"])
    assert not await parents(stage)
    await stage.fire(scattered[20:], ["NodeNotReady"])
    (parent,) = await parents(stage)
    assert (parent.key, parent.standing.nodes) == (f"cluster/{CLUSTER}", 40)


async def test_what_breaks_later_joins_while_it_is_a_storm_and_not_the_rest_of_one(
    stage: StormStage,
) -> None:
    async with stage.delivering():
        alerts = await stage.fire(FIRST[:18], ["NodeNotReady"])
        await asyncio.sleep(3600)
        await stage.fire(FIRST[18:19], ["NodeNotReady"])
        await asyncio.sleep(SOON)
        (parent,) = await parents(stage)
        assert (parent.standing.nodes, len(card_texts(stage))) == (19, 1)
        await stage.end(alerts[1:])
        await asyncio.sleep(3600)
        await stage.fire(FIRST[19:], ["NodeNotReady"])
        await asyncio.sleep(SOON)
    left, own = card_texts(stage)
    assert left == "CRITICAL: 2 of 19 nodes of rack r1 still have alerts: NodeNotReady on 2"
    assert own == f"CRITICAL: NodeNotReady of {FIRST[19]}"


async def test_a_member_that_outlives_the_others_is_named(stage: StormStage) -> None:
    async with stage.delivering():
        alerts = await stage.fire(FIRST, ["NodeNotReady"])
        await asyncio.sleep(SOON)
        await stage.end(alerts[:-1])
        await asyncio.sleep(90)
        (card,) = stage.slack.cards
        assert card.text == "CRITICAL: 1 of 20 nodes of rack r1 still has alerts: NodeNotReady on 1"
        assert f"*Still:* {FIRST[-1]}" in str(card.attachments)
        await stage.end(alerts[-1:])
        await asyncio.sleep(SOON)
    assert card_texts(stage) == ["Resolved: 20 nodes of rack r1 had alerts"]


async def test_it_opens_again_with_its_members_and_is_no_other_card(stage: StormStage) -> None:
    async with stage.delivering():
        alerts = await stage.fire(FIRST, ["NodeNotReady"])
        await asyncio.sleep(60)
        await stage.end(alerts)
        await asyncio.sleep(60)
        await stage.fire(FIRST, ["NodeNotReady"])
        await asyncio.sleep(SOON)
        (parent,) = await parents(stage)
    assert parent.is_open
    texts = [text for text in card_texts(stage) if not text.startswith("Reopened")]
    assert texts == ["CRITICAL: 20 nodes of rack r1 have alerts: NodeNotReady on 20"]


async def test_a_graver_alert_in_it_is_announced(stage: StormStage) -> None:
    async with stage.delivering():
        await stage.fire(FIRST, ["NodeNotReady"], severity="warning")
        await asyncio.sleep(SOON)
        await stage.fire(FIRST[:1], ["GPUGone"], severity="critical")
        await asyncio.sleep(SOON)
    card, reply = card_texts(stage)
    assert card.startswith("CRITICAL: 20 nodes")
    assert reply.startswith("Severity raised to critical: 20 nodes of rack r1 have alerts")


async def test_nothing_resolves_while_nobody_can_see(stage: StormStage) -> None:
    async with stage.delivering() as reconciler:
        await stage.fire(FIRST, ["NodeNotReady"])
        await asyncio.sleep(SOON)
        stage.blind["prometheus"] = "it does not answer"
        reconciler.mark_view_change(CLUSTER)
        for _ in range(4):
            await asyncio.sleep(EVERY.total_seconds())
            await stage.cycle()
        (card,) = stage.slack.cards
    (parent,) = await parents(stage)
    assert parent.is_open
    assert "*Cannot see it now:* prometheus: it does not answer" in str(card.attachments)


async def test_what_is_silenced_begins_no_storm_and_joins_none(stage: StormStage) -> None:
    await _silence(stage, matchers=(Matcher(name="node", operator=Operator.MATCHES, value="n1-.*"),))
    async with stage.delivering():
        await stage.fire([*FIRST, *SECOND], ["NodeNotReady"])
        await asyncio.sleep(SOON)
        (parent,) = await parents(stage)
        assert (parent.key, len(card_texts(stage))) == ("rack/r2", 1)
        await asyncio.sleep(3600)
        await stage.cycle()
        await asyncio.sleep(SOON)
        assert sorted(one.key for one in await parents(stage)) == ["rack/r1", "rack/r2"]
    assert len(card_texts(stage)) == 2


async def test_a_silence_of_the_parent_covers_what_joins_it(stage: StormStage) -> None:
    async with stage.delivering():
        await stage.fire(FIRST[:18], ["NodeNotReady"])
        await asyncio.sleep(SOON)
        (parent,) = await parents(stage)
        await _silence(stage, incident=parent.id)
        await stage.fire(FIRST[18:], ["NodeNotReady"])
        await asyncio.sleep(90)
        (card,) = stage.slack.cards
    assert "silenced until" in str(card.attachments)
    assert "silence expire s1" in str(card.attachments)
    assert "20 nodes of rack r1" in card.text


async def test_it_is_quiet_while_all_that_is_left_of_it_is_silenced(stage: StormStage) -> None:
    async with stage.delivering():
        alerts = await stage.fire(FIRST, ["NodeNotReady"])
        await asyncio.sleep(SOON)
        await _silence(stage, matchers=(Matcher(name="node", operator=Operator.EQUAL, value="n1-20"),))
        await asyncio.sleep(SOON)
        assert "silenced until" not in str(stage.slack.cards[0].attachments)
        await stage.end(alerts[:-1])
        await asyncio.sleep(SOON)
        (card,) = stage.slack.cards
    assert "silenced until" in str(card.attachments)


async def _silence(stage: StormStage, *, matchers: tuple[Matcher, ...] = (), incident: str = "") -> None:
    now = stage.clock.now()
    silence = Silence(
        id="s1",
        cluster=CLUSTER,
        matchers=matchers,
        starts_at=now,
        ends_at=now + timedelta(hours=1),
        by="U1",
        comment="maintenance",
        incident=incident,
    )
    async with stage.store.unit() as unit:
        await unit.rows(Silence).put(silence)


async def test_who_has_the_parent_has_what_joins_it(stage: StormStage) -> None:
    await stage.fire(FIRST[:18], ["NodeNotReady"])
    (parent,) = await parents(stage)
    members = await stage.incidents(parent=parent.id)
    async with stage.store.unit() as unit:
        theirs = acknowledge(members[0], who="U2", now=stage.clock.now())
        acked, followers = acknowledge_all(
            parent, [theirs, *members[1:]], who="U1", who_name="ana", now=stage.clock.now()
        )
        await unit.rows(ParentIncident).put(acked)
        for one in (theirs, *followers):
            await unit.rows(Incident).put(one)
    await stage.fire(FIRST[18:], ["NodeNotReady"])
    owners = [one.acknowledged_by for one in await stage.incidents(parent=parent.id)]
    assert sorted(owners) == [*["U1"] * 19, "U2"]


async def test_members_keep_their_keys_and_say_where_they_belong(stage: StormStage) -> None:
    await stage.fire(FIRST, ["NodeNotReady"])
    (parent,) = await parents(stage)
    found = await stage.incidents()
    assert {one.group_key for one in found} == {f"node/{node}" for node in FIRST}
    assert {(one.parent, one.events[-1].text) for one in found} == {(parent.id, parent.id)}
    assert {card.kind for card in await stage.cards()} == {CardKind.PARENT}


async def test_an_incident_whose_parent_is_not_stored_has_its_own_card(stage: StormStage) -> None:
    await stage.fire(FIRST, ["NodeNotReady"])
    (parent,) = await parents(stage)
    async with stage.store.unit() as unit:
        await unit.rows(ParentIncident).delete(parent.id)
    stage.restart()
    await stage.cycle()
    shown = {card.row_id for card in await stage.cards() if card.kind is not CardKind.PARENT}
    seen_by_parent = {one.id for one in await stage.incidents() if one.parent and one.parent != parent.id}
    assert shown | seen_by_parent == {one.id for one in await stage.incidents()}


async def test_a_clock_step_moves_the_parent_too(stage: StormStage) -> None:
    await stage.fire(FIRST, ["NodeNotReady"])
    (before,) = await parents(stage)
    await stage.recorder.restate(timedelta(hours=1), stage.clock.now() + timedelta(hours=1))
    (after,) = await parents(stage)
    assert after.opened_at - before.opened_at == timedelta(hours=1)
