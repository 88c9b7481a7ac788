"""Response URLs: five responses within half an hour, which can replace or delete the message."""

from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from demo.lookalikes.slack import SlackLookalike
from demo.lookalikes.slack.limits import documented

BUTTON = [
    {
        "type": "actions",
        "elements": [{"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}],
    }
]


async def pressed(
    slack: SlackLookalike, client: AsyncWebClient, *, only_for: str | None = None
) -> AsyncWebhookClient:
    """Press a button on a new message and return the client of its response URL."""
    channel = slack.id("#gpu-alerts")
    if only_for:
        await client.chat_postEphemeral(channel=channel, user=slack.id(only_for), text="ask", blocks=BUTTON)
        message = slack.ephemerals(only_for)[-1]
    else:
        await client.chat_postMessage(channel=channel, text="ask", blocks=BUTTON)
        message = slack.messages("#gpu-alerts")[-1]
    done = await slack.presses(only_for or "ana", message, "Go")
    assert done.envelope is not None
    return AsyncWebhookClient(url=done.envelope.payload["response_url"], retry_handlers=[])


async def test_a_response_is_ephemeral_by_default(slack: SlackLookalike, client: AsyncWebClient) -> None:
    answer = await (await pressed(slack, client)).send(text="done")
    assert (answer.status_code, answer.body) == (200, "ok")
    assert [message.said for message in slack.ephemerals("ana")] == ["done"]


async def test_a_response_can_be_visible_to_all(slack: SlackLookalike, client: AsyncWebClient) -> None:
    await (await pressed(slack, client)).send(text="done", response_type="in_channel")
    assert slack.messages("#gpu-alerts")[-1].said == "done"


@pytest.mark.parametrize("only_for", [None, "ana"], ids=["message", "ephemeral"])
async def test_the_original_is_replaced(
    slack: SlackLookalike, client: AsyncWebClient, only_for: str | None
) -> None:
    await (await pressed(slack, client, only_for=only_for)).send(text="done", replace_original=True)
    shown = slack.ephemerals("ana") if only_for else slack.messages("#gpu-alerts")
    assert [message.said for message in shown] == ["done"]


@pytest.mark.parametrize("only_for", [None, "ana"], ids=["message", "ephemeral"])
async def test_the_original_is_deleted(
    slack: SlackLookalike, client: AsyncWebClient, only_for: str | None
) -> None:
    await (await pressed(slack, client, only_for=only_for)).send(delete_original=True)
    assert (slack.ephemerals("ana"), slack.messages("#gpu-alerts")) == ([], [])


async def test_the_sixth_response_is_refused(slack: SlackLookalike, client: AsyncWebClient) -> None:
    url = await pressed(slack, client)
    uses = [(await url.send(text=str(number))).status_code for number in range(6)]
    assert uses == [200] * documented()["response_url_uses"] + [404]
    assert len(slack.ephemerals("ana")) == 5


async def test_a_response_url_expires_in_half_an_hour(slack: SlackLookalike, client: AsyncWebClient) -> None:
    url = await pressed(slack, client)
    slack.forward(timedelta(seconds=documented()["response_url_seconds"] - 5))
    assert (await url.send(text="in time")).status_code == 200
    slack.forward(timedelta(seconds=10))
    late = await url.send(text="late")
    assert (late.status_code, "expired_url" in late.body) == (404, True)


async def test_broken_blocks_are_refused(slack: SlackLookalike, client: AsyncWebClient) -> None:
    broken: list[dict[str, Any]] = [{"type": "video"}]
    answer = await (await pressed(slack, client)).send(text="x", blocks=broken)
    assert (answer.status_code, "invalid_blocks" in answer.body) == (400, True)


async def test_an_unknown_response_url_is_not_found(slack: SlackLookalike) -> None:
    url = f"{slack.page}actions/T0/R1"
    async with aiohttp.ClientSession() as session, session.post(url, json={"text": "x"}) as answer:
        assert answer.status == 404
