"""This file proves that every gesture is heard once, in neutral words, over the socket and over HTTP."""

import asyncio
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from alerts.cards.message import Button, Buttons, Message, text
from bot.channels.slack.listeners import BUSY, Interaction

CARD = Message(
    title=text("hot"), blocks=(Buttons(buttons=(Button(label="Cordon", line="node cordon gpu-a04"),)),)
)


async def test_a_slash_command(hearing: Any) -> None:
    interaction = await hearing.slack.types(
        "ana", "#gpu-alerts", "/yard node cordon gpu-a04 —reason “too hot”"
    )
    heard = await hearing.heard()
    assert interaction.error == ""
    assert heard.text == 'node cordon gpu-a04 --reason "too hot"'
    assert (heard.user_id, heard.channel) == (hearing.slack.id("ana"), hearing.channel)
    assert heard.response_url
    assert not heard.is_click


async def test_a_mention_in_a_thread(hearing: Any) -> None:
    card = await hearing.notifier.post(hearing.channel, CARD, nonce="n1")
    interaction = await hearing.slack.types("ana", "#gpu-alerts", "@yardmaster node list", thread_ts=card)
    heard = await hearing.heard()
    assert (heard.text, heard.thread_ts, heard.message_ts) == ("node list", card, interaction.message.ts)


async def test_a_direct_message_with_and_without_a_mention(hearing: Any) -> None:
    for typed in ("help node", "@yardmaster help node"):
        await hearing.slack.types("ana", "@yardmaster", typed)
        heard = await hearing.heard()
        assert heard.text == "help node"
        assert heard.channel.startswith("D")
    assert hearing.inbox.empty()


async def test_a_pressed_button_is_its_line(hearing: Any) -> None:
    ts = await hearing.notifier.post(hearing.channel, CARD, nonce="n1")
    (message,) = hearing.slack.messages("#gpu-alerts")
    await hearing.slack.presses("bo", message, "Cordon")
    heard = await hearing.heard()
    assert (heard.text, heard.is_click, heard.is_ephemeral) == ("node cordon gpu-a04", True, False)
    assert (heard.message_ts, heard.user_id) == (ts, hearing.slack.id("bo"))


async def test_files_that_come_along(hearing: Any) -> None:
    await hearing.slack.uploads(
        "ana", "#gpu-alerts", "run.sh", b"echo hi", comment="@yardmaster training launch x"
    )
    heard = await hearing.heard()
    assert heard.text == "training launch x"
    assert [(file.name, file.size) for file in heard.files] == [("run.sh", 7)]


async def test_a_redelivery_has_the_same_identity(hearing: Any) -> None:
    await hearing.slack.types("ana", "#gpu-alerts", "@yardmaster node list")
    first = await hearing.heard()
    hearing.slack.redeliver(hearing.slack.envelopes[-1])
    assert (await hearing.heard()).id == first.id


async def test_two_presses_of_one_button_are_two_gestures(hearing: Any) -> None:
    await hearing.notifier.post(hearing.channel, CARD, nonce="n1")
    (message,) = hearing.slack.messages("#gpu-alerts")
    ids = set()
    for _ in range(2):
        await hearing.slack.presses("ana", message, "Cordon")
        ids.add((await hearing.heard()).id)
    assert len(ids) == 2


async def test_what_nobody_said_to_us_is_not_heard(hearing: Any) -> None:
    await hearing.slack.types("ana", "#gpu-alerts", "node cordon gpu-a04")
    await hearing.notifier.post(hearing.channel, text("node list"), nonce="n1")
    await hearing.slack.types("ana", "#gpu-alerts", "@yardmaster help")
    assert (await hearing.heard()).text == "help"
    assert hearing.inbox.empty()


@pytest.mark.parametrize("line", ["/yard node show 3", "@yardmaster node show 3"])
async def test_a_full_inbox_says_so_and_to_a_guest_nothing(hearing: Any, line: str) -> None:
    for number in range(2):
        await hearing.slack.types("ana", "#gpu-alerts", f"/yard node show {number}")
    await hearing.slack.types("gus", "#gpu-alerts", line)
    await hearing.slack.types("ana", "#gpu-alerts", line)
    (said,) = await hearing.slack.until(lambda: hearing.slack.ephemerals("ana"))
    assert BUSY in said.text
    assert hearing.slack.ephemerals("gus") == []
    assert hearing.inbox.qsize() == 2


async def test_a_socket_that_is_dropped_is_opened_again(hearing: Any) -> None:
    await hearing.slack.refresh_socket()
    await hearing.slack.types("ana", "#gpu-alerts", "/yard node list")
    assert (await hearing.heard()).text == "node list"


async def test_over_http_the_signature_is_checked(harness: Any) -> None:
    inbox: asyncio.Queue[Interaction] = asyncio.Queue(2)
    app = AsyncApp(client=harness.calls.web, signing_secret=harness.slack.signing_secret)
    harness.listen(app, inbox)

    async def receive(request: web.Request) -> web.Response:
        return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))

    cluster = web.Application()
    cluster.router.add_post("/slack/events", receive)
    async with TestServer(cluster) as server:
        await harness.slack.deliver_to(str(server.make_url("/slack/events")))
        interaction = await harness.slack.types("ana", "#gpu-alerts", "/yard node list")
        assert interaction.error == ""
        assert inbox.get_nowait().text == "node list"
        async with (
            ClientSession() as session,
            session.post(server.make_url("/slack/events"), json={"type": "event_callback"}) as answer,
        ):
            assert answer.status == 401
    assert inbox.empty()
