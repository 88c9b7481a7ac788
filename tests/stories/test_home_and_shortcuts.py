"""Slack beside the channels: a person's home tab, direct messages, and the shortcut on a message."""

from pathlib import Path
from typing import Any

from demo.lookalikes.slack.kit.visible_text import said
from demo.lookalikes.slack.state.messages import Message
from tests.support.light import HOT, Light, light

HOT_A01 = ({"node": "gpu-a01", "gpu": "3"}, 91.0)


def heat(stage: Light, *series: tuple[dict[str, str], float]) -> None:
    stage.prometheus.truth.say(HOT, *series, since=stage.clock.now())


def shown(view: dict[str, Any]) -> str:
    """The text of a view, without its markup."""
    return said(view).translate(str.maketrans("", "", "*`"))


async def home(stage: Light, who: str, *words: str) -> dict[str, Any]:
    """Wait for the person's home tab with these words, and return it."""

    def found() -> dict[str, Any] | None:
        view = stage.slack.home(who)
        return view if view and all(word in shown(view) for word in words) else None

    return await stage.slack.until(found, 60)


def answer_in_dm(stage: Light, who: str, words: str) -> Message | None:
    return next((one for one in stage.slack.messages(f"@{who}") if one.by_bot and words in one.said), None)


async def test_a_home_tab_shows_what_is_open_and_its_buttons_run(tmp_path: Path, is_http: bool) -> None:
    async with light(tmp_path, is_http=is_http) as stage:
        await stage.slack.opens_home("dana")
        await home(stage, "dana", "Open incidents", "No alert needs attention", "Your trainings")
        heat(stage, HOT_A01)
        await stage.card("gpu-a01 is hot")
        view = await home(stage, "dana", "Open incidents: 1", "gpu-a01 is hot", "[Acknowledge] [Show]")
        await stage.slack.presses("dana", view, "Acknowledge")
        await stage.slack.until(lambda: answer_in_dm(stage, "dana", "You acknowledged incident `i1`"), 60)
        await home(stage, "dana", "acknowledged by you")
        assert {one.outcome for one in stage.slack.calls if one.method == "views.publish"} == {"ok"}


async def test_a_plan_from_the_home_tab_waits_there_and_runs_from_direct_messages(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        await stage.slack.types("dana", "@yardmaster", "node cordon gpu-a01 --reason fan")
        preview = await stage.slack.until(lambda: answer_in_dm(stage, "dana", "Nothing is done yet"), 60)
        await stage.slack.opens_home("dana")
        await home(stage, "dana", "Cordon gpu-a01 waits to be confirmed")
        await stage.slack.presses("dana", preview, "Confirm")
        await stage.plan_is("done")
        await home(stage, "dana", "Your cordons", "gpu-a01: fan, until", "[Uncordon gpu-a01]")


async def test_a_guest_gets_no_home_tab(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        await stage.slack.opens_home("gus")
        await stage.slack.opens_home("dana")  # after it, so that the guest's was looked at
        await home(stage, "dana", "Open incidents")
        assert stage.slack.home("gus") is None


async def test_the_shortcut_on_a_message_says_what_it_is(tmp_path: Path, is_http: bool) -> None:
    async with light(tmp_path, is_http=is_http) as stage:
        heat(stage, HOT_A01)
        card = await stage.card("gpu-a01 is hot")

        async def asks_about(message: Message) -> str:
            known = {one.ts for one in stage.slack.ephemerals("eli")}
            await stage.slack.uses_shortcut("eli", "What is this?", message)
            answer = await stage.slack.until(
                lambda: next((one for one in stage.slack.ephemerals("eli") if one.ts not in known), None), 60
            )
            return answer.said

        about = await asks_about(card)
        assert "gpu-a01 is hot" in about
        assert "History" in about
        await stage.asks("dana", "alert ack i1")
        (reply,) = await stage.slack.until(lambda: stage.slack.thread(card))
        assert "History" in await asks_about(reply)
        sent = await stage.slack.types("dana", "#gpu-alerts", "lunch?")
        assert sent.message is not None
        assert "not a message about anything" in await asks_about(sent.message)
