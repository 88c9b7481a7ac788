"""This file asks Slack who somebody is, and who is in a user group."""

from collections.abc import Sequence

import aiohttp
from slack_sdk.errors import SlackClientError

from bot.channels.slack.web_client import SlackClient
from bot.delivery.notifier_protocol import SendError
from bot.people import Account
from collectors.facts.results import SourceError


class SlackDirectory:
    """Slack's people. Whoever is of another workspace than we are is an outsider."""

    def __init__(self, client: SlackClient) -> None:
        self._client = client

    async def account(self, id: str) -> Account:
        """The person behind an id. Raises SourceError, also while we do not know which workspace is ours."""
        team = await self._team()
        try:
            user = (await self._client.web.users_info(user=id))["user"]
        except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
            raise SourceError(f"Slack does not say who {id} is: {type(error).__name__}") from error
        is_guest = user.get("is_restricted") or user.get("is_ultra_restricted") or user.get("is_stranger")
        is_nobody = user.get("deleted") or user.get("is_bot")
        is_foreign = user.get("team_id", team) != team
        profile = user.get("profile", {})
        name = profile.get("display_name") or user.get("name") or profile.get("real_name") or id
        return Account(id=id, name=name, is_outsider=bool(is_guest or is_nobody or is_foreign))

    async def _team(self) -> str:
        """Our own workspace's id: asked for until Slack has said it once."""
        try:
            team = (await self._client.ourselves()).get("team_id")
        except SendError as error:
            raise SourceError(f"Slack does not say which workspace is ours: {error}") from error
        if not team:
            raise SourceError("Slack does not say which workspace is ours")
        return str(team)

    async def members(self, group: str) -> Sequence[str]:
        """The ids of a user group's members. Raises SourceError."""
        try:
            users = (await self._client.web.usergroups_users_list(usergroup=group))["users"]
        except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
            raise SourceError(f"Slack does not say who is in {group}: {type(error).__name__}") from error
        return [str(user) for user in users]
