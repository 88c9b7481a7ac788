"""This file proves that an answer reaches the one person whom it is for, where they are."""

from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from alerts.cards.message import Attachment, Button, Buttons, Message, text
from bot.channels.slack.files import lies_with_slack
from bot.channels.slack.interactions import InteractionFile
from bot.channels.slack.responder import SlackResponder
from collectors.facts.results import SourceError
from commands.core.command import Answer


def an_answer(words: str = "3 nodes", *, is_public: bool = False, **more: Any) -> Answer:
    return Answer(message=Message(title=text(words), **more), is_public=is_public)


PREVIEW = Buttons(buttons=(Button(label="Do it", line="plan confirm p1"),))


async def test_a_slash_command_is_answered_for_one_person(hearing: Any) -> None:
    await hearing.slack.types("ana", "#gpu-alerts", "/yard node list")
    await SlackResponder(hearing.calls).respond(await hearing.heard(), an_answer())
    (message,) = hearing.slack.ephemerals("ana")
    assert "3 nodes" in message.said
    assert hearing.slack.messages("#gpu-alerts") == []


async def test_a_public_answer_is_for_everybody_there(hearing: Any) -> None:
    await hearing.slack.types("ana", "#gpu-alerts", "/yard node list")
    await SlackResponder(hearing.calls).respond(await hearing.heard(), an_answer(is_public=True))
    (message,) = hearing.slack.messages("#gpu-alerts")
    assert "3 nodes" in message.said


async def test_a_mention_in_a_thread_is_answered_there(hearing: Any) -> None:
    card = await hearing.notifier.post(hearing.channel, text("a card"), nonce="n1")
    await hearing.slack.types("ana", "#gpu-alerts", "@yardmaster node list", thread_ts=card)
    await SlackResponder(hearing.calls).respond(await hearing.heard(), an_answer())
    (message,) = hearing.slack.ephemerals("ana")
    assert message.thread_ts == card


async def test_a_preview_is_replaced_by_what_came_of_it(hearing: Any) -> None:
    answers = SlackResponder(hearing.calls)
    await hearing.slack.types("ana", "#gpu-alerts", "/yard node cordon gpu-a04")
    await answers.respond(await hearing.heard(), an_answer("Cordon gpu-a04?", blocks=(PREVIEW,)))
    (preview,) = hearing.slack.ephemerals("ana")
    await hearing.slack.presses("ana", preview, "Do it")
    await answers.respond(await hearing.heard(), an_answer("Cordoned gpu-a04"))
    (message,) = hearing.slack.ephemerals("ana")
    assert "Cordoned gpu-a04" in message.said
    assert "Do it" not in message.said


async def test_a_click_on_a_card_leaves_the_card(hearing: Any) -> None:
    card = Message(title=text("hot"), blocks=(PREVIEW,))
    await hearing.notifier.post(hearing.channel, card, nonce="n1")
    (message,) = hearing.slack.messages("#gpu-alerts")
    await hearing.slack.presses("ana", message, "Do it")
    await SlackResponder(hearing.calls).respond(await hearing.heard(), an_answer("it runs"))
    (message,) = hearing.slack.messages("#gpu-alerts")
    assert "hot" in message.said
    assert len(hearing.slack.ephemerals("ana")) == 1


async def test_where_we_are_not_the_answer_comes_directly(hearing: Any) -> None:
    await hearing.slack.types("ana", "#elsewhere", "/yard node list")
    heard = await hearing.heard()
    hearing.slack.fail("response_url", 500)
    answers = SlackResponder(hearing.calls)
    await answers.respond(type(heard)(**{**_fields(heard), "response_url": ""}), an_answer())
    (message,) = hearing.slack.messages("@ana")
    assert "3 nodes" in message.said


async def test_a_direct_message_is_answered_there_with_its_files(hearing: Any) -> None:
    await hearing.slack.types("ana", "@yardmaster", "node list")
    file = Attachment(name="nodes.txt", content="a\nb\n")
    await SlackResponder(hearing.calls).respond(await hearing.heard(), an_answer(attachments=(file,)))
    titles = [
        file["title"] for message in hearing.slack.messages("@ana") for file in message.body.get("files", ())
    ]
    assert titles == ["nodes.txt"]


async def test_files_that_came_along_are_fetched(hearing: Any) -> None:
    await hearing.slack.uploads(
        "ana", "#gpu-alerts", "run.sh", b"echo hi", comment="@yardmaster training launch x"
    )
    (upload,) = await SlackResponder(hearing.calls).files(await hearing.heard())
    assert (upload.name, upload.content) == ("run.sh", b"echo hi")


async def test_a_file_that_is_too_large_is_refused_in_words(hearing: Any) -> None:
    await hearing.slack.uploads("ana", "#gpu-alerts", "big.bin", b"x" * 1_000_001, comment="@yardmaster y")
    heard = await hearing.heard()
    with pytest.raises(SourceError, match=r"big\.bin: the file is larger than 1000000 bytes"):
        await SlackResponder(hearing.calls).files(heard)


async def test_our_token_goes_to_slack_alone(hearing: Any) -> None:
    """A file of Google Drive that somebody shares has its address there."""
    seen: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization", ""))
        return web.Response(body=b"x")

    app = web.Application()
    app.router.add_get("/{path:.*}", elsewhere)
    async with TestServer(app) as drive:
        await hearing.slack.types("ana", "#gpu-alerts", "@yardmaster help")
        file = InteractionFile(name="run.sh", address=str(drive.make_url("/run.sh")), size=1)
        heard = replace(await hearing.heard(), files=(file,))
        with pytest.raises(SourceError, match=r"run\.sh: the file does not lie with Slack"):
            await SlackResponder(hearing.calls).files(heard)
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
def test_what_lies_with_slack(address: str, is_slacks: bool) -> None:
    assert lies_with_slack(address, "https://slack.com/api/") is is_slacks


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}
