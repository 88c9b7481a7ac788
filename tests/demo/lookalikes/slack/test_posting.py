"""Messages posted, edited, threaded, read and deleted through the real SDK."""

from datetime import timedelta
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import Options, SlackLookalike
from tests.demo.lookalikes.slack.conftest import Refused

SECTION = [{"type": "section", "text": {"type": "mrkdwn", "text": "*hot*"}}]


def five_sections(length: int) -> list[dict[str, Any]]:
    return [{"type": "section", "text": {"type": "plain_text", "text": "y" * length}}] * 5


async def test_a_posted_message_has_its_blocks_completed(
    slack: SlackLookalike, client: AsyncWebClient, channel: str
) -> None:
    answer = await client.chat_postMessage(channel=channel, text="hot", blocks=SECTION, unfurl_links=False)
    (message,) = slack.messages("#gpu-alerts")
    assert message.ts == answer["ts"]
    assert message.said == "*hot*"
    assert message.blocks[0]["block_id"]
    assert message.blocks[0]["text"]["verbatim"] is False
    assert answer["message"]["bot_id"] == (await client.auth_test())["bot_id"]


async def test_a_channel_name_is_accepted_for_posting_only(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused
) -> None:
    posted = await client.chat_postMessage(channel="#gpu-alerts", text="x")
    assert posted["channel"] == slack.id("#gpu-alerts")
    error = await refused(client.chat_update(channel="#gpu-alerts", ts=posted["ts"], text="y"))
    assert error.response["error"] == "channel_not_found"


async def test_a_post_to_a_person_opens_the_direct_message(
    slack: SlackLookalike, client: AsyncWebClient
) -> None:
    await client.chat_postMessage(channel=slack.id("ana"), text="psst")
    assert slack.said("@ana") == "psst"
    opened = await client.conversations_open(users=slack.id("ana"))
    assert opened["channel"]["id"] == slack.id("@ana")


async def test_an_edit_with_text_alone_removes_the_blocks(
    slack: SlackLookalike, client: AsyncWebClient, channel: str
) -> None:
    posted = await client.chat_postMessage(channel=channel, text="hot", blocks=SECTION)
    await client.chat_update(channel=channel, ts=posted["ts"], text="cool")
    (message,) = slack.messages("#gpu-alerts")
    assert message.blocks == []
    assert message.said == "cool"
    assert [event.what for event in message.history] == ["posted", "edited"]
    assert message.history[0].body["blocks"]


async def test_an_edit_keeps_metadata_and_attachments_that_are_not_given(
    slack: SlackLookalike, client: AsyncWebClient, channel: str
) -> None:
    metadata = {"event_type": "card", "event_payload": {"id": "7"}}
    posted = await client.chat_postMessage(
        channel=channel, text="a", metadata=metadata, attachments=[{"color": "#f00", "blocks": SECTION}]
    )
    await client.chat_update(channel=channel, ts=posted["ts"], text="b")
    (message,) = slack.messages("#gpu-alerts")
    assert message.metadata == metadata
    assert message.attachments[0]["color"] == "#f00"


async def test_metadata_is_complete_only_when_requested(
    slack: SlackLookalike, client: AsyncWebClient, channel: str
) -> None:
    metadata = {"event_type": "card", "event_payload": {"id": "7"}}
    await client.chat_postMessage(channel=channel, text="a", metadata=metadata)
    bare = await client.conversations_history(channel=channel)
    whole = await client.conversations_history(channel=channel, include_all_metadata=True)
    assert bare["messages"][0]["metadata"] == {"event_type": "card"}
    assert whole["messages"][0]["metadata"] == metadata


async def test_replies_stay_in_their_thread_unless_they_are_broadcast(
    slack: SlackLookalike, client: AsyncWebClient, channel: str
) -> None:
    parent = (await client.chat_postMessage(channel=channel, text="card"))["ts"]
    await client.chat_postMessage(channel=channel, text="line", thread_ts=parent)
    await client.chat_postMessage(channel=channel, text="loud", thread_ts=parent, reply_broadcast=True)
    assert [message.text for message in slack.messages("#gpu-alerts")] == ["card", "loud"]
    assert [reply.text for reply in slack.threads("#gpu-alerts")[parent]] == ["line", "loud"]
    thread = await client.conversations_replies(channel=channel, ts=parent)
    assert [message["text"] for message in thread["messages"]] == ["card", "line", "loud"]
    assert thread["messages"][0]["reply_count"] == 2


async def test_history_is_paged_newest_first(
    slack: SlackLookalike, client: AsyncWebClient, channel: str
) -> None:
    for number in range(7):
        await slack.types("ana", "#gpu-alerts", f"line {number}")
    read: list[str] = []
    async for page in await client.conversations_history(channel=channel, limit=3):
        read += [message["text"] for message in page["messages"]]
    assert read == [f"line {number}" for number in range(6, -1, -1)]


async def test_history_is_limited_by_oldest_and_latest(
    slack: SlackLookalike, client: AsyncWebClient, channel: str
) -> None:
    for number in range(4):
        await slack.types("ana", "#gpu-alerts", f"line {number}")
    one, three = (slack.messages("#gpu-alerts")[number].ts for number in (1, 3))
    between = await client.conversations_history(channel=channel, oldest=one, latest=three)
    inclusive = await client.conversations_history(channel=channel, oldest=one, latest=three, inclusive=True)
    assert [message["text"] for message in between["messages"]] == ["line 2"]
    assert len(inclusive["messages"]) == 3


async def test_a_page_has_a_maximum_size(client: AsyncWebClient, slack: SlackLookalike) -> None:
    for number in range(1010):
        slack.workspace.post(
            slack.workspace.directory.channel("#random"), slack.workspace.bot, {"text": str(number)}
        )
        slack.workspace.directory.channel("#random").members.add(f"U{number:09d}")
    history = await client.conversations_history(channel=slack.id("#random"), limit=5000)
    members = await client.conversations_members(channel=slack.id("#random"), limit=5000)
    assert len(history["messages"]) == 999
    assert history["has_more"]
    assert len(members["members"]) == 1000


async def test_an_ephemeral_is_visible_to_one_person_and_not_in_history(
    slack: SlackLookalike, client: AsyncWebClient, channel: str, refused: Refused
) -> None:
    answer = await client.chat_postEphemeral(channel=channel, user=slack.id("ana"), text="only you")
    assert [message.text for message in slack.ephemerals("ana")] == ["only you"]
    assert slack.ephemerals("bo") == []
    assert slack.messages("#gpu-alerts") == []
    error = await refused(client.chat_update(channel=channel, ts=answer["message_ts"], text="x"))
    assert error.response["error"] == "message_not_found"


async def test_a_deleted_message_is_gone_for_the_app_but_kept_for_tests(
    slack: SlackLookalike, client: AsyncWebClient, channel: str, refused: Refused
) -> None:
    ts = (await client.chat_postMessage(channel=channel, text="x"))["ts"]
    slack.deletes("ana", slack.messages("#gpu-alerts")[0])
    error = await refused(client.chat_update(channel=channel, ts=ts, text="y"))
    assert error.response["error"] == "message_not_found"
    assert [message.deleted for message in slack.everything("#gpu-alerts")] == [True]


async def test_a_permalink_points_to_the_message(client: AsyncWebClient, channel: str) -> None:
    ts = (await client.chat_postMessage(channel=channel, text="x"))["ts"]
    link = (await client.chat_getPermalink(channel=channel, message_ts=ts))["permalink"]
    assert link.endswith(f"/archives/{channel}/p{ts.replace('.', '')}")


async def test_a_message_of_another_author_cannot_be_edited(
    slack: SlackLookalike, client: AsyncWebClient, channel: str, refused: Refused
) -> None:
    typed = await slack.types("ana", "#gpu-alerts", "mine")
    assert typed.message is not None
    error = await refused(client.chat_update(channel=channel, ts=typed.message.ts, text="x"))
    assert error.response["error"] == "cant_update_message"


@pytest.mark.parametrize("options", [Options(strict_rates=False, edit_window=timedelta(minutes=5))])
async def test_the_edit_window_closes(
    slack: SlackLookalike, client: AsyncWebClient, channel: str, refused: Refused
) -> None:
    ts = (await client.chat_postMessage(channel=channel, text="x"))["ts"]
    await client.chat_update(channel=channel, ts=ts, text="in time")
    slack.forward(timedelta(minutes=6))
    error = await refused(client.chat_update(channel=channel, ts=ts, text="late"))
    assert error.response["error"] == "edit_window_closed"


@pytest.mark.parametrize(
    ("channel_id", "arguments", "expected"),
    [
        pytest.param("C0NOWHERE00", {"text": "x"}, "channel_not_found", id="unknown channel"),
        pytest.param("C0QUIET000", {"text": "x"}, "not_in_channel", id="channel without the bot"),
        pytest.param("C0GPUALERTS", {}, "no_text", id="no text"),
        pytest.param("C0GPUALERTS", {"text": "x", "blocks": "{"}, "invalid_blocks_format", id="broken JSON"),
        pytest.param("C0GPUALERTS", {"text": "x", "thread_ts": "1"}, "invalid_thread_ts", id="invalid ts"),
        pytest.param(
            "C0GPUALERTS",
            {"text": "x", "metadata": {"event_type": "t", "event_payload": {"x": "y" * 8000}}},
            "metadata_too_large",
            id="too much metadata",
        ),
        pytest.param(
            "C0GPUALERTS",
            {"text": "x", "attachments": [{"text": "y"}] * 101},
            "too_many_attachments",
            id="too many attachments",
        ),
        pytest.param(
            "C0GPUALERTS",
            {"text": "x", "blocks": five_sections(2700)},
            "msg_blocks_too_long",
            id="too much text in the blocks",
        ),
        pytest.param(
            "C0GPUALERTS",
            {"text": "x", "blocks": five_sections(2630)},
            "msg_blocks_too_long",
            id="text that fits only without block containers",
        ),
    ],
)
async def test_invalid_messages_are_refused(
    client: AsyncWebClient, refused: Refused, channel_id: str, arguments: dict[str, Any], expected: str
) -> None:
    error = await refused(client.api_call("chat.postMessage", json={"channel": channel_id, **arguments}))
    assert error.response["error"] == expected


async def test_refused_blocks_carry_the_location_of_the_error(
    client: AsyncWebClient, channel: str, refused: Refused
) -> None:
    blocks = [{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}]
    error = await refused(client.chat_postMessage(channel=channel, text="x", blocks=blocks))
    message = "[ERROR] must be less than 151 characters [json-pointer:/blocks/0/text/text]"
    assert message in error.response["response_metadata"]["messages"]


async def test_a_text_that_is_too_long_is_cut_when_posted_and_refused_when_edited(
    slack: SlackLookalike, client: AsyncWebClient, channel: str, refused: Refused
) -> None:
    posted = await client.chat_postMessage(channel=channel, text="x" * 40_001)
    assert posted["response_metadata"]["warnings"] == ["message_truncated"]
    assert len(slack.messages("#gpu-alerts")[0].text) == 40_000
    error = await refused(client.chat_update(channel=channel, ts=posted["ts"], text="y" * 4001))
    assert error.response["error"] == "msg_too_long"


async def test_a_message_has_one_table(client: AsyncWebClient, refused: Refused) -> None:
    table = {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}
    await client.chat_postMessage(channel="#gpu-alerts", text="t", blocks=[table])
    two = client.chat_postMessage(
        channel="#gpu-alerts", text="t", blocks=[table], attachments=[{"blocks": [table]}]
    )
    error = (await refused(two)).response
    assert error["error"] == "invalid_attachments"
    assert "only_one_table_allowed" in error["response_metadata"]["messages"][0]
