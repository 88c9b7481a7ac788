"""This file asks Slack who somebody is, and who is in a user group."""

from collections.abc import Sequence

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.people import Account
from collectors.facts.errors import SourceError


class SlackDirectory:
    """Slack's people. `team` is our own workspace: whoever is of another is an outsider."""

    def __init__(self, client: AsyncWebClient, *, team: str) -> None:
        self._client = client
        self._team = team

    async def account(self, id: str) -> Account:
        """The person behind an id. Raises SourceError."""
        try:
            user = (await self._client.users_info(user=id))["user"]
        except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
            raise SourceError(f"Slack does not say who {id} is: {type(error).__name__}") from error
        is_guest = user.get("is_restricted") or user.get("is_ultra_restricted") or user.get("is_stranger")
        is_nobody = user.get("deleted") or user.get("is_bot")
        is_foreign = bool(self._team) and user.get("team_id", self._team) != self._team
        profile = user.get("profile", {})
        name = profile.get("display_name") or user.get("name") or profile.get("real_name") or id
        return Account(id=id, name=name, is_outsider=bool(is_guest or is_nobody or is_foreign))

    async def members(self, group: str) -> Sequence[str]:
        """The ids of a user group's members. Raises SourceError."""
        try:
            users = (await self._client.usergroups_users_list(usergroup=group))["users"]
        except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
            raise SourceError(f"Slack does not say who is in {group}: {type(error).__name__}") from error
        return [str(user) for user in users]
