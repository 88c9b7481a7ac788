"""Diagnosis of Slack: the tokens, their scopes, the channels that the bot must be in, and the teams' user groups."""

from collections.abc import Iterable, Sequence

from alerts.cards.channel_id import kind_and_name
from bot.channels.slack.directory import user_groups
from bot.channels.slack.web_client import SlackClient
from bot.delivery.notifier_protocol import Permanent, SendError
from bot.settings.identity_types import token_error
from bot.settings.routes import RouteSettings
from bot.settings.schema import Settings
from bot.settings.secrets import SecretError
from bot.settings.section import secret
from collectors.facts.findings import Finding, broken, ok, warning
from collectors.facts.sentences import sentence

# Those of docs/slack-manifest.yaml, with their reasons in docs/slack.md.
BOT_SCOPES = (
    "app_mentions:read",
    "channels:history",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "im:history",
    "im:write",
    "usergroups:read",
    "users:read",
)


_REINSTALL = "then install the app into the workspace again"
_TOKEN_PAGE = "the app's page in Slack, OAuth & Permissions"
_FIXES = {
    "invalid_auth": f"put the bot token of {_TOKEN_PAGE}, into slack.bot_token: it begins with xoxb-",
    "not_authed": f"put the bot token of {_TOKEN_PAGE}, into slack.bot_token: it begins with xoxb-",
    "token_revoked": f"install the app into the workspace again, and take its new token from {_TOKEN_PAGE}",
    "account_inactive": "the app or its bot was removed from the workspace: install it again",
    "not_allowed_token_type": "the token is of another type: bot_token begins with xoxb-, app_token with xapp-",
}


async def diagnose_slack(settings: Settings) -> Sequence[Finding]:
    """Return what is missing in Slack; nothing if the settings have no Slack. It posts nothing that people see."""
    slack = settings.slack
    if slack is None:
        return ()
    token, app_token = (
        secret(slack.bot_token, slack.bot_token_file),
        secret(slack.app_token, slack.app_token_file),
    )
    assert token is not None
    try:
        texts = (token(), app_token() if app_token is not None else "")
    except SecretError as error:
        return [broken(str(error), "correct the file that slack names")]
    for text, is_app in zip(texts, (False, True), strict=True):
        if error_text := token_error(text, is_app=is_app):
            name = "app_token" if is_app else "bot_token"
            return [broken(f"slack.{name} {error_text}", _FIXES["not_allowed_token_type"])]
    async with SlackClient(texts[0], api_url=slack.api_url) as client:
        found = await _bot(client)
        if client.known_identity:
            found += [await _channel(client, one) for one in _channels(settings)]
            found += _fallback(settings)
            found += await _groups(client, settings)
        if texts[1]:
            found.append(await _app(client, texts[1]))
    return found


async def _bot(client: SlackClient) -> list[Finding]:
    try:
        identity = await client.identity()
    except SendError as error:
        return [broken(f"Slack does not answer for the bot token: {error}", _fix(error))]
    found = [ok(f"the bot is @{identity.get('user', '?')} in the workspace {identity.get('team', '?')}")]
    given = client.scopes
    if given and (missing := [scope for scope in BOT_SCOPES if scope not in given]):
        text = f"the bot token lacks the scope {', '.join(missing)}"
        return [*found, broken(text, f"add it under OAuth & Permissions, Bot Token Scopes; {_REINSTALL}")]
    return found


async def _channel(client: SlackClient, id: str) -> Finding:
    """Return whether the bot is in a channel and may post there. It needs no more than the scopes that it has."""
    try:
        await client.call("conversations.history", client.web.conversations_history(channel=id, limit=1))
        await _check_open(client, id)
    except SendError as error:
        code = _code(error)
        if code in ("not_in_channel", "channel_not_found"):
            text = f"the bot is not in the channel {id}, or there is no such channel"
            return broken(text, f"type `/invite @yardmaster` in {id}; check the id at the end of its details")
        if code == "is_archived":
            return broken(f"the channel {id} is archived", "unarchive it, or use another in the settings")
        return broken(f"the channel {id} cannot be read: {error}", _fix(error))
    return ok(f"the bot is in the channel {id}")


async def _check_open(client: SlackClient, id: str) -> None:
    """Raise SendError if the channel is archived: it can still be read then. Only the bot could see the message."""
    bot = str(client.known_identity.get("user_id", ""))
    try:
        call = client.web.chat_postEphemeral(channel=id, user=bot, text="Can this channel be posted to?")
        await client.call("chat.postEphemeral", call)
    except SendError as error:
        if _code(error) == "is_archived":
            raise


def _fallback(settings: Settings) -> list[Finding]:
    """Return whether the fallback is away together with Slack."""
    kinds = {kind_and_name(channel)[0] for channel in settings.fallback.channels}
    if kinds != {"slack"}:
        return []
    text = sentence("the fallback has channels of Slack only, which are away when Slack is")
    return [warning(text, sentence("add a channel of another kind to fallback.channels"))]


async def _groups(client: SlackClient, settings: Settings) -> list[Finding]:
    named = {name: team.slack_groups for name, team in settings.teams.items() if team.slack_groups}
    if not named:
        return []
    try:
        groups = await user_groups(client)
    except SendError as error:
        return [broken(f"the user groups cannot be read: {error}", _fix(error))]
    found = []
    for name, of_it in named.items():
        for group in of_it:
            if group not in groups:
                text = f"the user group {group} of the team {name} does not exist, or is disabled"
                found.append(
                    broken(text, f"use the id in the user group's URL, or leave it out of teams.{name}")
                )
            elif not groups[group]:
                text = f"the user group {group} of the team {name} has no members"
                found.append(warning(text, "add the people who may use its commands"))
    return found


async def _app(client: SlackClient, token: str) -> Finding:
    try:
        call = client.without_token().apps_connections_open(app_token=token)
        await client.call("apps.connections.open", call)
    except SendError as error:
        fix = "generate an app-level token with the scope connections:write, and turn Socket Mode on"
        return broken(f"Socket Mode cannot be opened with the app token: {error}", fix)
    return ok("Socket Mode can be opened with the app token")


def _channels(settings: Settings) -> list[str]:
    """Return the ids of all Slack channels that the settings name."""
    assert settings.slack is not None
    found = [settings.slack.channel]

    def visit(routes: Iterable[RouteSettings]) -> None:
        for route in routes:
            pairs = [kind_and_name(channel) for channel in route.channels]
            found.extend(name for kind, name in pairs if kind == "slack")
            visit(route.routes)

    visit(settings.routes)
    others = (*settings.fallback.channels, *(team.channel for team in settings.teams.values()))
    found.extend(name for kind, name in map(kind_and_name, others) if kind == "slack")
    return list(dict.fromkeys(found))


def _code(error: SendError) -> str:
    return str(error).rpartition(": ")[2]


def _fix(error: SendError) -> str:
    if not isinstance(error, Permanent):
        return "check the network's way to Slack, and slack.api_url"
    return _FIXES.get(_code(error), "see the error's meaning in Slack's documentation of the method")
