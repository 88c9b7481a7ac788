"""This file tells that a gesture is done once, however often Slack delivers it."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from demo.lookalikes.slack.delivery.envelopes import Envelope
from demo.lookalikes.slack.interactions.interaction import Interaction
from demo.lookalikes.slack.state.messages import Message
from tests.support.light import CHANNEL, Light, light

CORDON = "node cordon gpu-a01 --reason fan"


async def again(stage: Light, envelope: Envelope) -> None:
    """Hand it over once more, and wait until the app has acknowledged that."""
    acked = len([one for one in envelope.deliveries if one.acked])
    stage.slack.redeliver(envelope)
    await stage.slack.until(lambda: len([one for one in envelope.deliveries if one.acked]) > acked)


async def four_times(stage: Light, envelope: Envelope) -> None:
    """Hand it over three times more."""
    await stage.slack.until(lambda: envelope.acked)
    for _ in range(3):
        await again(stage, envelope)


async def by_slash(stage: Light) -> Interaction:
    return await stage.slack.types("dana", CHANNEL, f"/yard {CORDON}")


async def by_mention(stage: Light) -> Interaction:
    return await stage.slack.types("dana", CHANNEL, f"@yardmaster {CORDON}")


async def by_direct_message(stage: Light) -> Interaction:
    return await stage.slack.types("dana", "@yardmaster", CORDON)


@pytest.mark.parametrize(
    "typed",
    [by_slash, by_mention, by_direct_message],
    ids=["a slash command", "a mention", "a direct message"],
)
async def test_a_line_delivered_four_times_makes_one_plan_and_one_answer(
    tmp_path: Path, typed: Callable[[Light], Awaitable[Interaction]]
) -> None:
    async with light(tmp_path) as stage:
        gesture = await typed(stage)
        first = await stage.slack.until(lambda: stage.slack.envelopes)
        envelope = gesture.envelope or first[0]
        await four_times(stage, envelope)
        await stage.asks("eli", "help")  # what came before has been worked through

        def answers() -> list[Message]:
            seen = (*stage.slack.ephemerals("dana"), *stage.slack.everything("@dana"))
            return [one for one in seen if one.by_bot]

        await stage.slack.until(answers)
        assert len(await stage.plans()) == 1
        assert [entry.what for entry in await stage.audit() if entry.line == CORDON] == ["asked"]
        assert len(answers()) == 1
        dry_runs = [one for one in stage.kube.requests if one.method == "PATCH" and one.dry_run]
        assert len(dry_runs) == 1


async def test_a_click_delivered_four_times_does_the_deed_once(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        await stage.presses("dana", preview, "Confirm")
        await four_times(stage, stage.slack.envelopes[-1])
        await stage.plan_is("done")
        await stage.asks("eli", "help")
        assert [seen.method for seen in stage.writes()] == ["PATCH"]
        assert [entry.what for entry in await stage.audit() if entry.plan == "p1"].count("confirmed") == 1
        assert len(await stage.plans()) == 1


async def test_two_people_who_confirm_at_the_same_moment_do_it_once(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        await stage.asks("dana", CORDON)
        (plan,) = await stage.plans()
        line = f"/yard plan confirm {plan.id} --hash {plan.hash}"
        for _ in range(3):
            await stage.slack.types("dana", CHANNEL, line)
            await stage.slack.types("eli", CHANNEL, line)
        await stage.plan_is("done")
        await stage.slack.until(lambda: len(stage.slack.ephemerals("eli")) >= 3)
        answers = [one.said for who in ("dana", "eli") for one in stage.slack.ephemerals(who)]
        assert sum("confirmed, it begins" in said for said in answers) == 1
        assert len(stage.writes()) == 1
        assert len([entry for entry in await stage.audit() if entry.what == "done"]) == 1


async def test_what_was_delivered_before_a_restart_is_not_done_again_after_it(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        await stage.presses("dana", preview, "Confirm")
        await stage.plan_is("done")
        envelopes = list(stage.slack.envelopes)
        await stage.restart()
        for envelope in envelopes:
            await again(stage, envelope)
        await stage.asks("eli", "help")
        assert len(stage.writes()) == 1
        assert len(await stage.plans()) == 1
