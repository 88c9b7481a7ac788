"""Response addresses serve five answers in half an hour, and replace or delete what was pressed."""

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
    """Presses a button on a fresh message; gives the client for its response address."""
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


async def test_an_answer_is_for_the_person_who_pressed(slack: SlackLookalike, client: AsyncWebClient) -> None:
    answer = await (await pressed(slack, client)).send(text="done")
    assert (answer.status_code, answer.body) == (200, "ok")
    assert [message.said for message in slack.ephemerals("ana")] == ["done"]


async def test_an_answer_can_be_for_all(slack: SlackLookalike, client: AsyncWebClient) -> None:
    await (await pressed(slack, client)).send(text="done", response_type="in_channel")
    assert slack.messages("#gpu-alerts")[-1].said == "done"


@pytest.mark.parametrize("only_for", [None, "ana"], ids=["a message", "an ephemeral"])
async def test_the_original_is_replaced(
    slack: SlackLookalike, client: AsyncWebClient, only_for: str | None
) -> None:
    await (await pressed(slack, client, only_for=only_for)).send(text="done", replace_original=True)
    shown = slack.ephemerals("ana") if only_for else slack.messages("#gpu-alerts")
    assert [message.said for message in shown] == ["done"]


@pytest.mark.parametrize("only_for", [None, "ana"], ids=["a message", "an ephemeral"])
async def test_the_original_is_deleted(
    slack: SlackLookalike, client: AsyncWebClient, only_for: str | None
) -> None:
    await (await pressed(slack, client, only_for=only_for)).send(delete_original=True)
    assert (slack.ephemerals("ana"), slack.messages("#gpu-alerts")) == ([], [])


async def test_the_sixth_answer_is_one_too_many(slack: SlackLookalike, client: AsyncWebClient) -> None:
    address = await pressed(slack, client)
    uses = [(await address.send(text=str(number))).status_code for number in range(6)]
    assert uses == [200] * documented()["response_url_uses"] + [404]
    assert len(slack.ephemerals("ana")) == 5


async def test_after_half_an_hour_it_is_over(slack: SlackLookalike, client: AsyncWebClient) -> None:
    address = await pressed(slack, client)
    slack.forward(timedelta(seconds=documented()["response_url_seconds"] - 5))
    assert (await address.send(text="in time")).status_code == 200
    slack.forward(timedelta(seconds=10))
    late = await address.send(text="late")
    assert (late.status_code, "expired_url" in late.body) == (404, True)


async def test_broken_blocks_are_refused(slack: SlackLookalike, client: AsyncWebClient) -> None:
    broken: list[dict[str, Any]] = [{"type": "video"}]
    answer = await (await pressed(slack, client)).send(text="x", blocks=broken)
    assert (answer.status_code, "invalid_blocks" in answer.body) == (400, True)


async def test_an_address_that_was_never_given_out_is_not_found(slack: SlackLookalike) -> None:
    address = f"{slack.page}actions/T0/R1"
    async with aiohttp.ClientSession() as session, session.post(address, json={"text": "x"}) as answer:
        assert answer.status == 404
