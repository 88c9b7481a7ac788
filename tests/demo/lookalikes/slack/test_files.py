"""Files: three-step uploads, downloads with the token, and events when people share them."""

from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import NotPossibleError, SlackLookalike
from demo.lookalikes.slack.limits import documented
from tests.demo.lookalikes.slack.conftest import Refused


async def test_the_app_shares_a_file(slack: SlackLookalike, client: AsyncWebClient) -> None:
    answer = await client.files_upload_v2(
        channel=slack.id("#gpu-alerts"), filename="kernel.log", content="Xid 79", initial_comment="Evidence"
    )
    assert slack.content(answer["file"]["id"]) == b"Xid 79"
    (message,) = slack.messages("#gpu-alerts")
    assert message.said == "Evidence\n📎 kernel.log"
    assert (await client.files_info(file=answer["file"]["id"]))["file"]["size"] == 6


async def test_a_private_file_requires_the_token(slack: SlackLookalike, client: AsyncWebClient) -> None:
    done = await slack.uploads("ana", "#gpu-alerts", "run.sh", b"#!/bin/sh", comment="@yardmaster launch")
    assert done.message is not None
    address = done.message.body["files"][0]["url_private_download"]
    async with aiohttp.ClientSession() as session:
        async with session.get(address, headers={"Authorization": f"Bearer {slack.bot_token}"}) as answer:
            assert await answer.read() == b"#!/bin/sh"
        async with session.get(address) as answer:
            assert answer.content_type == "text/html"


async def test_a_shared_file_sends_an_event_and_a_mention(slack: SlackLookalike) -> None:
    await slack.uploads("ana", "#gpu-alerts", "run.sh", b"#!/bin/sh", comment="@yardmaster launch")
    await slack.until(lambda: len(slack.envelopes) == 2)
    events = {envelope.payload["event"]["type"]: envelope.payload["event"] for envelope in slack.envelopes}
    assert set(events) == {"app_mention", "file_shared"}
    assert events["app_mention"]["files"][0]["name"] == "run.sh"
    with pytest.raises(NotPossibleError, match="empty"):
        await slack.uploads("ana", "#gpu-alerts", "nothing", b"")


async def test_a_file_that_is_too_large_is_refused_before_the_upload(
    client: AsyncWebClient, refused: Refused
) -> None:
    limits = documented()
    large = client.files_getUploadURLExternal(filename="a", length=limits["file_bytes"] + 1)
    assert (await refused(large)).response["error"] == "file_upload_size_restricted"
    snippet = client.files_getUploadURLExternal(
        filename="a", length=limits["snippet_bytes"] + 1, snippet_type="text"
    )
    assert (await refused(snippet)).response["error"] == "snippet_too_large"


async def test_an_upload_without_its_bytes_is_not_found(client: AsyncWebClient, refused: Refused) -> None:
    file = (await client.files_getUploadURLExternal(filename="a", length=3))["file_id"]
    assert (await refused(client.files_info(file=file))).response["error"] == "file_not_found"
    error = await refused(client.files_completeUploadExternal(files=[{"id": file, "title": "a"}]))
    assert error.response["error"] == "file_not_found"


PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


async def uploaded(slack: SlackLookalike, client: AsyncWebClient, name: str, **more: Any) -> str:
    """Upload a picture in three steps and return its id; Slack looks at it later."""
    target = await client.files_getUploadURLExternal(filename=name, length=len(PNG))
    async with aiohttp.ClientSession() as session, session.post(target["upload_url"], data=PNG) as answer:
        assert answer.status == 200
    await client.files_completeUploadExternal(files=[{"id": target["file_id"]}], **more)
    return str(target["file_id"])


async def looked_at(slack: SlackLookalike, client: AsyncWebClient, file: str) -> None:
    slack.forward(timedelta(seconds=1))
    assert (await client.files_info(file=file))["file"]["mimetype"]


def a_picture(file: str) -> list[dict[str, Any]]:
    return [{"type": "image", "alt_text": "a chart", "slack_file": {"id": file}}]


async def test_a_message_shows_an_uploaded_picture(slack: SlackLookalike, client: AsyncWebClient) -> None:
    file = await uploaded(slack, client, "chart.png", channel_id=slack.id("#gpu-alerts"))
    await looked_at(slack, client, file)
    attachments = [{"color": "#2eb67d", "blocks": a_picture(file)}]
    await client.chat_postMessage(channel=slack.id("#gpu-alerts"), text="hot", attachments=attachments)
    assert slack.messages("#gpu-alerts")[-1].text == "hot"


async def test_a_picture_that_slack_has_not_looked_at_is_refused(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused
) -> None:
    file = await uploaded(slack, client, "chart.png", channel_id=slack.id("#gpu-alerts"))
    assert (await client.files_info(file=file))["file"]["mimetype"] == ""
    error = await refused(
        client.chat_postMessage(channel=slack.id("#gpu-alerts"), text="hot", blocks=a_picture(file))
    )
    assert error.response["error"] == "invalid_blocks"
    assert error.response["errors"] == ["invalid slack file [json-pointer:/blocks/0/slack_file]"]


@pytest.mark.parametrize(
    ("name", "in_channel"),
    [
        pytest.param("chart.png", False, id="one that was shared nowhere"),
        pytest.param("chart.svg", True, id="one that is no picture of Slack's kinds"),
    ],
)
async def test_a_file_that_readers_could_not_see_is_refused(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused, name: str, in_channel: bool
) -> None:
    where = {"channel_id": slack.id("#gpu-alerts")} if in_channel else {}
    file = await uploaded(slack, client, name, **where)
    await looked_at(slack, client, file)
    error = await refused(
        client.chat_postMessage(channel=slack.id("#gpu-alerts"), text="hot", blocks=a_picture(file))
    )
    assert error.response["error"] == "invalid_blocks"


async def test_an_upload_is_completed_once(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused
) -> None:
    file = await uploaded(slack, client, "chart.png", channel_id=slack.id("#gpu-alerts"))
    error = await refused(client.files_completeUploadExternal(files=[{"id": file}]))
    assert error.response["error"] == "file_already_completed"
