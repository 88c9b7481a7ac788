"""This file asks Slack who somebody is: nobody is served before we know which workspace is ours."""

import pytest

from bot.channels.slack.directory import SlackDirectory
from collectors.facts.results import SourceError
from tests.bot.channels.slack.conftest import Harness


async def test_nobody_is_known_until_slack_has_said_which_workspace_is_ours(harness: Harness) -> None:
    directory = SlackDirectory(harness.calls)
    harness.slack.fail("auth.test", 503, times=1)
    with pytest.raises(SourceError, match=r"which workspace is ours: auth\.test"):
        await directory.account(harness.slack.id("ana"))
    account = await directory.account(harness.slack.id("ana"))
    assert (account.name, account.is_outsider) == ("ana", False)


async def test_an_answer_without_a_workspace_opens_nothing(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ourselves() -> dict[str, str]:
        return {"user_id": "U_BOT", "bot_id": "B_BOT"}

    monkeypatch.setattr(harness.calls, "ourselves", ourselves)
    with pytest.raises(SourceError, match="which workspace is ours"):
        await SlackDirectory(harness.calls).account(harness.slack.id("ana"))


async def test_a_guest_is_an_outsider(harness: Harness) -> None:
    assert (await SlackDirectory(harness.calls).account(harness.slack.id("gus"))).is_outsider
