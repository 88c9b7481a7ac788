"""The log of the socket has no ticket, with which somebody else could connect."""

import logging

import pytest

from bot.channels.slack.socket_mode import quiet_logger

ADDRESS = "wss://slack.test/link/?ticket=abc-123&app_id=1"


def test_a_refused_connection_is_logged_without_its_ticket(caplog: pytest.LogCaptureFixture) -> None:
    logger = quiet_logger()
    assert quiet_logger() is logger
    with caplog.at_level(logging.WARNING, logger.name):
        try:
            raise ConnectionError(f"408, url='{ADDRESS}'")
        except ConnectionError as error:
            logger.exception("Failed to connect (error: %s)", error)
    assert "abc-123" not in caplog.text
    assert "ticket=[redacted]&app_id=1" in caplog.text
