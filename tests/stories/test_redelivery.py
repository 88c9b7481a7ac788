"""An interaction is executed once, however often Slack delivers it."""

from pathlib import Path

from demo.lookalikes.slack.delivery.envelopes import Envelope
from demo.lookalikes.slack.state.messages import Message
from tests.support.light import CHANNEL, Light, light
from tests.support.ways_of_typing import EACH_WAY, Typing

CORDON = "node cordon gpu-a01 --reason fan"


async def redeliver(stage: Light, envelope: Envelope) -> None:
    """Deliver the envelope once more, and wait until the app has acknowledged it."""
    acked = len([one for one in envelope.deliveries if one.acked])
    stage.slack.redeliver(envelope)
    await stage.slack.until(lambda: len([one for one in envelope.deliveries if one.acked]) > acked)


async def redeliver_three_times(stage: Light, envelope: Envelope) -> None:
    """Deliver the envelope three more times."""
    await stage.slack.until(lambda: envelope.acked)
    for _ in range(3):
        await redeliver(stage, envelope)


@EACH_WAY
async def test_a_line_delivered_four_times_gives_one_plan_and_one_answer(
    tmp_path: Path, typed: Typing
) -> None:
    async with light(tmp_path) as stage:
        interaction = await typed(stage, "dana", CORDON)
        first = await stage.slack.until(lambda: stage.slack.envelopes)
        envelope = interaction.envelope or first[0]
        await redeliver_three_times(stage, envelope)
        await stage.asks("eli", "help")  # everything before it has been processed

        def answers() -> list[Message]:
            seen = (*stage.slack.ephemerals("dana"), *stage.slack.everything("@dana"))
            return [one for one in seen if one.by_bot]

        await stage.slack.until(answers)
        assert len(await stage.plans()) == 1
        assert [entry.what for entry in await stage.audit() if entry.line == CORDON] == ["asked"]
        assert len(answers()) == 1
        dry_runs = [one for one in stage.kube.requests if one.method == "PATCH" and one.dry_run]
        assert len(dry_runs) == 1


async def test_a_click_delivered_four_times_runs_the_plan_once(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        await stage.presses("dana", preview, "Confirm")
        await redeliver_three_times(stage, stage.slack.envelopes[-1])
        await stage.plan_is("done")
        await stage.asks("eli", "help")
        assert [seen.method for seen in stage.writes()] == ["PATCH"]
        assert [entry.what for entry in await stage.audit() if entry.plan == "p1"].count("confirmed") == 1
        assert len(await stage.plans()) == 1


async def test_a_plan_confirmed_by_two_people_at_the_same_time_runs_once(tmp_path: Path) -> None:
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
        assert sum("confirmed, starting" in said for said in answers) == 1
        assert len(stage.writes()) == 1
        assert len([entry for entry in await stage.audit() if entry.what == "done"]) == 1


async def test_interactions_from_before_a_restart_are_not_executed_again(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        await stage.presses("dana", preview, "Confirm")
        await stage.plan_is("done")
        envelopes = list(stage.slack.envelopes)
        await stage.restart()
        for envelope in envelopes:
            await redeliver(stage, envelope)
        await stage.asks("eli", "help")
        assert len(stage.writes()) == 1
        assert len(await stage.plans()) == 1
