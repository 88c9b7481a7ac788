"""Short logs of the bot: one plain line per entry, without colors and local variables; and no certificates."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog


@pytest.fixture(autouse=True)
def _plain_log() -> Iterator[None]:
    structlog.reset_defaults()  # the command line of an earlier test set where it logs to
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["level", "event"]),
        ]
    )
    yield
    structlog.reset_defaults()


@pytest.fixture(autouse=True)
def _no_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing here speaks TLS, and to read the system's certificates is a third of what the bot's start takes."""
    nowhere: Path = tmp_path_factory.getbasetemp() / "no-certificates"
    monkeypatch.setenv("SSL_CERT_FILE", str(nowhere))
    monkeypatch.setenv("SSL_CERT_DIR", str(nowhere))


@pytest.fixture(params=[False, True], ids=["Socket Mode", "signed requests"])
def is_http(request: pytest.FixtureRequest) -> bool:
    """How what people do reaches the bot."""
    return bool(request.param)
