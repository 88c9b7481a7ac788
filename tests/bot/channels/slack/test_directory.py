"""The Slack directory: nobody is admitted before our workspace is known."""

import pytest

from bot.channels.slack.directory import SlackDirectory
from collectors.facts.results import SourceError
from tests.bot.channels.slack.conftest import Harness


async def test_nobody_is_known_before_our_workspace_is_known(harness: Harness) -> None:
    directory = SlackDirectory(harness.calls)
    harness.slack.fail("auth.test", 503, times=1)
    with pytest.raises(SourceError, match=r"look up our own workspace in Slack: auth\.test"):
        await directory.account(harness.slack.id("ana"))
    account = await directory.account(harness.slack.id("ana"))
    assert (account.name, account.is_outsider) == ("ana", False)


async def test_a_response_without_a_workspace_admits_nobody(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def identity() -> dict[str, str]:
        return {"user_id": "U_BOT", "bot_id": "B_BOT"}

    monkeypatch.setattr(harness.calls, "identity", identity)
    with pytest.raises(SourceError, match="look up our own workspace in Slack"):
        await SlackDirectory(harness.calls).account(harness.slack.id("ana"))


async def test_a_guest_is_an_outsider(harness: Harness) -> None:
    assert (await SlackDirectory(harness.calls).account(harness.slack.id("gus"))).is_outsider
