"""Forms: a line without its arguments opens one, whose menus have what exists; it runs as the line it stands for."""

from pathlib import Path
from typing import Any

from tests.support.light import CHANNEL, Light, light


async def form_of(stage: Light, who: str) -> dict[str, Any]:
    await stage.slack.until(lambda: stage.slack.views(who), 60)
    (view,) = stage.slack.views(who)
    return view


async def test_a_line_without_its_arguments_opens_its_form(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        await stage.slack.types("dana", CHANNEL, "/yard cordon")
        view = await form_of(stage, "dana")
        assert view["title"]["text"] == "Node cordon"
        assert await stage.slack.searches("dana", view, "Nodes", "") == ["gpu-a01", "gpu-a02", "gpu-b01"]
        assert await stage.slack.searches("dana", view, "Nodes", "b0") == ["gpu-b01"]
        await stage.slack.chooses("dana", view, "Nodes", ["gpu-a01", "gpu-b01"])
        refused = await stage.slack.submits("dana", view, {"How long": "soon"})
        assert refused.errors == {
            "--for": "--for: soon is not a duration: write it like 30s, 5m, 1h30m or 7d."
        }
        assert not await stage.plans()
        accepted = await stage.slack.submits(
            "dana", view, {"How long": "2h", "Reason": "it's <!channel> hot"}
        )
        assert not accepted.errors
        preview = await stage.slack.until(lambda: stage.slack.ephemerals("dana"), 60)
        assert "Cordon gpu-a01, gpu-b01?" in preview[-1].said
        assert "<!channel>" not in preview[-1].said
        (plan,) = await stage.plans()
        assert "(it's <!channel> hot)" in plan.steps[0].description
        await stage.presses("dana", preview[-1], "Confirm")
        await stage.plan_is("done")


async def test_a_mention_without_arguments_has_a_button_that_opens_the_form(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        await stage.slack.types("dana", CHANNEL, "@yardmaster node show")
        (answer,) = await stage.slack.until(lambda: stage.slack.ephemerals("dana"), 60)
        assert "node show NODE" in answer.said
        await stage.slack.presses("dana", answer, "Fill in the form")
        view = await form_of(stage, "dana")
        await stage.slack.chooses("dana", view, "Node", "gpu-a02")
        await stage.slack.submits("dana", view)
        await stage.slack.until(lambda: "Node gpu-a02" in stage.slack.ephemerals("dana")[-1].said, 60)


async def test_the_shortcut_asks_which_command_and_opens_its_form(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        await stage.slack.uses_shortcut("dana", "Run a command")
        view = await form_of(stage, "dana")
        await stage.slack.submits("dana", view, {"Command": "node show"})
        view = await form_of(stage, "dana")
        assert view["title"]["text"] == "Node show"
        await stage.slack.chooses("dana", view, "Node", "gpu-b01")
        await stage.slack.submits("dana", view)
        await stage.slack.until(lambda: stage.slack.messages("@dana"), 60)
        assert "Node gpu-b01" in stage.slack.messages("@dana")[-1].said


async def test_a_shortcut_that_came_too_late_is_answered(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        stage.slack.fail("views.open", "expired_trigger_id")
        await stage.slack.uses_shortcut("dana", "Run a command")
        await stage.slack.until(lambda: stage.slack.messages("@dana"), 60)
        assert "The form could not be opened" in stage.slack.messages("@dana")[-1].said
        assert not stage.slack.views("dana")


async def test_a_form_opens_only_for_people_who_may_run_it_and_suggests_to_teams_only(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        answer = await stage.asks("ana", "cordon")
        assert "Only sre may run `node cordon`" in answer.said
        assert not stage.slack.views("ana")
        await stage.slack.uses_shortcut("pat", "Run a command")  # pat is in no team
        view = await form_of(stage, "pat")
        await stage.slack.submits("pat", view, {"Command": "node show"})
        view = await form_of(stage, "pat")
        assert await stage.slack.searches("pat", view, "Node", "") == []


async def test_a_refused_line_is_asked_for_where_the_team_reads(tmp_path: Path) -> None:
    async with light(tmp_path, start=False) as stage:
        stage.settings["teams"]["sre"]["channel"] = f"slack:{stage.slack.id(CHANNEL)}"
        await stage.start()
        refusal = await stage.asks("ana", "node cordon gpu-a01 --reason fan", "#random")
        assert "Only sre may run `node cordon`; you are in vision." in refusal.said
        await stage.cached(lambda inventory: "gpu-a01" in inventory.nodes)
        answer = await stage.presses("ana", refusal, "Ask sre to do it")
        assert "Asked sre in" in answer.said
        card = await stage.card("asks sre to confirm this")
        assert f"<@{stage.slack.id('ana')}>" in card.said
        await stage.slack.presses("dana", card, "Confirm")
        await stage.plan_is("done")
        card = await stage.card("Cordon gpu-a01: done")
        assert "confirmed by" in card.said
        (plan,) = await stage.plans()
        assert (plan.actor, plan.confirmed_by) == tuple(
            f"slack:{stage.slack.id(name)}" for name in ("ana", "dana")
        )
