"""Slack's slash commands, messages, button clicks and modals as interactions."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from alerts.cards.channel_id import channel_id
from bot.channels.interaction import Interaction, InteractionFile
from bot.channels.slack.elements import pressed_line
from bot.channels.slack.form_view import metadata_of
from bot.channels.slack.unescaping import unescape

KIND = "slack"
ABOUT = "what_is_this"  # callback id of the shortcut on a message

SlackPayload = Mapping[str, Any]


def from_slash(body: SlackPayload, at: datetime) -> Interaction:
    """Return the interaction of a slash command."""
    return Interaction(
        id=f"slash/{body['trigger_id']}",
        via=KIND,
        user_id=body["user_id"],
        workspace=body.get("team_id", ""),
        text=unescape(body.get("text", "")),
        channel=channel_id(KIND, body.get("channel_id", "")),
        at=at,
        answer_to=body.get("response_url", ""),
        trigger=body["trigger_id"],
    )


def from_message(body: SlackPayload, at: datetime, *, bot: str) -> Interaction | None:
    """Return the interaction of a mention or a direct message; None for any other message, or a bot's.

    `bot` is our own user id, empty while Slack has not answered since the start: then any leading mention is ours.
    One message may arrive as two events, so its channel and timestamp identify it, not the event's id.
    """
    event = body["event"]
    is_typed = event.get("subtype") in (None, "file_share", "thread_broadcast")
    is_direct = event.get("channel_type") == "im" or str(event.get("channel", "")).startswith("D")
    if not is_typed or event.get("bot_id") or not event.get("user"):
        return None
    if event["type"] == "message" and not is_direct:
        return None
    ours = re.escape(bot) if bot else "[^>|]+"
    line = re.sub(rf"^\s*<@{ours}(?:\|[^>]*)?>[\s:,]*", "", event.get("text", ""))
    return Interaction(
        id=f"message/{body.get('team_id', '')}/{event['channel']}/{event['ts']}",
        via=KIND,
        user_id=event["user"],
        workspace=event.get("user_team") or event.get("team") or body.get("team_id", ""),
        text=unescape(line),
        channel=channel_id(KIND, event["channel"]),
        at=at,
        thread=event.get("thread_ts", ""),
        message_id=event["ts"],
        files=tuple(map(_file, event.get("files") or ())),
    )


def from_action(body: SlackPayload, action: SlackPayload, at: datetime) -> Interaction | None:
    """Return the interaction of a button or menu choice whose value is a command line, else None."""
    line = pressed_line(action)
    if not line:
        return None
    container = body.get("container") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id", "") or _home_channel(body)
    message_ts = container.get("message_ts", "")
    user = body["user"]["id"]
    place = f"{channel}/{message_ts or container.get('view_id', '')}"
    return Interaction(
        id=f"click/{place}/{user}/{action.get('action_id', '')}/{action.get('action_ts', '')}",
        via=KIND,
        user_id=user,
        workspace=body["user"].get("team_id") or (body.get("team") or {}).get("id", ""),
        text=line,
        channel=channel_id(KIND, channel),
        at=at,
        thread=container.get("thread_ts", ""),
        message_id=message_ts,
        is_click=True,
        is_ephemeral=bool(container.get("is_ephemeral")),
        answer_to=body.get("response_url", ""),
        trigger=body.get("trigger_id", ""),
    )


def from_message_shortcut(body: SlackPayload, at: datetime) -> Interaction:
    """Return the interaction of somebody who asks what a message is."""
    message = body["message"]
    return Interaction(
        id=f"shortcut/{body.get('action_ts', '')}/{body['user']['id']}/{body['message_ts']}",
        via=KIND,
        user_id=body["user"]["id"],
        workspace=body["user"].get("team_id") or (body.get("team") or {}).get("id", ""),
        text="",
        channel=channel_id(KIND, body["channel"]["id"]),
        at=at,
        thread=message.get("thread_ts", ""),
        message_id=body["message_ts"],
        is_about=True,
        answer_to=body.get("response_url", ""),
    )


def from_view(body: SlackPayload, line: str, at: datetime) -> Interaction | None:
    """Return the interaction of a submitted form that stands for this line; None without one."""
    view = body["view"]
    if not line:
        return None
    noted = metadata_of(view)
    return Interaction(
        id=f"view/{view['id']}/{view.get('hash', '')}",
        via=KIND,
        user_id=body["user"]["id"],
        workspace=body["user"].get("team_id") or (body.get("team") or {}).get("id", ""),
        text=line,
        channel=noted.get("channel", ""),
        at=at,
        thread=noted.get("thread", ""),
        is_click=True,
    )


def _home_channel(body: SlackPayload) -> str:
    """The person's direct messages with us, where a press on their home tab is answered."""
    view = body.get("view") or {}
    if view.get("type") != "home":
        return ""
    try:
        return str(json.loads(view.get("private_metadata") or "{}").get("channel", ""))
    except ValueError:
        return ""


def _file(file: SlackPayload) -> InteractionFile:
    return InteractionFile(
        name=file.get("name") or "file",
        address=file.get("url_private_download") or file.get("url_private") or "",
        size=int(file.get("size") or 0),
    )
