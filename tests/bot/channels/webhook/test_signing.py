"""A signed body: a receiver checks it as docs/channels.md says."""

import hmac
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from bot.channels.webhook.signing import SIGNATURE, TIMESTAMP, signed
from bot.delivery.notifier_protocol import NewMessage, Permanent, Refuses
from tests.bot.channels.webhook.conftest import NotifierOf
from tests.support.incidents import an_incident_message
from tests.support.webhook_receiver import WebhookReceiver
from tests.support.yard import NOON

MESSAGE = an_incident_message("gpu-a04 is hot")


async def test_the_receiver_of_a_body_can_check_who_sent_it_and_when(
    notifier_of: NotifierOf, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    file.write_text("a-signing-key\n")
    await notifier_of(signing_secret_file=str(file)).post("night", NewMessage(MESSAGE, nonce="n1"))
    (headers,), (raw,) = receiver.headers, receiver.raw
    assert headers[TIMESTAMP] == str(int(NOON.timestamp()))
    expected = hmac.new(b"a-signing-key", headers[TIMESTAMP].encode() + b"." + raw, sha256).hexdigest()
    assert headers[SIGNATURE] == f"v1={expected}"


async def test_nothing_is_signed_without_a_key(notifier_of: NotifierOf, receiver: WebhookReceiver) -> None:
    await notifier_of().post("night", NewMessage(MESSAGE, nonce="n1"))
    assert SIGNATURE not in receiver.headers[0]


async def test_a_body_is_not_sent_unsigned_when_the_key_cannot_be_read(
    notifier_of: NotifierOf, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    with pytest.raises(Permanent, match="cannot read the secret") as caught:
        await notifier_of(signing_secret_file=str(tmp_path / "none")).post(
            "night", NewMessage(MESSAGE, nonce="n1")
        )
    assert caught.value.refuses is Refuses.CHANNEL
    assert receiver.bodies == []


def test_another_time_or_body_has_another_signature() -> None:
    one = signed(b"{}", "key", NOON)[SIGNATURE]
    assert one != signed(b"{}", "key", NOON + timedelta(seconds=1))[SIGNATURE]
    assert one != signed(b"[]", "key", NOON)[SIGNATURE]
