"""This file has what was heard: a gesture in neutral words, whatever Slack sent for it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from shlex import quote
from typing import Any

from bot.channels.slack.unescaping import unescape

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionFile:
    """A file that came along; its content is fetched when the line is answered."""

    name: str
    address: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """A typed line or a click. `gesture_id` is the same however often Slack delivers it."""

    id: str
    user_id: str
    team_id: str  # the workspace of the person
    text: str
    channel: str
    at: datetime
    thread_ts: str = ""
    message_ts: str = ""  # of the message that was typed, or that a pressed button stands on
    is_click: bool = False
    is_ephemeral: bool = False  # the button stands on a message for one person
    trigger_id: str = ""
    response_url: str = ""
    files: tuple[InteractionFile, ...] = ()


def from_slash(body: Json, at: datetime) -> Interaction:
    """A slash command."""
    return Interaction(
        id=f"slash/{body['trigger_id']}",
        user_id=body["user_id"],
        team_id=body.get("team_id", ""),
        text=unescape(body.get("text", "")),
        channel=body.get("channel_id", ""),
        at=at,
        trigger_id=body["trigger_id"],
        response_url=body.get("response_url", ""),
    )


def from_message(body: Json, at: datetime, *, bot: str) -> Interaction | None:
    """A mention or a direct message; None for what is not typed to us by a person.

    One message may come as two events, so its identity is its place and not the event's id.
    """
    event = body["event"]
    is_typed = event.get("subtype") in (None, "file_share", "thread_broadcast")
    is_direct = event.get("channel_type") == "im" or str(event.get("channel", "")).startswith("D")
    if not is_typed or event.get("bot_id") or not event.get("user"):
        return None
    if event["type"] == "message" and not is_direct:
        return None
    said = re.sub(rf"^\s*<@{re.escape(bot)}(?:\|[^>]*)?>[\s:,]*", "", event.get("text", ""))
    return Interaction(
        id=f"message/{body.get('team_id', '')}/{event['channel']}/{event['ts']}",
        user_id=event["user"],
        team_id=event.get("user_team") or event.get("team") or body.get("team_id", ""),
        text=unescape(said),
        channel=event["channel"],
        at=at,
        thread_ts=event.get("thread_ts", ""),
        message_ts=event["ts"],
        files=tuple(map(_file, event.get("files") or ())),
    )


def from_action(body: Json, action: Json, at: datetime) -> Interaction | None:
    """A pressed button, or a choice from a menu, whose value is a command line."""
    line = action.get("value") or (action.get("selected_option") or {}).get("value") or ""
    if not line:
        return None
    container = body.get("container") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id", "")
    message_ts = container.get("message_ts", "")
    user = body["user"]["id"]
    place = f"{channel}/{message_ts or container.get('view_id', '')}"
    return Interaction(
        id=f"click/{place}/{user}/{action.get('action_id', '')}/{action.get('action_ts', '')}",
        user_id=user,
        team_id=body["user"].get("team_id") or (body.get("team") or {}).get("id", ""),
        text=line,
        channel=channel,
        at=at,
        thread_ts=container.get("thread_ts", ""),
        message_ts=message_ts,
        is_click=True,
        is_ephemeral=bool(container.get("is_ephemeral")),
        trigger_id=body.get("trigger_id", ""),
        response_url=body.get("response_url", ""),
    )


def from_view(body: Json, at: datetime) -> Interaction | None:
    """A modal that was sent off: the line in its private metadata, and each filled input as an option of its name."""
    view = body["view"]
    try:
        kept = json.loads(view.get("private_metadata") or "{}")
    except ValueError:
        return None
    if not kept.get("line"):
        return None
    words = [kept["line"]]
    for name, elements in (view.get("state") or {}).get("values", {}).items():
        for element in elements.values():
            value = element.get("value") or (element.get("selected_option") or {}).get("value")
            if value:
                words += [f"--{name}", quote(value)]
    return Interaction(
        id=f"view/{view['id']}/{view.get('hash', '')}",
        user_id=body["user"]["id"],
        team_id=body["user"].get("team_id") or (body.get("team") or {}).get("id", ""),
        text=" ".join(words),
        channel=kept.get("channel", ""),
        at=at,
        thread_ts=kept.get("thread", ""),
        is_click=True,
        trigger_id=body.get("trigger_id", ""),
    )


def _file(file: Json) -> InteractionFile:
    return InteractionFile(
        name=file.get("name") or "file",
        address=file.get("url_private_download") or file.get("url_private") or "",
        size=int(file.get("size") or 0),
    )
