"""A store that a release wrote, continued by this one: nothing is posted twice, and what was begun is ended."""

from pathlib import Path
from typing import Any

from alerts.cards.posted import PostedCard
from alerts.incidents.incident import Incident
from alerts.store import Unit
from commands.models import CordonLease
from demo.environment import CLUSTER
from tests.support.kept_store import stage_of
from tests.support.light import Light

RELEASE = "55549235"
ALERTS = "#gpu-alerts"
CHANNELS = (ALERTS, "#vision", "#speech", "#reco")
RESOLVED = "incident/i1/slack:C0GPUALERTS"


async def _posted(stage: Light) -> dict[str, str]:
    """Return the messages of all cards, by what they are about: kind, row and channel."""
    found: dict[str, str] = {}

    async def look(unit: Unit) -> bool:
        for card in await unit.rows(PostedCard).find():
            found[f"{card.kind.value}/{card.row_id}/{card.channel}"] = card.message_id
        return True

    await stage.until_kept(look)
    return found


def _bot_messages(stage: Light) -> set[str]:
    return {one.ts for channel in CHANNELS for one in stage.slack.everything(channel) if one.by_bot}


async def _incidents(stage: Light) -> dict[str, Incident]:
    async with stage.yard.store.read() as snapshot:
        return {one.id: one for one in await snapshot.rows(Incident).find()}


async def _ended(stage: Light, id: str) -> None:
    async def look(unit: Any) -> bool:
        incident = await unit.rows(Incident).get(id)
        return incident is not None and not incident.is_open

    await stage.until_kept(look)


async def test_a_kept_store_goes_on_where_it_stopped(tmp_path: Path) -> None:
    async with stage_of(RELEASE, tmp_path) as stage:
        shown = _bot_messages(stage)
        await stage.begin()
        cards, incidents = await _posted(stage), await _incidents(stage)
        await stage.until(lambda: stage.yard.evaluators[CLUSTER].has_evaluated)
        await stage.next_rounds(3)

        # An open plan is confirmed, by its preview's button of then; another ends a lease.
        async with stage.yard.store.read() as snapshot:
            assert {one.node for one in await snapshot.rows(CordonLease).find()} == {
                "gpu-b03",
                "gpu-c02",
                "gpu-d02",
            }
        plans = {plan.line: plan for plan in await stage.plans() if plan.state == "proposed"}
        cordon = plans["node cordon gpu-b02 --reason 'memory'"]
        await stage.asks("dana", f"plan confirm {cordon.id} --hash {cordon.hash}")
        await stage.plan_is("done", cordon.id)
        assert stage.node("gpu-b02")["spec"]["unschedulable"]
        uncordon = plans["node uncordon gpu-c02"]
        await stage.asks("eli", f"plan confirm {uncordon.id} --hash {uncordon.hash}")
        await stage.plan_is("done", uncordon.id)
        async with stage.yard.store.read() as snapshot:
            owners = {one.node: one.owner_name for one in await snapshot.rows(CordonLease).find()}
        assert owners == {"gpu-b03": "dana", "gpu-d02": "ci", "gpu-b02": "dana"}
        assert "You already acknowledged" in (await stage.asks("dana", "alert ack i5")).said

        # The incident of a rule of the cluster's objects ends when its condition does, on the card of then.
        await stage.prometheus.goes("")
        await _ended(stage, "i1")
        await stage.posts_are_confirmed()
        now = await _posted(stage)
        assert {key: now[key] for key in cards} == cards
        keys = [one.group_key for one in (await _incidents(stage)).values()]
        assert {keys.count(one.group_key) for one in incidents.values()} == {1}
        card = next(one for one in stage.slack.everything(ALERTS) if one.ts == cards[RESOLVED])
        await stage.until(lambda: "Resolved" in card.said)

        # What is new in Slack is a card of something new, a reply or an image's thread, never a second card.
        fresh = {one for one in _bot_messages(stage) - shown if not _is_reply(stage, one)}
        assert fresh <= set(now.values()) - set(cards.values())


def _is_reply(stage: Light, ts: str) -> bool:
    return any(
        one.ts == ts and one.is_reply for channel in CHANNELS for one in stage.slack.everything(channel)
    )
