"""Cards and replies reach Slack and are found again, and each error is classified."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from alerts.cards.message import Attachment, Color, Fields, Message, Paragraph, Preformatted
from alerts.cards.text import text
from bot.channels.slack.api_errors import ErrorMeaning, meaning_of
from bot.channels.slack.notifier import SlackNotifier
from bot.channels.slack.web_client import SlackClient
from bot.delivery.notifier_protocol import (
    Gone,
    Incomplete,
    NewMessage,
    Permanent,
    Recoverable,
    Refuses,
    SearchWindow,
    UnknownOutcome,
)

ALWAYS = SearchWindow(since=datetime(2001, 1, 1, tzinfo=UTC), until=datetime(2099, 1, 1, tzinfo=UTC))


def a_message(title: str = "GPU 3 fell off the bus", **more: Any) -> Message:
    body = (Paragraph(text=text("on gpu-a04")),)
    return Message(**{"title": text(title), "color": Color.CRITICAL, "blocks": body, **more})


async def test_a_card_is_posted_edited_and_deleted(harness: Any) -> None:
    ts = await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="n1"))
    (message,) = harness.slack.messages("#gpu-alerts")
    assert message.ts == ts
    assert "on gpu-a04" in message.said
    await harness.notifier.edit(harness.channel, ts, a_message("resolved", color=Color.GOOD))
    (message,) = harness.slack.messages("#gpu-alerts")
    assert "resolved" in message.said
    assert message.attachments[0]["color"] == "#2eb67d"
    assert await harness.notifier.find(harness.channel, "n1", ALWAYS) == (ts,)  # an edit keeps the nonce
    await harness.notifier.delete(harness.channel, ts)
    assert harness.slack.messages("#gpu-alerts") == []


async def test_a_person_is_a_channel_of_their_own(harness: Any) -> None:
    ana = harness.slack.id("ana")
    ts = await harness.notifier.post(ana, NewMessage(a_message(), nonce="n1"))
    await harness.notifier.edit(ana, ts, a_message("resolved"))
    await harness.notifier.post(ana, NewMessage(text("worse"), thread=ts, nonce="n2"))
    (message,) = harness.slack.messages("@ana")
    assert "resolved" in message.said
    assert len(harness.slack.thread(message)) == 1
    assert await harness.notifier.find(ana, "n1", ALWAYS) == (ts,)
    assert harness.slack.messages("#gpu-alerts") == []
    await harness.notifier.delete(ana, ts)


async def test_an_edit_without_a_body_removes_the_body(harness: Any) -> None:
    ts = await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="n1"))
    await harness.notifier.edit(harness.channel, ts, a_message("over", blocks=()))
    (message,) = harness.slack.messages("#gpu-alerts")
    assert "on gpu-a04" not in message.said


async def test_a_reply_is_posted_in_the_thread_and_may_be_broadcast(harness: Any) -> None:
    card = await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="n1"))
    quiet = await harness.notifier.post(harness.channel, NewMessage(text("acked"), thread=card, nonce="n2"))
    loud = await harness.notifier.post(
        harness.channel, NewMessage(text("worse"), thread=card, nonce="n3", broadcast=True)
    )
    (message, _) = harness.slack.messages("#gpu-alerts")
    assert [reply.ts for reply in harness.slack.thread(message)] == [quiet, loud]
    assert [reply.broadcast for reply in harness.slack.thread(message)] == [False, True]
    assert await harness.notifier.find(harness.channel, "n2", ALWAYS, card) == (quiet,)


async def test_only_our_own_message_with_this_nonce_is_found(harness: Any) -> None:
    ts = await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="ours"))
    await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="another"))
    assert await harness.notifier.find(harness.channel, "ours", ALWAYS) == (ts,)
    assert await harness.notifier.find(harness.channel, "unknown", ALWAYS) == ()
    later = SearchWindow(since=ALWAYS.until, until=ALWAYS.until + timedelta(days=1))
    assert await harness.notifier.find(harness.channel, "ours", later) == ()


async def test_a_message_is_found_however_many_followed_it(
    harness: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.channels.slack.notifier.PAGE", 2)
    monkeypatch.setattr("bot.channels.slack.notifier.MAX_PAGES", 2)
    ts = await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="ours"))
    for number in range(6):
        await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce=f"{number}"))
    posted = datetime.fromtimestamp(float(ts), UTC)
    around = SearchWindow(since=posted - timedelta(minutes=1), until=posted + timedelta(microseconds=1))
    assert await harness.notifier.find(harness.channel, "ours", around) == (ts,)
    with pytest.raises(Permanent, match="more than 4 messages"):
        await harness.notifier.find(harness.channel, "ours", ALWAYS)


async def test_duplicates_are_ordered_by_age_across_pages(harness: Any) -> None:
    first = await harness.notifier.post(harness.channel, NewMessage(text("a"), nonce="same"))
    for number in range(210):
        await harness.notifier.post(harness.channel, NewMessage(text(f"between {number}"), nonce=f"{number}"))
    second = await harness.notifier.post(harness.channel, NewMessage(text("a"), nonce="same"))
    found = await harness.notifier.find(harness.channel, "same", ALWAYS)
    assert found == (first, second)


async def test_content_that_does_not_fit_is_attached_once_in_the_thread(harness: Any) -> None:
    content = a_message(
        blocks=(Preformatted(lines=tuple(f"line {number}" for number in range(2000))),),
        attachments=(Attachment(name="log.txt", content="a log"),),
    )
    ts = await harness.notifier.post(harness.channel, NewMessage(content, nonce="n1"))
    for notifier in (harness.notifier, SlackNotifier(harness.calls)):  # the second as after a restart
        await notifier.edit(harness.channel, ts, content)
    (message,) = harness.slack.messages("#gpu-alerts")
    files = [file["title"] for reply in harness.slack.thread(message) for file in reply.body["files"]]
    assert files == ["log.txt", "quote.txt"]


async def test_a_failed_upload_does_not_prevent_the_card(harness: Any) -> None:
    harness.slack.fail("files.getUploadURLExternal", "internal_error")
    content = a_message(attachments=(Attachment(name="log.txt", content="a log"),))
    with pytest.raises(Incomplete) as caught:
        await harness.notifier.post(harness.channel, NewMessage(content, nonce="n1"))
    ts = caught.value.message_id
    (message,) = harness.slack.messages("#gpu-alerts")
    assert message.ts == ts
    await harness.notifier.edit(harness.channel, ts, content)
    assert [file["title"] for reply in harness.slack.thread(message) for file in reply.body["files"]] == [
        "log.txt"
    ]


async def test_a_file_whose_upload_is_refused_is_done_without(harness: Any) -> None:
    harness.slack.fail("files.getUploadURLExternal", "missing_scope")
    content = a_message(attachments=(Attachment(name="log.txt", content="a log"),))
    ts = await harness.notifier.post(harness.channel, NewMessage(content, nonce="n1"))
    assert [message.ts for message in harness.slack.messages("#gpu-alerts")] == [ts]


async def test_an_upload_of_which_no_answer_came_is_not_repeated(harness: Any) -> None:
    harness.slack.lose_reply("files.completeUploadExternal")
    content = a_message(attachments=(Attachment(name="log.txt", content="a log"),))
    with pytest.raises(Incomplete) as caught:
        await harness.notifier.post(harness.channel, NewMessage(content, nonce="n1"))
    await harness.notifier.edit(harness.channel, caught.value.message_id, content)
    (message,) = harness.slack.messages("#gpu-alerts")
    assert len(harness.slack.thread(message)) == 1


CONTENT = ("invalid_blocks", "invalid_attachments", "msg_too_long", "msg_blocks_too_long", "no_such_error")


@pytest.mark.parametrize("error", CONTENT)
async def test_a_card_that_is_refused_for_its_content_is_posted_plainer_at_once(
    harness: Any, error: str
) -> None:
    harness.slack.fail("chat.postMessage", error)
    ts = await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="n1"))
    (message,) = harness.slack.messages("#gpu-alerts")
    assert message.ts == ts
    assert message.attachments == []
    assert "GPU 3 fell off the bus" in message.said
    assert "on gpu-a04" in message.said
    assert await harness.notifier.find(harness.channel, "n1", ALWAYS) == (ts,)


async def test_what_is_refused_in_every_other_form_is_a_line_with_the_whole_as_a_file(harness: Any) -> None:
    harness.slack.fail("chat.postMessage", "msg_too_long", times=2)
    long = tuple(Paragraph(text=text(f"{number} " + "x" * 500)) for number in range(20))
    await harness.notifier.post(harness.channel, NewMessage(a_message(blocks=long), nonce="n1"))
    (message,) = harness.slack.messages("#gpu-alerts")
    assert len(message.text) <= 300
    files = [file["id"] for reply in harness.slack.thread(message) for file in reply.body["files"]]
    whole = harness.slack.content(files[0]).decode()
    assert all(f"{number} x" in whole for number in range(20))


async def test_a_form_that_was_refused_is_not_tried_again(harness: Any) -> None:
    harness.slack.fail("chat.postMessage", "invalid_blocks")
    harness.slack.fail("chat.postMessage", "ratelimited", retry_after=3)  # the refusal counts as well
    with pytest.raises(Recoverable):
        await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="n1"))
    await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="n1"))
    assert harness.slack.calls.count("chat.postMessage") == 3
    (message,) = harness.slack.messages("#gpu-alerts")
    assert "on gpu-a04" in message.said


async def test_an_edit_that_is_refused_for_its_content_is_plainer(harness: Any) -> None:
    ts = await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="n1"))
    harness.slack.fail("chat.update", "invalid_blocks")
    await harness.notifier.edit(harness.channel, ts, a_message("GPU 3 is back"))
    (message,) = harness.slack.messages("#gpu-alerts")
    assert "GPU 3 is back" in message.said
    assert message.attachments == []


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(a_message("t" * 1500), id="a title"),
        pytest.param(a_message(blocks=(Paragraph(text=text("p" * 5000)),)), id="a paragraph"),
        pytest.param(a_message(blocks=(Fields(rows=(("name", text("f" * 4000)),)),)), id="a field"),
        pytest.param(text("r" * 5000), id="a reply"),
    ],
)
async def test_what_is_cut_is_attached_in_full(harness: Any, content: Any) -> None:
    await harness.notifier.post(harness.channel, NewMessage(content, nonce="n1"))
    (message,) = harness.slack.messages("#gpu-alerts")
    files = [file["id"] for reply in harness.slack.thread(message) for file in reply.body["files"]]
    (whole,) = [harness.slack.content(file).decode() for file in files]
    assert any(letter * 1500 in whole for letter in "tpfr")


Failure = Callable[[Any], object]


@pytest.mark.parametrize(
    ("fail", "error"),
    [
        pytest.param(
            lambda slack: slack.fail("chat.postMessage", "internal_error"),
            UnknownOutcome,
            id="internal error",
        ),
        pytest.param(lambda slack: slack.fail("chat.postMessage", 503), UnknownOutcome, id="a 503"),
        pytest.param(
            lambda slack: slack.lose_reply("chat.postMessage", 1), UnknownOutcome, id="a lost reply"
        ),
        pytest.param(
            lambda slack: slack.lose_reply("chat.postMessage", 1, hold=True),
            UnknownOutcome,
            id="a reply that never comes",
        ),
        pytest.param(lambda slack: slack.archive("#gpu-alerts"), Permanent, id="an archived channel"),
        pytest.param(lambda slack: slack.revoke("token_revoked"), Permanent, id="a revoked token"),
        pytest.param(
            lambda slack: slack.fail("chat.postMessage", "no_such_error", times=9),
            Permanent,
            id="an unknown error, whatever the form",
        ),
    ],
)
async def test_each_failure_of_a_post_is_classified(
    harness: Any, fail: Failure, error: type[Exception]
) -> None:
    fail(harness.slack)
    with pytest.raises(error):
        await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="n1"))


async def test_retry_after_is_passed_on(harness: Any) -> None:
    harness.slack.fail("chat.postMessage", "ratelimited", retry_after=7)
    with pytest.raises(Recoverable) as caught:
        await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="n1"))
    assert caught.value.retry_after == timedelta(seconds=7)


async def test_a_channel_error_is_distinguished_from_a_refused_message(harness: Any) -> None:
    with pytest.raises(Permanent) as channel:
        await harness.notifier.post(harness.slack.id("#elsewhere"), NewMessage(a_message(), nonce="n1"))
    harness.slack.fail("chat.postMessage", "invalid_blocks", times=9)
    with pytest.raises(Permanent) as message:
        await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="n1"))
    assert (channel.value.refuses, message.value.refuses) == (Refuses.CHANNEL, Refuses.MESSAGE)


async def test_a_deleted_message_is_gone(harness: Any) -> None:
    ts = await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="n1"))
    await harness.notifier.delete(harness.channel, ts)
    gone: list[Callable[[], Awaitable[object]]] = [
        lambda: harness.notifier.edit(harness.channel, ts, a_message()),
        lambda: harness.notifier.delete(harness.channel, ts),
    ]
    for call in gone:
        with pytest.raises(Gone):
            await call()


async def test_a_slack_that_cannot_be_reached_is_recoverable() -> None:
    async with SlackClient("xoxb-x", api_url="http://127.0.0.1:9/api/") as calls:
        with pytest.raises(Recoverable, match="cannot be reached"):
            await SlackNotifier(calls).post("C1", NewMessage(a_message(), nonce="n1"))


async def test_no_error_contains_the_token(harness: Any) -> None:
    harness.slack.fail("chat.postMessage", "invalid_blocks", times=9)
    with pytest.raises(Permanent) as caught:
        await harness.notifier.post(harness.channel, NewMessage(a_message(), nonce="n1"))
    assert harness.slack.bot_token not in str(caught.value)


def test_a_locked_thread_does_not_hold_its_channel() -> None:
    assert meaning_of("restricted_action_thread_locked") is ErrorMeaning.MESSAGE_REFUSED
    assert meaning_of("is_archived") is ErrorMeaning.CHANNEL_REFUSED
    assert meaning_of("token_revoked") is ErrorMeaning.CHAT_REFUSED
