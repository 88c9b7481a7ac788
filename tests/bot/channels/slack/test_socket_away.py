"""Slack that is away when the socket is opened is a line in the log, not a bug with its traceback."""

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from bot.channels.slack import socket_mode
from bot.channels.slack.integration import bolt_app
from bot.channels.slack.socket_mode import Socket
from bot.channels.slack.web_client import SlackClient
from bot.settings.secrets import Secret
from tests.bot.channels.slack.conftest import Harness


async def test_a_slack_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_mode, "DEAD", timedelta(seconds=0.2))  # it tries again until then
    async with SlackClient("xoxb-1", api_url="http://127.0.0.1:9/") as client:
        with capture_logs() as logs:
            await Socket(bolt_app(client), Secret(value="xapp-1")).run()
    (entry,) = [one for one in logs if one["event"] == "slack socket cannot be opened"]
    assert entry["reason"] == "apps.connections.open: no answer: it does not answer in time"
    assert not any("exc_info" in one for one in logs)


async def test_a_token_that_slack_refuses(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_mode, "DEAD", timedelta(seconds=2))  # it tries again until then
    with capture_logs() as logs:
        await Socket(bolt_app(harness.calls), Secret(value="xapp-wrong")).run()
    (entry,) = [one for one in logs if one["event"] == "slack socket cannot be opened"]
    assert "apps.connections.open" in {call.method for call in harness.slack.calls if call.outcome != "ok"}
    assert "xapp-wrong" not in str(logs)
    assert entry["log_level"] == "warning"
