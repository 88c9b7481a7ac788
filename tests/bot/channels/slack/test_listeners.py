"""Everything sent is received once, in neutral form, over the socket and over HTTP."""

from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request

from alerts.cards.message import Button, Buttons, Message
from alerts.cards.text import text
from bot.channels.slack.integration import bolt_app
from bot.channels.slack.listeners import BUSY
from bot.delivery.notifier_protocol import NewMessage

CARD = Message(
    title=text("hot"), blocks=(Buttons(buttons=(Button(label="Cordon", line="node cordon gpu-a04"),)),)
)


async def test_a_slash_command(online: Any) -> None:
    sent = await online.slack.types("ana", "#gpu-alerts", "/yard node cordon gpu-a04 —reason “too hot”")
    received = await online.received()
    assert sent.error == ""
    assert received.text == 'node cordon gpu-a04 --reason "too hot"'
    assert (received.user_id, received.channel) == (online.slack.id("ana"), f"slack:{online.channel}")
    assert received.answer_to
    assert not received.is_click


async def test_a_mention_in_a_thread(online: Any) -> None:
    card = await online.notifier.post(online.channel, NewMessage(CARD, nonce="n1"))
    sent = await online.slack.types("ana", "#gpu-alerts", "@yardmaster node list", thread_ts=card)
    received = await online.received()
    assert (received.text, received.thread, received.message_id) == ("node list", card, sent.message.ts)


async def test_a_direct_message_with_and_without_a_mention(online: Any) -> None:
    for typed in ("help node", "@yardmaster help node"):
        await online.slack.types("ana", "@yardmaster", typed)
        received = await online.received()
        assert received.text == "help node"
        assert received.channel.startswith("slack:D")
    assert await online.waiting() == []


async def test_a_pressed_button_is_received_as_its_line(online: Any) -> None:
    ts = await online.notifier.post(online.channel, NewMessage(CARD, nonce="n1"))
    (message,) = online.slack.messages("#gpu-alerts")
    await online.slack.presses("bo", message, "Cordon")
    received = await online.received()
    assert (received.text, received.is_click, received.is_ephemeral) == ("node cordon gpu-a04", True, False)
    assert (received.message_id, received.user_id) == (ts, online.slack.id("bo"))


async def test_attached_files(online: Any) -> None:
    await online.slack.uploads(
        "ana", "#gpu-alerts", "run.sh", b"echo hi", comment="@yardmaster training launch x"
    )
    received = await online.received()
    assert received.text == "training launch x"
    assert [(file.name, file.size) for file in received.files] == [("run.sh", 7)]


async def test_a_redelivery_has_the_same_id(online: Any) -> None:
    await online.slack.types("ana", "#gpu-alerts", "@yardmaster node list")
    first = await online.received()
    online.slack.redeliver(online.slack.envelopes[-1])
    assert (await online.received()).id == first.id


async def test_two_presses_of_one_button_are_two_interactions(online: Any) -> None:
    await online.notifier.post(online.channel, NewMessage(CARD, nonce="n1"))
    (message,) = online.slack.messages("#gpu-alerts")
    ids = set()
    for _ in range(2):
        await online.slack.presses("ana", message, "Cordon")
        ids.add((await online.received()).id)
    assert len(ids) == 2


async def test_messages_without_a_mention_are_ignored(online: Any) -> None:
    await online.slack.types("ana", "#gpu-alerts", "node cordon gpu-a04")
    await online.notifier.post(online.channel, NewMessage(text("node list"), nonce="n1"))
    await online.slack.types("ana", "#gpu-alerts", "@yardmaster help")
    assert (await online.received()).text == "help"
    assert await online.waiting() == []


@pytest.mark.parametrize("line", ["/yard node show 3", "@yardmaster node show 3"])
async def test_a_full_inbox_is_reported_to_members_and_not_to_guests(online: Any, line: str) -> None:
    for number in range(2):
        await online.slack.types("ana", "#gpu-alerts", f"/yard node show {number}")
    await online.slack.types("gus", "#gpu-alerts", line)
    await online.slack.types("ana", "#gpu-alerts", line)
    (reply,) = await online.slack.until(lambda: online.slack.ephemerals("ana"))
    assert BUSY in reply.text
    assert online.slack.ephemerals("gus") == []
    assert len(await online.waiting()) == 2


async def test_a_dropped_socket_is_reopened(online: Any) -> None:
    await online.slack.refresh_socket()
    await online.slack.types("ana", "#gpu-alerts", "/yard node list")
    assert (await online.received()).text == "node list"


async def test_over_http_the_signature_is_checked(harness: Any) -> None:
    app = bolt_app(harness.calls, signing_secret=harness.slack.signing_secret)
    harness.listen(app)

    async def receive(request: web.Request) -> web.Response:
        return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))

    server_app = web.Application()
    server_app.router.add_post("/slack/events", receive)
    async with TestServer(server_app) as server:
        await harness.slack.deliver_to(str(server.make_url("/slack/events")))
        sent = await harness.slack.types("ana", "#gpu-alerts", "/yard node list")
        assert sent.error == ""
        assert (await harness.received()).text == "node list"
        async with (
            ClientSession() as session,
            session.post(server.make_url("/slack/events"), json={"type": "event_callback"}) as answer,
        ):
            assert answer.status == 401
    assert await harness.waiting() == []
