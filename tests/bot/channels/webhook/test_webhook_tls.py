"""Webhooks over TLS: only a trusted certificate gets the credentials."""

import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.channels.webhook.opening import endpoint_of
from bot.delivery.notifier_protocol import NewMessage, Permanent, Refuses
from bot.settings.channels import WebhookSettings
from demo.parts.processes import find_program
from tests.bot.channels.webhook.conftest import NotifierOf
from tests.real.fixtures import present_or_skip
from tests.support.incidents import an_incident_message
from tests.support.webhook_receiver import WebhookReceiver

MESSAGE = an_incident_message("gpu-a04 is hot")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1, and its key."""
    openssl = present_or_skip(lambda: find_program("openssl", get_it="install the Debian package openssl"))
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    new = (openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=server")
    files = ("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert)
    subprocess.run((*new, *files), check=True, capture_output=True, timeout=60)
    return cert, key


@pytest.fixture
async def over_tls(certificate: tuple[Path, Path]) -> AsyncIterator[WebhookReceiver]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    async with WebhookReceiver.running(context) as receiver:
        yield receiver


@pytest.mark.parametrize("is_trusted", [True, False], ids=["its own CA", "not verified"])
async def test_a_trusted_receiver_gets_the_incident(
    over_tls: WebhookReceiver, notifier_of: NotifierOf, certificate: tuple[Path, Path], is_trusted: bool
) -> None:
    tls: dict[str, Any] = {"ca_file": str(certificate[0])} if is_trusted else {"insecure_skip_verify": True}
    await notifier_of(url=over_tls.url, tls_config=tls).post("night", NewMessage(MESSAGE, nonce="n1"))
    assert len(over_tls.bodies) == 1


async def test_a_receiver_that_is_not_trusted_gets_nothing(
    over_tls: WebhookReceiver, notifier_of: NotifierOf
) -> None:
    with pytest.raises(Permanent, match="webhook night: its certificate cannot be verified") as caught:
        await notifier_of(url=over_tls.url).post("night", NewMessage(MESSAGE, nonce="n1"))
    assert caught.value.refuses is Refuses.CHANNEL
    assert over_tls.headers == []


def test_a_missing_certificate_is_named(tmp_path: Path) -> None:
    settings = WebhookSettings.model_validate(
        {"url": "https://example.com", "tls_config": {"ca_file": str(tmp_path / "absent.crt")}}
    )
    with pytest.raises(ValueError, match=r"channels\.night\.webhook\.tls_config"):
        endpoint_of("night", settings)
