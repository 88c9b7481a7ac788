"""People, guests, strangers, groups, members, joining, reactions and pins."""

from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import SlackLookalike
from tests.demo.lookalikes.slack.conftest import Refused


async def test_guests_and_strangers_are_marked(slack: SlackLookalike, client: AsyncWebClient) -> None:
    ana, gus, eve = [(await client.users_info(user=slack.id(name)))["user"] for name in ("ana", "gus", "eve")]
    assert (ana["is_restricted"], gus["is_restricted"]) == (False, True)
    assert (ana["team_id"] == eve["team_id"], eve["is_stranger"]) == (False, True)


async def test_groups_list_their_members(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused
) -> None:
    (group,) = (await client.usergroups_list())["usergroups"]
    assert group["handle"] == "sre"
    assert "users" not in group
    users = (await client.usergroups_users_list(usergroup=group["id"]))["users"]
    assert users == [slack.id("ana"), slack.id("bo")]
    assert (await refused(client.usergroups_users_list(usergroup="S1"))).response[
        "error"
    ] == "no_such_subteam"


async def test_people_are_found_by_email(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused
) -> None:
    found = await client.users_lookupByEmail(email="ANA@yard.example")
    assert found["user"]["id"] == slack.id("ana")
    assert (await refused(client.users_lookupByEmail(email="x@y.z"))).response["error"] == "users_not_found"


async def test_members_are_paged(slack: SlackLookalike, client: AsyncWebClient) -> None:
    members: list[str] = []
    async for page in await client.conversations_members(channel=slack.id("#gpu-alerts"), limit=2):
        members += page["members"]
    assert set(members) == {slack.id(name) for name in ("ana", "bo", "gus", "eve")} | {slack.bot}


async def test_the_bot_joins_and_leaves_a_channel(slack: SlackLookalike, client: AsyncWebClient) -> None:
    await client.conversations_join(channel=slack.id("#quiet"))
    await client.chat_postMessage(channel=slack.id("#quiet"), text="hello")
    slack.leaves("yardmaster", "#quiet")
    assert (await client.conversations_info(channel=slack.id("#quiet")))["channel"]["is_member"] is False


async def test_reactions_are_added_once_and_removed_once(
    slack: SlackLookalike, client: AsyncWebClient, refused: Refused
) -> None:
    at = {"channel": slack.id("#gpu-alerts")}
    ts = (await client.chat_postMessage(channel=at["channel"], text="x"))["ts"]
    await client.reactions_add(name="eyes", timestamp=ts, **at)
    error = await refused(client.reactions_add(name="eyes", timestamp=ts, **at))
    assert error.response["error"] == "already_reacted"
    slack.reacts("ana", slack.messages("#gpu-alerts")[0], "eyes")
    await client.reactions_remove(name="eyes", timestamp=ts, **at)
    (left,) = slack.messages("#gpu-alerts")[0].body["reactions"]
    assert left == {"name": "eyes", "users": [slack.id("ana")], "count": 1}
    assert (await refused(client.reactions_remove(name="eyes", timestamp=ts, **at))).response[
        "error"
    ] == "no_reaction"


async def test_a_message_is_pinned_and_unpinned(slack: SlackLookalike, client: AsyncWebClient) -> None:
    at = {"channel": slack.id("#gpu-alerts")}
    ts = (await client.chat_postMessage(channel=at["channel"], text="x"))["ts"]
    await client.pins_add(timestamp=ts, **at)
    assert slack.messages("#gpu-alerts")[0].body["pinned_to"] == [at["channel"]]
    await client.pins_remove(timestamp=ts, **at)
    assert "pinned_to" not in slack.messages("#gpu-alerts")[0].body
