"""The webhook notifier: how it logs in, and what each answer means."""

import asyncio
from base64 import b64encode
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from bot.delivery.notifier_protocol import (
    NewMessage,
    Permanent,
    Recoverable,
    Refuses,
    SendError,
    UnknownOutcome,
)
from tests.bot.channels.webhook.conftest import NotifierOf
from tests.support.incidents import an_incident_message
from tests.support.webhook_receiver import WebhookReceiver
from tests.support.yard import NOON

MESSAGE = an_incident_message("gpu-a04 is hot")


async def refusal(notifier: Any) -> SendError:
    with pytest.raises(SendError) as caught:
        await notifier.post("night", NewMessage(MESSAGE, nonce="n1"))
    return caught.value


@pytest.mark.parametrize(
    ("credentials", "expected"),
    [
        ({}, None),
        ({"authorization": {"credentials": "t0ken"}}, "Bearer t0ken"),
        ({"authorization": {"type": "Splunk", "credentials": "t0ken"}}, "Splunk t0ken"),
        (
            {"basic_auth": {"username": "yard", "password": "s3cret"}},
            "Basic " + b64encode(b"yard:s3cret").decode(),
        ),
    ],
    ids=["none", "a bearer token", "another type", "a user and a password"],
)
async def test_it_logs_in_as_the_settings_say(
    notifier_of: NotifierOf, receiver: WebhookReceiver, credentials: dict[str, Any], expected: str | None
) -> None:
    await notifier_of(**credentials).post("night", NewMessage(MESSAGE, nonce="n1"))
    assert receiver.headers[0].get("Authorization") == expected
    assert receiver.headers[0]["Content-Type"] == "application/json"


async def test_a_token_is_read_again_when_its_file_changes(
    notifier_of: NotifierOf, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("first\n")
    notifier = notifier_of(authorization={"credentials_file": str(file)})
    await notifier.post("night", NewMessage(MESSAGE, nonce="n1"))
    file.write_text("the second\n")
    await notifier.post("night", NewMessage(MESSAGE, nonce="n2"))
    assert [one["Authorization"] for one in receiver.headers] == ["Bearer first", "Bearer the second"]


async def test_a_missing_token_file_refuses_the_channel_and_names_the_file(
    notifier_of: NotifierOf, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    error = await refusal(notifier_of(authorization={"credentials_file": str(tmp_path / "absent")}))
    assert isinstance(error, Permanent)
    assert error.refuses is Refuses.CHANNEL
    assert "absent" in str(error)
    assert receiver.bodies == []


async def test_headers_of_the_settings_are_sent(notifier_of: NotifierOf, receiver: WebhookReceiver) -> None:
    await notifier_of(http_headers={"X-Tenant": "gpus"}).post("night", NewMessage(MESSAGE, nonce="n1"))
    assert receiver.headers[0]["X-Tenant"] == "gpus"


@pytest.mark.parametrize(
    ("status", "expected", "refuses"),
    [
        (400, Permanent, Refuses.MESSAGE),
        (413, Permanent, Refuses.MESSAGE),
        (422, Permanent, Refuses.MESSAGE),
        (301, Permanent, Refuses.CHANNEL),
        (401, Permanent, Refuses.CHANNEL),
        (403, Permanent, Refuses.CHANNEL),
        (404, Permanent, Refuses.CHANNEL),
        (410, Permanent, Refuses.CHANNEL),
        (408, Recoverable, None),
        (429, Recoverable, None),
        (500, UnknownOutcome, None),
        (502, UnknownOutcome, None),
        (503, UnknownOutcome, None),
    ],
)
async def test_each_status_has_its_meaning(
    notifier_of: NotifierOf,
    receiver: WebhookReceiver,
    status: int,
    expected: type[SendError],
    refuses: Refuses | None,
) -> None:
    receiver.answer(status)
    error = await refusal(notifier_of())
    assert type(error) is expected
    assert str(error) == f"webhook night: {status}"
    assert getattr(error, "refuses", None) is refuses
    assert getattr(error, "is_answer", None) is (True if expected is Recoverable else None)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("7", timedelta(seconds=7)),
        ("1e9", timedelta(minutes=10)),
        ("-3", timedelta()),
        (format_datetime(NOON + timedelta(seconds=90), usegmt=True), timedelta(seconds=90)),
    ],
    ids=["seconds", "too long", "negative", "a date"],
)
async def test_retry_after_is_passed_on(
    notifier_of: NotifierOf, receiver: WebhookReceiver, status: int, header: str, expected: timedelta
) -> None:
    receiver.answer(status, Retry_After=header)
    error = await refusal(notifier_of())
    assert isinstance(error, Recoverable)
    assert error.retry_after == expected


@pytest.mark.parametrize("header", ["soon", "nan", "Wed, 21 Oct 99999999999999999999 07:28:00 GMT"])
async def test_a_retry_after_that_cannot_be_read_is_ignored(
    notifier_of: NotifierOf, receiver: WebhookReceiver, header: str
) -> None:
    receiver.answer(429, Retry_After=header)
    error = await refusal(notifier_of())
    assert isinstance(error, Recoverable)
    assert error.retry_after is None


async def test_a_receiver_that_does_not_answer_leaves_the_outcome_unknown(
    notifier_of: NotifierOf, receiver: WebhookReceiver
) -> None:
    receiver.latency = 3600
    error = await refusal(notifier_of(timeout="50ms"))
    assert isinstance(error, UnknownOutcome)


async def test_a_receiver_that_cannot_be_reached_is_recoverable(notifier_of: NotifierOf) -> None:
    error = await refusal(notifier_of(url="http://127.0.0.1:1/secret-in-the-path"))
    assert isinstance(error, Recoverable)
    assert "secret" not in f"{error!r}{error.__cause__!r}"


async def test_an_address_in_a_file_that_is_none_is_refused_without_showing_it(
    notifier_of: NotifierOf, tmp_path: Path
) -> None:
    for number, address in enumerate(["ftp://user:hidden@host/", "hidden", "http://a:hidden@host/x"]):
        file = tmp_path / f"url{number}"
        file.write_text(address)
        error = await refusal(notifier_of(url_file=str(file)))
        assert isinstance(error, Permanent)
        assert "hidden" not in str(error)


async def test_a_redirect_gets_no_credentials(notifier_of: NotifierOf, receiver: WebhookReceiver) -> None:
    receiver.answer(307, Location=receiver.url)
    error = await refusal(notifier_of(authorization={"credentials": "t0ken"}))
    assert isinstance(error, Permanent)
    assert len(receiver.headers) == 1


async def test_several_posts_are_open_at_a_time(notifier_of: NotifierOf, receiver: WebhookReceiver) -> None:
    receiver.latency = 0.05
    notifier = notifier_of()
    async with asyncio.TaskGroup() as tasks:
        for number in range(8):
            tasks.create_task(notifier.post("night", NewMessage(MESSAGE, nonce=f"n{number}")))
    assert receiver.at_once == 8
