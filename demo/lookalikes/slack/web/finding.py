"""Lookup of channels, people and messages for a call, and pagination."""

import base64
from typing import Any, TypeVar

from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.people import Channel, Person
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.arguments import Arguments
from demo.lookalikes.slack.web.errors import SlackError

Item = TypeVar("Item")


def channel_of(workspace: Workspace, given: str, *, by_name: bool = False, speaking: bool = False) -> Channel:
    """Return the channel with this id; raise `channel_not_found`, `is_archived` or `not_in_channel`.

    With `by_name` (posting only), `given` may also be a `#name`, or a person's id for the direct message.
    With `speaking` the bot wants to post: it must be a member, and the channel not archived.
    """
    channel = workspace.directory.channels.get(given)
    if channel is None and by_name:
        if given in workspace.directory.people:
            channel = workspace.directory.add_direct(given, workspace.bot.id)
        else:
            bare = given.removeprefix("#")
            named = (c for c in workspace.directory.channels.values() if c.name == bare and not c.direct_with)
            channel = next(named, None)
    if channel is None or (channel.private and workspace.bot.id not in channel.members):
        raise SlackError("channel_not_found")
    if speaking and channel.archived:
        raise SlackError("is_archived")
    if speaking and workspace.bot.id not in channel.members:
        raise SlackError("not_in_channel")
    return channel


def person_of(workspace: Workspace, given: str) -> Person:
    """Return the person with this id, or raise `user_not_found`."""
    person = workspace.directory.people.get(given)
    if person is None:
        raise SlackError("user_not_found")
    return person


def message_of(
    workspace: Workspace, channel: Channel, ts: str, *, error: str = "message_not_found"
) -> Message:
    """Return the message at `ts`, or raise `error` when it does not exist or was deleted."""
    message = workspace.conversations.find(channel.id, ts)
    if message is None:
        raise SlackError(error)
    return message


def page_of(
    items: list[Item], args: Arguments, *, default: int, most: int
) -> tuple[list[Item], dict[str, Any]]:
    """Return one page of a list and the fields that lead to the next page."""
    size = args.number("limit", default, most)
    start = _offset(args.text("cursor"))
    if start > len(items):
        raise SlackError("invalid_cursor")
    more = start + size < len(items)
    cursor = base64.b64encode(f"next:{start + size}".encode()).decode() if more else ""
    return items[start : start + size], {"response_metadata": {"next_cursor": cursor}}


def _offset(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        prefix, _, number = base64.b64decode(cursor, validate=True).decode().partition(":")
        if prefix != "next":
            raise ValueError(cursor)
        return int(number)
    except ValueError:
        raise SlackError("invalid_cursor") from None
