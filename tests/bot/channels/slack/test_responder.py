"""Answers reach the person who asked, in the place where they asked."""

from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from alerts.cards.message import Attachment, Button, Buttons, Message
from alerts.cards.text import text
from bot.channels.interaction import InteractionFile
from bot.channels.slack.files import is_on_slack
from bot.channels.slack.responder import SlackResponder
from bot.delivery.notifier_protocol import NewMessage
from collectors.facts.results import SourceError
from commands.core.command import Answer


def an_answer(title: str = "3 nodes", *, is_public: bool = False, **more: Any) -> Answer:
    return Answer(message=Message(title=text(title), **more), is_public=is_public)


PREVIEW = Buttons(buttons=(Button(label="Do it", line="plan confirm p1"),))


async def test_a_slash_command_is_answered_for_one_person(online: Any) -> None:
    await online.slack.types("ana", "#gpu-alerts", "/yard node list")
    await SlackResponder(online.calls).respond(await online.received(), an_answer())
    (message,) = online.slack.ephemerals("ana")
    assert "3 nodes" in message.said
    assert online.slack.messages("#gpu-alerts") == []


async def test_a_public_answer_is_posted_in_the_channel(online: Any) -> None:
    await online.slack.types("ana", "#gpu-alerts", "/yard node list")
    await SlackResponder(online.calls).respond(await online.received(), an_answer(is_public=True))
    (message,) = online.slack.messages("#gpu-alerts")
    assert "3 nodes" in message.said


async def test_a_mention_in_a_thread_is_answered_in_the_thread(online: Any) -> None:
    card = await online.notifier.post(online.channel, NewMessage(text("a card"), nonce="n1"))
    await online.slack.types("ana", "#gpu-alerts", "@yardmaster node list", thread_ts=card)
    await SlackResponder(online.calls).respond(await online.received(), an_answer())
    (message,) = online.slack.ephemerals("ana")
    assert message.thread_ts == card


@pytest.mark.parametrize(
    ("line", "method"),
    [("@yardmaster node list", "chat.postEphemeral"), ("node list", "chat.postMessage")],
    ids=["in a channel", "in a direct message"],
)
async def test_an_answer_waits_while_slack_asks_for_a_pause(online: Any, line: str, method: str) -> None:
    await online.slack.types("ana", "#gpu-alerts" if line[0] == "@" else "@yardmaster", line)
    online.slack.fail(method, "ratelimited", 2, retry_after=1)
    await SlackResponder(online.calls).respond(await online.received(), an_answer())
    answers = [*online.slack.ephemerals("ana"), *online.slack.messages("@ana")]
    assert sum("3 nodes" in one.said for one in answers) == 1


async def after_a_pressed_preview(online: Any) -> SlackResponder:
    """Return who answers the press of a preview's button."""
    responder = SlackResponder(online.calls)
    await online.slack.types("ana", "#gpu-alerts", "/yard node cordon gpu-a04")
    await responder.respond(await online.received(), an_answer("Cordon gpu-a04?", blocks=(PREVIEW,)))
    (preview,) = online.slack.ephemerals("ana")
    await online.slack.presses("ana", preview, "Do it")
    return responder


async def test_a_preview_is_replaced_by_its_result(online: Any) -> None:
    responder = await after_a_pressed_preview(online)
    await responder.respond(await online.received(), an_answer("Cordoned gpu-a04"))
    (message,) = online.slack.ephemerals("ana")
    assert "Cordoned gpu-a04" in message.said
    assert "Do it" not in message.said


async def test_who_asked_reads_of_the_card_that_shows_the_answer(online: Any) -> None:
    await online.slack.types("ana", "#gpu-alerts", "/yard node drain gpu-a04")
    asks = replace(an_answer("Drain gpu-a04?"), beside_card=an_answer("its card asks").message, has_card=True)
    await SlackResponder(online.calls).respond(await online.received(), asks)
    (answer,) = online.slack.ephemerals("ana")
    assert answer.said == "*its card asks*"
    assert online.slack.messages("#gpu-alerts") == []


async def test_a_preview_goes_away_when_a_card_follows(online: Any) -> None:
    responder = await after_a_pressed_preview(online)
    await responder.respond(await online.received(), replace(an_answer("confirmed"), has_card=True))
    assert online.slack.ephemerals("ana") == []


async def test_a_typed_confirmation_is_answered_with_a_note_that_it_is_confirmed(online: Any) -> None:
    await online.slack.types("ana", "#gpu-alerts", "/yard plan confirm p1")
    confirmed = replace(an_answer("confirmed"), has_card=True)
    await SlackResponder(online.calls).respond(await online.received(), confirmed)
    (message,) = online.slack.ephemerals("ana")
    assert "confirmed" in message.said


async def test_a_click_on_a_card_leaves_the_card_unchanged(online: Any) -> None:
    card = Message(title=text("hot"), blocks=(PREVIEW,))
    await online.notifier.post(online.channel, NewMessage(card, nonce="n1"))
    (message,) = online.slack.messages("#gpu-alerts")
    await online.slack.presses("ana", message, "Do it")
    await SlackResponder(online.calls).respond(await online.received(), an_answer("it runs"))
    (message,) = online.slack.messages("#gpu-alerts")
    assert "hot" in message.said
    assert len(online.slack.ephemerals("ana")) == 1


async def test_in_a_channel_without_the_bot_the_answer_is_a_direct_message(online: Any) -> None:
    await online.slack.types("ana", "#elsewhere", "/yard node list")
    received = await online.received()
    online.slack.fail("response_url", 500)
    responder = SlackResponder(online.calls)
    await responder.respond(type(received)(**{**_fields(received), "answer_to": ""}), an_answer())
    (message,) = online.slack.messages("@ana")
    assert "3 nodes" in message.said


async def test_a_direct_message_is_answered_there_with_attachments(online: Any) -> None:
    await online.slack.types("ana", "@yardmaster", "node list")
    file = Attachment(name="nodes.txt", content="a\nb\n")
    await SlackResponder(online.calls).respond(await online.received(), an_answer(attachments=(file,)))
    titles = [
        file["title"] for message in online.slack.messages("@ana") for file in message.body.get("files", ())
    ]
    assert titles == ["nodes.txt"]


async def test_an_answer_in_a_channel_says_where_its_file_is(online: Any) -> None:
    await online.slack.types("ana", "#gpu-alerts", "/yard training logs detr")
    file = Attachment(name="detr.log", content="a\nb\n")
    await SlackResponder(online.calls).respond(await online.received(), an_answer(attachments=(file,)))
    (message,) = online.slack.ephemerals("ana")
    assert "The file is in your direct messages with Yardmaster." in message.said
    titles = [one["title"] for said in online.slack.messages("@ana") for one in said.body.get("files", ())]
    assert titles == ["detr.log"]


async def test_attached_files_are_fetched(online: Any) -> None:
    await online.slack.uploads(
        "ana", "#gpu-alerts", "run.sh", b"echo hi", comment="@yardmaster training launch x"
    )
    (upload,) = await SlackResponder(online.calls).files(await online.received())
    assert (upload.name, upload.content) == ("run.sh", b"echo hi")


async def test_a_file_that_is_too_large_is_refused_by_name(online: Any) -> None:
    await online.slack.uploads("ana", "#gpu-alerts", "big.bin", b"x" * 1_000_001, comment="@yardmaster y")
    received = await online.received()
    with pytest.raises(SourceError, match=r"big\.bin: the file is larger than 1000000 bytes"):
        await SlackResponder(online.calls).files(received)


async def test_our_token_is_sent_only_to_slack(online: Any) -> None:
    """A file that somebody shares from Google Drive has an address outside Slack."""
    seen: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization", ""))
        return web.Response(body=b"x")

    app = web.Application()
    app.router.add_get("/{path:.*}", elsewhere)
    async with TestServer(app) as drive:
        await online.slack.types("ana", "#gpu-alerts", "@yardmaster help")
        file = InteractionFile(name="run.sh", address=str(drive.make_url("/run.sh")), size=1)
        received = replace(await online.received(), files=(file,))
        with pytest.raises(SourceError, match=r"run\.sh: the file is not stored on Slack"):
            await SlackResponder(online.calls).files(received)
    assert seen == []


@pytest.mark.parametrize(
    ("address", "is_slacks"),
    [
        ("https://files.slack.com/files-pri/T-F/run.sh", True),
        ("https://slack.com/files/run.sh", True),
        ("http://files.slack.com/files-pri/T-F/run.sh", False),
        ("https://drive.google.com/file/d/1", False),
        ("https://evilslack.com/run.sh", False),
        ("https://files.slack.com.evil.com/run.sh", False),
        ("https://files.slack.com@evil.com/run.sh", False),
        ("", False),
    ],
)
def test_only_https_addresses_of_slack_are_trusted(address: str, is_slacks: bool) -> None:
    assert is_on_slack(address, "https://slack.com/api/") is is_slacks


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}
