"""Permissions: refusals of typed lines and of clicks, and no answer for guests and strangers."""

from pathlib import Path
from typing import Any

import pytest

from bot.channels.interaction import Interaction
from demo.lookalikes.slack.state.messages import Message
from tests.support.light import CHANNEL, Light, light

CORDON = "node cordon gpu-a01 --reason fan"
REFUSAL = "Only sre may run `node cordon`"
NOT_NOW = "*Yardmaster cannot check who you are right now, so `{line}` was not run: try again in a minute.*"


async def handled(stage: Light, count: int) -> None:
    """Wait until the bot has received this many interactions and has handled them all."""
    await stage.slack.until(
        lambda: len(stage.slack.envelopes) >= count and all(one.acked for one in stage.slack.envelopes)
    )

    async def none_waits(unit: Any) -> bool:
        return not await unit.rows(Interaction).find()

    await stage.until_kept(none_waits)


async def test_a_line_without_permission_is_refused_and_audited(
    tmp_path: Path,
) -> None:
    async with light(tmp_path) as stage:
        answer = await stage.asks("ana", CORDON)
        assert REFUSAL in answer.said
        assert not await stage.plans()
        assert not stage.writes()
        (entry,) = [one for one in await stage.audit() if one.what == "refused"]
        assert (entry.actor_name, entry.line) == ("ana", CORDON)
        assert "Only sre may run" in entry.text


async def test_a_person_without_a_team_may_not_even_read(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        answer = await stage.asks("pat", "node list")
        assert "Only members of a team" in answer.said
        assert "gpu-a01" not in answer.said
        assert [one.what for one in await stage.audit()] == ["refused"]


async def test_a_typed_confirmation_without_permission_is_refused_and_audited(
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


async def card_with_action(stage: Light) -> Message:
    """Return an incident's card that suggests a cordon."""
    stage.prometheus.truth.say(
        "gpu_temp > 85", ({"node": "gpu-a01", "gpu": "3"}, 91), since=stage.clock.now()
    )
    return await stage.card("gpu-a01 is hot")


async def test_a_suggested_action_needs_the_permission_of_the_person_who_presses_it(
    tmp_path: Path,
) -> None:
    async with light(tmp_path) as stage:
        card = await card_with_action(stage)
        answer = await stage.presses("ana", card, "Cordon gpu-a01")
        assert REFUSAL in answer.said
        assert not await stage.plans()
        answer = await stage.presses("dana", card, "Cordon gpu-a01")
        assert "Cordon gpu-a01?" in answer.said
        assert [one.actor_name for one in await stage.audit() if one.what == "refused"] == ["ana"]


async def test_a_click_on_another_persons_preview_is_refused(tmp_path: Path) -> None:
    """Slack shows a preview to one person; a forged click by another person has only that person's rights."""
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        answer = await stage.presses("ana", preview, "Confirm")
        assert REFUSAL in answer.said
        assert (await stage.plans())[0].state == "proposed"
        assert not stage.writes()
        assert [one.actor_name for one in await stage.audit() if one.what == "refused"] == ["ana"]


@pytest.mark.parametrize("who", ["gus", "eve"], ids=["a guest", "a stranger from another workspace"])
async def test_guests_and_strangers_read_once_that_they_get_no_answer(tmp_path: Path, who: str) -> None:
    async with light(tmp_path) as stage:
        answer = await stage.asks(who, "help", "#random")
        assert answer.said == "*I answer members of this workspace only.*"
        await stage.slack.types(who, "#random", "/yard cordon")
        await stage.slack.types(who, "#random", f"@yardmaster {CORDON}")
        await stage.slack.types(who, "@yardmaster", "nonsense")
        await stage.slack.uses_shortcut(who, "Run a command")
        await handled(stage, 5)
        assert stage.slack.ephemerals(who) == [answer]
        assert not [one for one in stage.slack.everything(f"@{who}") if one.by_bot]
        card = await card_with_action(stage)
        posted = len(stage.slack.everything(CHANNEL))
        await stage.slack.presses(who, card, "Cordon gpu-a01")
        await stage.slack.chooses(who, card, "…", "Why?")
        await handled(stage, 7)
        assert stage.slack.ephemerals(who) == [answer]
        assert not stage.slack.views(who)
        assert len(stage.slack.everything(CHANNEL)) == posted
        assert not await stage.plans()


@pytest.mark.parametrize(
    ("failure", "attempts"),
    [
        ("user_not_found", 1),
        (500, 2),
        ("lost", 4),
    ],  # a lookup that may succeed is repeated, and so is a lost read
    ids=["not found", "a broken Slack", "a broken connection"],
)
async def test_a_person_who_cannot_be_looked_up_has_no_rights_until_they_can(
    tmp_path: Path, failure: str | int, attempts: int
) -> None:
    async with light(tmp_path) as stage:
        if failure == "lost":
            stage.slack.lose_call("users.info", times=100)
        else:
            stage.slack.fail("users.info", failure, times=100)
        for line in (CORDON, "node list"):
            answer = await stage.asks("dana", line, "#random")
            assert answer.said == NOT_NOW.format(line=line)
        assert stage.slack.calls.count("users.info") >= 2 * attempts
        stage.slack.forgive()
        answer = await stage.asks("eli", "help")
        assert "Available commands" in answer.said
        assert not await stage.plans()
        answer = await stage.asks("dana", CORDON)
        assert "Cordon gpu-a01?" in answer.said
