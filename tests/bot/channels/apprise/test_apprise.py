"""Apprise: cards reach a mail server and one that takes JSON; for other services the request they get is looked at."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

import pytest

from alerts.cards.message import Color, Paragraph
from alerts.cards.text import text
from bot.channels.apprise.apprise_service import NOT_INSTALLED, AppriseMessage, AppriseService
from bot.channels.apprise.notifier import AppriseNotifier
from bot.channels.apprise.opening import diagnose_apprise
from bot.delivery.notifier_protocol import NewMessage, Permanent, Refuses, UnknownOutcome
from bot.settings.schema import Settings
from collectors.facts.findings import FindingLevel
from tests.support.incidents import an_incident_message
from tests.support.mail_server import MailServer
from tests.support.webhook_receiver import WebhookReceiver

pytest.importorskip("apprise")

HOT = an_incident_message("gpu-a04 is hot")


def a_notifier(address: str) -> AppriseNotifier:
    return AppriseNotifier({"mail": lambda: address})


def mail_to(server: MailServer) -> str:
    return f"mailto://127.0.0.1:{server.port}?from=yard@example.com&to=oncall@example.com"


async def test_a_card_is_a_mail() -> None:
    async with MailServer.running() as server:
        await a_notifier(mail_to(server)).post("mail", NewMessage(HOT, nonce="n1"))
        (mail,) = server.mails
    assert mail["Subject"] == "gpu-a04 is hot"
    assert "oncall@example.com" in mail["To"]
    assert "gpu-a04" in _body(mail)


async def test_a_mail_that_is_refused_is_sent_again_and_no_error_has_the_password() -> None:
    async with MailServer.running() as server:
        server.refusals.append("451 try again later")
        notifier = a_notifier(mail_to(server))
        with pytest.raises(UnknownOutcome) as caught:
            await notifier.post("mail", NewMessage(HOT, nonce="n1"))
        await notifier.post("mail", NewMessage(HOT, nonce="n1"))
        assert len(server.mails) == 1
    assert str(server.port) not in f"{caught.value!r} {caught.value.__cause__!r}"


async def test_a_service_that_is_slow_gets_a_card_once() -> None:
    began, goes_on, sent = Event(), Event(), []

    def send(_: AppriseService, message: AppriseMessage) -> bool:
        sent.append(message.title)
        began.set()
        return goes_on.wait(60)

    notifier = a_notifier("mailto://u:p@example.com")
    with patch.object(AppriseService, "send", send):
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(notifier.post("mail", NewMessage(HOT, nonce="n1")))
            await asyncio.to_thread(began.wait, 60)
            first.cancel()  # as delivery does after some seconds
        async with asyncio.TaskGroup() as tasks:
            again = tasks.create_task(notifier.post("mail", NewMessage(HOT, nonce="n2")))
            await asyncio.sleep(0)
            goes_on.set()
    assert first.cancelled()
    assert again.result() == "n2"
    assert sent == ["gpu-a04 is hot"]


async def test_markup_of_outside_is_text_in_a_mail() -> None:
    hostile = replace(HOT, blocks=(Paragraph(text=text("<script>alert(1)</script> & <b>bold</b>")),))
    async with MailServer.running() as server:
        await a_notifier(mail_to(server)).post("mail", NewMessage(hostile, nonce="n1"))
        (mail,) = server.mails
    assert "<script>" not in _html(mail)


async def test_each_color_is_a_type_of_apprise() -> None:
    async with WebhookReceiver.running() as receiver:
        notifier = a_notifier(receiver.url.replace("http://", "json://"))
        for color in (Color.CRITICAL, Color.WARNING, Color.GOOD, Color.BUSY):
            await notifier.post("mail", NewMessage(replace(HOT, color=color), nonce=color.value))
    assert [one["type"] for one in receiver.bodies] == ["failure", "warning", "success", "info"]


# What the documentation of each service says that a message is sent as.
SERVICES = [
    ("dingtalk://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/", "oapi.dingtalk.com/"),
    ("feishu://aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee/", "open.feishu.cn/open-apis/bot/v2/hook"),
    ("wecombot://aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee/", "qyapi.weixin.qq.com/cgi-bin/webhook/send"),
    ("workflows://host.example:443/workflow1a/signature1a/", "host.example"),
    ("tgram://123456789:abcdefghijklmnopqrstuvwxyzABCDEFGHI/-10012345/", "api.telegram.org/bot"),
]


@pytest.mark.parametrize(("address", "where"), SERVICES, ids=[one[0].partition(":")[0] for one in SERVICES])
async def test_the_request_that_a_service_gets(address: str, where: str) -> None:
    sent: list[tuple[str, str]] = []

    def post(url: str, data: Any = None, **more: Any) -> Any:
        sent.append((url, f"{data} {more.get('json')}"))
        return _Answer()

    with (
        patch("requests.post", post),
        patch("requests.request", lambda _method, url, **more: post(url, **more)),
    ):
        await a_notifier(address).post("mail", NewMessage(HOT, nonce="n1"))
    assert sent
    assert where in sent[-1][0]
    assert "gpu-a04 is hot" in sent[-1][1]


class _Answer:
    """What every one of them takes for success."""

    status_code = 200
    content = b'{"errcode": 0, "code": 0, "ok": true, "result": {}}'
    text = content.decode()
    headers: Mapping[str, str] = MappingProxyType({})

    def json(self) -> dict[str, Any]:
        return {"errcode": 0, "code": 0, "ok": True, "result": {}}


@pytest.mark.parametrize("address", ["nothing://p4ssw0rd", "p4ssw0rd", ""])
async def test_an_address_that_apprise_does_not_know_refuses_the_channel_without_showing_it(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(Permanent) as caught:
        await a_notifier(address).post("mail", NewMessage(HOT, nonce="n1"))
    assert caught.value.refuses is Refuses.CHANNEL
    assert "p4ssw0rd" not in f"{caught.value!r} {caplog.text}"


async def test_the_doctor_says_what_is_wrong(tmp_path: Path) -> None:
    def settings(**address: str) -> Settings:
        return Settings.model_validate({"channels": {"mail": {"apprise": address}}})

    (right,) = await diagnose_apprise(settings(url="mailto://u:p@example.com"))
    (wrong,) = await diagnose_apprise(settings(url="nothing://p4ssw0rd"))
    (absent,) = await diagnose_apprise(settings(url_file=str(tmp_path / "absent")))
    assert [one.level for one in (right, wrong, absent)] == [FindingLevel.OK, *[FindingLevel.BROKEN] * 2]
    assert "p4ssw0rd" not in f"{wrong}"
    with patch.dict("sys.modules", {"apprise": None}):
        (missing,) = await diagnose_apprise(settings(url="mailto://u:p@example.com"))
    assert NOT_INSTALLED in missing.text


async def test_what_is_too_long_is_cut_and_attached() -> None:
    class Small(AppriseService):
        def __init__(self, address: str) -> None:
            super().__init__(address)
            self._service.body_maxlen = 100

    async with MailServer.running() as server:
        service = Small(mail_to(server))
        await asyncio.to_thread(
            service.send, AppriseMessage(title="hot", body="x" * 500 + "end", color=Color.CRITICAL)
        )
        (mail,) = server.mails
    attached = [part for part in mail.walk() if part.get_filename() == "card.txt"]
    assert "end" not in _body(mail)
    assert "end" in str(attached[0].get_payload(decode=True))


def _parts(mail: Any, kind: str) -> str:
    texts = [part for part in mail.walk() if part.get_content_type() == kind and not part.get_filename()]
    return "\n".join(part.get_payload(decode=True).decode() for part in texts)


def _body(mail: Any) -> str:
    return _parts(mail, "text/plain") + _parts(mail, "text/html")


def _html(mail: Any) -> str:
    return _parts(mail, "text/html")
