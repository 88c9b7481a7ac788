"""Modals: opened with short-lived triggers, stacked up to three, and updated by hash."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import SlackLookalike
from demo.lookalikes.slack.limits import documented
from tests.demo.lookalikes.slack.conftest import Refused


def modal(title: str = "One", **more: Any) -> dict[str, Any]:
    return {
        "type": "modal",
        "title": {"type": "plain_text", "text": title},
        "blocks": [{"type": "divider"}],
        **more,
    }


@pytest.fixture
def trigger(slack: SlackLookalike) -> Callable[[], str]:
    """Return a function that issues trigger ids for ana."""
    ana = slack.workspace.directory.person("ana")
    return lambda: slack.workspace.new_trigger(ana)


async def test_a_trigger_opens_one_view(
    slack: SlackLookalike, client: AsyncWebClient, trigger: Callable[[], str], refused: Refused
) -> None:
    ident = trigger()
    opened = await client.views_open(trigger_id=ident, view=modal(private_metadata="kept"))
    assert slack.views("ana")[0]["id"] == opened["view"]["id"]
    assert opened["view"]["private_metadata"] == "kept"
    error = await refused(client.views_open(trigger_id=ident, view=modal()))
    assert error.response["error"] == "exchanged_trigger_id"


async def test_a_trigger_expires_after_three_seconds(
    slack: SlackLookalike, client: AsyncWebClient, trigger: Callable[[], str], refused: Refused
) -> None:
    ident = trigger()
    slack.forward(timedelta(seconds=documented()["trigger_seconds"], milliseconds=1))
    error = await refused(client.views_open(trigger_id=ident, view=modal()))
    assert error.response["error"] == "expired_trigger_id"
    error = await refused(client.views_open(trigger_id="1.2.3", view=modal()))
    assert error.response["error"] == "invalid_trigger_id"


async def test_up_to_three_views_can_be_stacked(
    slack: SlackLookalike, client: AsyncWebClient, trigger: Callable[[], str], refused: Refused
) -> None:
    await client.views_open(trigger_id=trigger(), view=modal("One"))
    await client.views_push(trigger_id=trigger(), view=modal("Two"))
    third = await client.views_push(trigger_id=trigger(), view=modal("Three"))
    assert third["view"]["root_view_id"] == slack.views("ana")[0]["id"]
    assert third["view"]["previous_view_id"] == slack.views("ana")[1]["id"]
    error = await refused(client.views_push(trigger_id=trigger(), view=modal("Four")))
    assert error.response["error"] == "push_limit_reached"


async def test_a_view_is_updated_only_with_its_current_hash(
    slack: SlackLookalike, client: AsyncWebClient, trigger: Callable[[], str], refused: Refused
) -> None:
    opened = (await client.views_open(trigger_id=trigger(), view=modal(external_id="plan-7")))["view"]
    await client.views_update(
        external_id="plan-7", hash=opened["hash"], view=modal("Two", external_id="plan-7")
    )
    assert slack.views("ana")[0]["title"]["text"] == "Two"
    error = await refused(client.views_update(view_id=opened["id"], hash=opened["hash"], view=modal("Three")))
    assert error.response["error"] == "hash_conflict"


async def test_a_closed_view_cannot_be_updated(
    slack: SlackLookalike, client: AsyncWebClient, trigger: Callable[[], str], refused: Refused
) -> None:
    opened = (await client.views_open(trigger_id=trigger(), view=modal()))["view"]
    await slack.closes("ana", opened)
    error = await refused(client.views_update(view_id=opened["id"], view=modal()))
    assert error.response["error"] == "not_found"


async def test_an_invalid_view_is_refused_with_the_location_of_the_error(
    client: AsyncWebClient, trigger: Callable[[], str], refused: Refused
) -> None:
    error = await refused(client.views_open(trigger_id=trigger(), view=modal("x" * 25)))
    assert error.response["error"] == "invalid_arguments"
    message = "[ERROR] must be less than 25 characters [json-pointer:/view/title/text]"
    assert message in error.response["response_metadata"]["messages"]


async def test_a_view_that_is_too_large_is_refused(
    slack: SlackLookalike, client: AsyncWebClient, trigger: Callable[[], str], refused: Refused
) -> None:
    section = {"type": "section", "text": {"type": "plain_text", "text": "x" * 2900}}
    error = await refused(client.views_open(trigger_id=trigger(), view=modal(blocks=[section] * 99)))
    assert error.response["error"] == "view_too_large"


async def test_a_home_tab_has_no_table(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused
) -> None:
    table = {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}
    published = client.views_publish(user_id=slack.id("ana"), view={"type": "home", "blocks": [table]})
    error = (await refused(published)).response
    assert error["error"] == "invalid_arguments"
    assert "unsupported type: table" in error["response_metadata"]["messages"][0]
