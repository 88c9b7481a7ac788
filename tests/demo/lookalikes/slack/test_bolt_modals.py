"""Modals of a Bolt app: filled in, refused, corrected, replaced, dismissed."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import Options, SlackLookalike
from tests.demo.lookalikes.slack.conftest import Listening

Json = dict[str, Any]


@pytest.fixture
def options() -> Options:
    return Options(strict_rates=False, shortcuts=(("launch", "Launch a training"),))


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


VIEW = {
    "type": "modal",
    "callback_id": "launch",
    "title": plain("Launch"),
    "submit": plain("Go"),
    "notify_on_close": True,
    "blocks": [
        {
            "type": "input",
            "block_id": "name",
            "label": plain("Name"),
            "element": {"type": "plain_text_input", "action_id": "v", "min_length": 2},
        },
        {
            "type": "input",
            "block_id": "queue",
            "label": plain("Queue"),
            "element": {"type": "external_select", "action_id": "queue", "min_query_length": 0},
            "optional": True,
        },
        {
            "type": "input",
            "block_id": "owner",
            "optional": True,
            "label": plain("Owners"),
            "element": {"type": "multi_users_select", "action_id": "v"},
        },
    ],
}


async def opened_view(
    slack: SlackLookalike, app: AsyncApp, listening: Listening, shortcut: str = "launch"
) -> Json:
    """Connect the app, whose shortcut opens VIEW, let ana use it, and return what she sees."""

    @app.shortcut("launch")
    async def launch(ack: AsyncAck, shortcut: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=shortcut["trigger_id"], view=VIEW)

    await listening(app)
    await slack.uses_shortcut("ana", shortcut)
    (view,) = await slack.until(lambda: slack.views("ana"))
    return view


async def test_a_modal_is_filled_in_refused_corrected_and_accepted(
    slack: SlackLookalike, app: AsyncApp, listening: Listening
) -> None:
    accepted: list[Json] = []

    @app.options("queue")
    async def queues(ack: AsyncAck, payload: Json) -> None:
        names = [name for name in ("gold", "green", "red") if name.startswith(payload["value"])]
        await ack(options=[{"text": plain(name), "value": name} for name in names])

    @app.view("launch")
    async def check(ack: AsyncAck, view: Json) -> None:
        values = view["state"]["values"]
        if values["name"]["v"]["value"] == "taken":
            await ack(response_action="errors", errors={"name": "There is one already."})
            return
        await ack()
        accepted.append(values)

    view = await opened_view(slack, app, listening, "Launch a training")
    assert (await slack.submits("ana", view)).errors == {"name": "Please complete this required field."}
    assert (
        (await slack.submits("ana", view, {"Name": "x"})).errors["name"].startswith("Please enter at least 2")
    )
    assert (await slack.submits("ana", view, {"Name": "taken"})).errors == {"name": "There is one already."}
    assert await slack.searches("ana", view, "queue", "g") == ["gold", "green"]
    await slack.chooses("ana", view, "queue", "gold")
    assert (await slack.submits("ana", view, {"Name": "llama", "Owners": ["ana", "bo"]})).errors == {}
    assert slack.views("ana") == []
    assert accepted[0]["queue"]["queue"]["selected_option"]["value"] == "gold"
    assert accepted[0]["owner"]["v"]["selected_users"] == [slack.id("ana"), slack.id("bo")]


@pytest.mark.parametrize("action", ["update", "push", "clear"])
async def test_a_submission_updates_pushes_or_clears_views(
    slack: SlackLookalike, app: AsyncApp, listening: Listening, action: str
) -> None:
    following = {**VIEW, "title": plain("Sure?"), "callback_id": "sure"}

    @app.view("launch")
    async def check(ack: AsyncAck) -> None:
        if action == "clear":
            await ack(response_action="clear")
        else:
            await ack(response_action=action, view=following)

    view = await opened_view(slack, app, listening)
    await slack.submits("ana", view, {"Name": "llama"})
    titles = [shown["title"]["text"] for shown in slack.views("ana")]
    assert titles == {"update": ["Sure?"], "push": ["Launch", "Sure?"], "clear": []}[action]


async def test_dismissal_is_reported(slack: SlackLookalike, app: AsyncApp, listening: Listening) -> None:
    closed: list[bool] = []

    @app.view_closed("launch")
    async def gone(ack: AsyncAck, body: Json) -> None:
        await ack()
        closed.append(body["is_cleared"])

    view = await opened_view(slack, app, listening)
    await slack.closes("ana", view)
    assert closed == [False]
    assert slack.views("ana") == []


def an_option(name: str) -> Json:
    return {"text": plain(name), "value": name}


@pytest.mark.parametrize(
    ("answer", "offered"),
    [
        pytest.param({"options": []}, 0, id="none"),
        pytest.param({"options": [an_option(str(number)) for number in range(100)]}, 100, id="a hundred"),
        pytest.param({"options": [an_option(str(number)) for number in range(101)]}, 0, id="too many"),
        pytest.param({"options": [an_option("x" * 76)]}, 0, id="too long a text"),
        pytest.param({"options": [{"text": "x", "value": "x"}]}, 0, id="a text that is no object"),
        pytest.param({"choices": []}, 0, id="another field"),
    ],
)
async def test_suggestions_beyond_the_limits_of_a_menu_are_not_shown(
    slack: SlackLookalike, app: AsyncApp, listening: Listening, answer: Json, offered: int
) -> None:
    @app.options("queue")
    async def queues(ack: AsyncAck) -> None:
        headers: dict[str, str | Sequence[str]] = {"content-type": "application/json"}
        ack.response = BoltResponse(status=200, body=json.dumps(answer), headers=headers)

    view = await opened_view(slack, app, listening)
    assert len(await slack.searches("ana", view, "queue", "")) == offered


async def test_several_suggestions_can_be_chosen(
    slack: SlackLookalike, app: AsyncApp, listening: Listening
) -> None:
    accepted: list[Json] = []
    many = {"type": "multi_external_select", "action_id": "queue", "min_query_length": 0}
    blocks = [{"type": "input", "block_id": "queues", "label": plain("Queues"), "element": many}]

    @app.shortcut("launch")
    async def launch(ack: AsyncAck, shortcut: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=shortcut["trigger_id"], view={**VIEW, "blocks": blocks})

    @app.options("queue")
    async def queues(ack: AsyncAck, payload: Json) -> None:
        await ack(options=[an_option(name) for name in ("gold", "red") if name.startswith(payload["value"])])

    @app.view("launch")
    async def check(ack: AsyncAck, view: Json) -> None:
        await ack()
        accepted.append(view["state"]["values"])

    view = await opened_view(slack, app, listening)
    assert (await slack.submits("ana", view)).errors == {"queues": "Please complete this required field."}
    await slack.chooses("ana", view, "Queues", ["red", "gold"])
    assert not (await slack.submits("ana", view)).errors
    assert [one["value"] for one in accepted[0]["queues"]["queue"]["selected_options"]] == ["red", "gold"]
