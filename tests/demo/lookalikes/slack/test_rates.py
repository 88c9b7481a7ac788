"""Rate limits as documented: 1 message per second and channel, tiers per method, Retry-After."""

from datetime import timedelta

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import Options, SlackLookalike
from tests.demo.lookalikes.slack.conftest import Refused


@pytest.fixture
def options() -> Options:
    return Options()


async def test_a_channel_accepts_one_message_per_second(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused
) -> None:
    await client.chat_postMessage(channel=slack.id("#gpu-alerts"), text="1")
    error = await refused(client.chat_postMessage(channel=slack.id("#gpu-alerts"), text="2"))
    assert error.response.status_code == 429
    assert error.response["error"] == "ratelimited"
    assert error.response.headers["Retry-After"] == "1"
    slack.forward(timedelta(seconds=1))
    await client.chat_postMessage(channel=slack.id("#gpu-alerts"), text="2 again")
    assert slack.said("#gpu-alerts") == "1\n\n2 again"
    assert slack.calls.count("chat.postMessage", "ratelimited") == 1


async def test_channels_are_limited_separately(slack: SlackLookalike, client: AsyncWebClient) -> None:
    await client.chat_postMessage(channel=slack.id("#gpu-alerts"), text="1")
    await client.chat_postMessage(channel=slack.id("#random"), text="2")


@pytest.mark.parametrize("options", [Options(burst=3)])
async def test_a_burst_can_be_allowed(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused
) -> None:
    for number in range(3):
        await client.chat_postMessage(channel=slack.id("#gpu-alerts"), text=str(number))
    await refused(client.chat_postMessage(channel=slack.id("#gpu-alerts"), text="3"))


async def test_edits_are_tier_three(slack: SlackLookalike, client: AsyncWebClient, refused: Refused) -> None:
    channel = slack.id("#gpu-alerts")
    ts = (await client.chat_postMessage(channel=channel, text="x"))["ts"]
    for number in range(50):
        await client.chat_update(channel=channel, ts=ts, text=str(number))
    error = await refused(client.chat_update(channel=channel, ts=ts, text="one more"))
    assert 1 <= int(error.response.headers["Retry-After"]) <= 60
    assert slack.messages("#gpu-alerts")[0].edits == 50


async def test_a_refused_call_is_recorded(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused
) -> None:
    for _ in range(20):
        await client.usergroups_list()
    await refused(client.usergroups_list())
    assert slack.calls.count("usergroups.list", "ok") == 20
    assert slack.calls.of("usergroups.list")[-1].status == 429
