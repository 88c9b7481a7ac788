"""Slack's users and user groups."""

from collections.abc import Awaitable
from typing import Any

from bot.channels.slack.web_client import SlackClient
from bot.chat_accounts import Account, Groups
from bot.delivery.notifier_protocol import Permanent, Refuses, SendError
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence


class SlackDirectory:
    """A Directory of Slack's users. Users of another workspace are outsiders."""

    def __init__(self, client: SlackClient) -> None:
        self._client = client

    async def account(self, id: str) -> Account:
        """Return the account of an id. Raises SourceError, also while our own workspace is unknown."""
        team = await self._team()
        user = (await self._call("users.info", self._client.web.users_info(user=id), id))["user"]
        is_guest = user.get("is_restricted") or user.get("is_ultra_restricted") or user.get("is_stranger")
        is_inactive_or_bot = user.get("deleted") or user.get("is_bot")
        is_foreign = user.get("team_id", team) != team
        profile = user.get("profile", {})
        name = profile.get("display_name") or user.get("name") or profile.get("real_name") or id
        return Account(id=id, name=name, is_outsider=bool(is_guest or is_inactive_or_bot or is_foreign))

    async def groups(self) -> Groups:
        """Return the members of every user group, as `user_groups` does. Raises SourceError."""
        try:
            return await user_groups(self._client)
        except SendError as error:
            raise _not_looked_up("user groups", error) from error

    async def _team(self) -> str:
        """Return our own workspace's id. It is queried until Slack has answered once."""
        try:
            team = (await self._client.identity()).get("team_id")
        except SendError as error:
            raise SourceError(
                sentence("cannot look up our own workspace in Slack: {error}", error=said_by(error))
            ) from error
        if not team:
            raise SourceError(sentence("cannot look up our own workspace in Slack: no team_id in the answer"))
        return str(team)

    async def _call(self, method: str, call: Awaitable[Any], of: str) -> Any:
        try:
            return await self._client.call(method, call)
        except SendError as error:
            raise _not_looked_up(of, error) from error


async def user_groups(client: SlackClient) -> Groups:
    """Return the members of every user group that is not disabled, by its id. Raises SendError.

    Slack answers 20 such calls a minute, those of single groups too: a call for each would use them up.
    """
    answer = await client.call("usergroups.list", client.web.usergroups_list(include_users=True))
    return {str(one["id"]): [str(user) for user in one.get("users", ())] for one in answer["usergroups"]}


def _not_looked_up(what: str, error: SendError) -> SourceError:
    is_temporary = not isinstance(error, Permanent) or error.refuses is Refuses.CHAT
    return SourceError(
        sentence("cannot look up {about} in Slack: {error}", about=what, error=said_by(error)),
        temporary=is_temporary,
    )
