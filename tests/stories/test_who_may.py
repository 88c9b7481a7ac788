"""This file tells who may do what: refused in the line and on the click, and silence for guests and strangers."""

from datetime import timedelta
from pathlib import Path

import pytest

from demo.lookalikes.slack.state.messages import Message
from tests.support.light import CHANNEL, Light, light

CORDON = "node cordon gpu-a01 --reason fan"
REFUSAL = "`node cordon` is for sre"


async def heard(stage: Light, count: int) -> None:
    """Wait until the bot has taken in so many gestures, and a while longer than any answer takes to be sent."""
    registry = stage.yard.metrics.registry
    via = {"via": "slack"}
    await stage.until(
        lambda: (registry.get_sample_value("yardmaster_commands_received_total", via) or 0) >= count
    )
    await stage.asks("dana", "help")  # the road is in order: what was to be said before has been said


def nothing_reached(stage: Light, who: str) -> bool:
    """Whether the bot never wrote to them, nor where they wrote."""
    posted = [
        m for place in (CHANNEL, "#random", f"@{who}") for m in stage.slack.everything(place) if m.by_bot
    ]
    return not stage.slack.ephemerals(who) and not posted and not stage.slack.views(who)


async def test_a_person_without_the_right_is_refused_in_the_line_and_it_is_in_the_audit(
    tmp_path: Path,
) -> None:
    async with light(tmp_path) as stage:
        answer = await stage.asks("ana", CORDON)
        assert REFUSAL in answer.said
        assert not await stage.plans()
        assert not stage.writes()
        (entry,) = [one for one in await stage.audit() if one.what == "refused"]
        assert (entry.actor_name, entry.line) == ("ana", CORDON)
        assert "for sre" in entry.text


async def test_a_person_in_no_team_may_not_even_look(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        answer = await stage.asks("pat", "node list")
        assert "for members of a team" in answer.said
        assert "gpu-a01" not in answer.said
        assert [one.what for one in await stage.audit()] == ["refused"]


async def test_typing_the_confirmation_of_somebody_elses_plan_is_refused_and_in_the_audit(
    tmp_path: Path,
) -> None:
    async with light(tmp_path) as stage:
        await stage.asks("dana", CORDON)
        (plan,) = await stage.plans()
        answer = await stage.asks("ana", f"plan confirm {plan.id} --hash {plan.hash}")
        assert REFUSAL in answer.said
        assert not stage.writes()
        assert (await stage.plans())[0].state == "proposed"
        (entry,) = [one for one in await stage.audit() if one.what == "refused"]
        assert (entry.actor_name, entry.plan) == ("ana", plan.id)


async def offer_card(stage: Light) -> Message:
    """An incident's card with its offer to cordon."""
    stage.prometheus.truth.say(
        "gpu_temp > 85", ({"node": "gpu-a01", "gpu": "3"}, 91), since=stage.clock.now()
    )
    return await stage.card("gpu-a01 is hot")


async def test_pressing_an_offer_without_the_right_is_refused_and_pressing_it_with_the_right_is_not(
    tmp_path: Path,
) -> None:
    async with light(tmp_path) as stage:
        card = await offer_card(stage)
        answer = await stage.presses("ana", card, "Cordon gpu-a01")
        assert REFUSAL in answer.said
        assert not await stage.plans()
        answer = await stage.presses("dana", card, "Cordon gpu-a01")
        assert "Cordon gpu-a01?" in answer.said
        assert [one.actor_name for one in await stage.audit() if one.what == "refused"] == ["ana"]


async def test_the_click_on_somebody_elses_preview_is_refused(tmp_path: Path) -> None:
    """Slack shows a preview to one person; a forged click on it by another gets as far as the right they have."""
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        answer = await stage.presses("ana", preview, "Confirm")
        assert REFUSAL in answer.said
        assert (await stage.plans())[0].state == "proposed"
        assert not stage.writes()
        assert [one.actor_name for one in await stage.audit() if one.what == "refused"] == ["ana"]


@pytest.mark.parametrize("who", ["gus", "eve"], ids=["a guest", "a stranger from another workspace"])
async def test_who_is_not_of_the_house_gets_nothing_at_all(tmp_path: Path, who: str) -> None:
    async with light(tmp_path) as stage:
        await stage.slack.types(who, "#random", "/yard help")
        await stage.slack.types(who, "#random", f"@yardmaster {CORDON}")
        await stage.slack.types(who, "@yardmaster", "nonsense")
        await heard(stage, 3)
        assert nothing_reached(stage, who)
        card = await offer_card(stage)
        posted = len(stage.slack.everything(CHANNEL))
        await stage.slack.presses(who, card, "Cordon gpu-a01")
        await stage.slack.presses(who, card, "Why?")
        await heard(stage, 6)
        assert not stage.slack.ephemerals(who)
        assert not stage.slack.views(who)
        assert len(stage.slack.everything(CHANNEL)) == posted
        assert not await stage.plans()


@pytest.mark.parametrize(
    "trouble", ["user_not_found", 500, "lost"], ids=["not found", "a broken Slack", "a torn connection"]
)
async def test_somebody_who_cannot_be_looked_up_is_nobody_until_they_can(
    tmp_path: Path, trouble: str | int
) -> None:
    async with light(tmp_path) as stage:
        attempts = 2 if trouble == "lost" else 1  # a read whose connection is torn is tried once more
        if trouble == "lost":
            stage.slack.lose_call("users.info", times=100)
        else:
            stage.slack.fail("users.info", trouble, times=100)
        await stage.slack.types("dana", "#random", f"/yard {CORDON}")
        await stage.slack.types("dana", "#random", "@yardmaster node list")
        await stage.until(lambda: stage.slack.calls.count("users.info") >= 2 * attempts)
        stage.slack.forgive()
        answer = await stage.asks("eli", "help")
        assert "What I can do" in answer.said
        assert nothing_reached(stage, "dana")
        assert not await stage.plans()
        answer = await stage.asks("dana", CORDON)
        assert "Cordon gpu-a01?" in answer.said


async def test_a_group_that_cannot_be_looked_up_gives_nobody_its_rights(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        stage.slack.fail("usergroups.users.list", 500, times=10)
        answer = await stage.asks("dana", CORDON)
        assert REFUSAL in answer.said
        assert not await stage.plans()


async def test_a_person_who_left_the_group_loses_the_right_to_confirm(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        stage.slack.workspace.directory.groups[stage.slack.id("sre")].members = [stage.slack.id("eli")]
        stage.clock.forward(timedelta(minutes=6))
        answer = await stage.presses("dana", preview, "Confirm")
        assert REFUSAL in answer.said
        assert not stage.writes()
