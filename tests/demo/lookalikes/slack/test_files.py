"""Files: three-step uploads, downloads with the token, and events when people share them."""

from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import NotPossibleError, SlackLookalike
from demo.lookalikes.slack.limits import documented

Refused = Callable[[Awaitable[Any]], Awaitable[SlackApiError]]


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
