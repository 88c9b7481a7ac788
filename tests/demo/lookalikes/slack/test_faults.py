"""Injected faults: lost and late replies, errors, outages, revoked tokens."""

import asyncio
from datetime import timedelta

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import SlackLookalike
from tests.demo.lookalikes.slack.conftest import Refused


async def test_a_call_with_a_lost_reply_is_run(
    slack: SlackLookalike, client: AsyncWebClient, channel: str
) -> None:
    slack.lose_reply("chat.postMessage")
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=channel, text="x")
    await client.chat_postMessage(channel=channel, text="y")
    assert slack.said("#gpu-alerts") == "x\n\ny"
    assert [call.outcome for call in slack.calls.of("chat.postMessage")] == ["lost", "ok"]


async def test_a_held_reply_keeps_the_caller_waiting(slack: SlackLookalike, channel: str) -> None:
    hurried = AsyncWebClient(token=slack.bot_token, base_url=slack.url, retry_handlers=[], timeout=1)
    slack.lose_reply("chat.postMessage", hold=True)
    with pytest.raises(TimeoutError):
        await hurried.chat_postMessage(channel=channel, text="x")
    assert slack.said("#gpu-alerts") == "x"


async def test_a_lost_call_is_not_run(slack: SlackLookalike, client: AsyncWebClient, channel: str) -> None:
    slack.lose_call("chat.postMessage")
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=channel, text="x")
    assert slack.messages("#gpu-alerts") == []


async def test_a_late_call_runs_after_the_caller_left(slack: SlackLookalike, channel: str) -> None:
    hurried = AsyncWebClient(token=slack.bot_token, base_url=slack.url, retry_handlers=[], timeout=1)
    slack.late("chat.postMessage", seconds=3600)
    with pytest.raises(TimeoutError):
        await hurried.chat_postMessage(channel=channel, text="x")
    assert slack.messages("#gpu-alerts") == []
    slack.forward(timedelta(hours=1))
    await slack.until(lambda: slack.messages("#gpu-alerts"))


async def test_an_injected_error_repeats_as_configured(
    slack: SlackLookalike, client: AsyncWebClient, channel: str, refused: Refused
) -> None:
    slack.fail("chat.postMessage", "ratelimited", times=2, retry_after=7)
    for _ in range(2):
        error = await refused(client.chat_postMessage(channel=channel, text="x"))
        assert (error.response.status_code, error.response.headers["Retry-After"]) == (429, "7")
    await client.chat_postMessage(channel=channel, text="x")


async def test_an_injected_status_is_returned(
    slack: SlackLookalike, client: AsyncWebClient, channel: str, refused: Refused
) -> None:
    slack.fail("*", 500)
    error = await refused(client.chat_postMessage(channel=channel, text="x"))
    assert error.response.status_code == 500


async def test_slack_recovers(slack: SlackLookalike, client: AsyncWebClient, channel: str) -> None:
    slack.down()
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=channel, text="x")
    slack.up()
    await client.chat_postMessage(channel=channel, text="back")
    assert slack.said("#gpu-alerts") == "back"


async def test_an_outage_can_return_an_html_page(
    slack: SlackLookalike, client: AsyncWebClient, channel: str, refused: Refused
) -> None:
    slack.down("503")
    error = await refused(client.chat_postMessage(channel=channel, text="x"))
    assert error.response.status_code == 503


@pytest.mark.parametrize("error", ["token_revoked", "account_inactive"])
async def test_a_token_can_be_revoked(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused, error: str
) -> None:
    slack.revoke(error)
    assert (await refused(client.auth_test())).response["error"] == error
    slack.restore()
    await client.auth_test()


async def test_an_archived_channel_refuses_messages(
    slack: SlackLookalike, client: AsyncWebClient, channel: str, refused: Refused
) -> None:
    slack.archive("#gpu-alerts")
    error = await refused(client.chat_postMessage(channel=channel, text="x"))
    assert error.response["error"] == "is_archived"
    assert (await client.conversations_info(channel=channel))["channel"]["is_archived"]


async def test_tokens_and_methods_are_checked(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused
) -> None:
    unknown = AsyncWebClient(token="xoxb-other", base_url=slack.url, retry_handlers=[])
    assert (await refused(unknown.auth_test())).response["error"] == "invalid_auth"
    assert (await refused(client.api_call("chat.shout"))).response["error"] == "unknown_method"
    error = await refused(client.apps_connections_open(app_token=slack.bot_token))
    assert error.response["error"] == "not_allowed_token_type"


async def test_a_timeout_lists_the_last_calls(slack: SlackLookalike, client: AsyncWebClient) -> None:
    await client.auth_test()
    with pytest.raises(TimeoutError, match=r"auth\.test: ok"):
        await slack.until(lambda: slack.messages("#gpu-alerts"), timeout=0.05)


async def test_a_change_wakes_the_waiters(
    slack: SlackLookalike, client: AsyncWebClient, channel: str
) -> None:
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(slack.until(lambda: slack.messages("#gpu-alerts")))
        tasks.create_task(client.chat_postMessage(channel=channel, text="now"))
    assert waiting.result()[0].text == "now"
