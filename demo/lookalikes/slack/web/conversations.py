"""The Web API's `conversations.*`: history, replies, members, joining, direct messages."""

from typing import Any

from demo.lookalikes.slack.state.messages import Message, wired
from demo.lookalikes.slack.state.people import Channel
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.arguments import Arguments
from demo.lookalikes.slack.web.errors import SlackError
from demo.lookalikes.slack.web.finding import channel_of, page_of, person_of


def history(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """conversations.history: newest first, without replies unless broadcast."""
    channel = _readable(workspace, args)
    found = _within(workspace.conversations.top_level(channel.id), args)[::-1]
    page, more = page_of(found, args, default=100, most=workspace.limits["history_page"])
    return _answer(workspace, page, args) | {
        "has_more": bool(more["response_metadata"]["next_cursor"]),
        **more,
    }


def replies(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """conversations.replies: the parent, then its replies, oldest first."""
    channel = _readable(workspace, args)
    ts = args.need("ts")
    message = workspace.conversations.find(channel.id, ts)
    if message is None:
        raise SlackError("thread_not_found")
    thread = workspace.conversations.thread(channel.id, message.thread_ts or ts)
    parent = [message for message in thread if not message.is_reply]
    found = parent + _within([message for message in thread if message.is_reply], args)
    page, more = page_of(found, args, default=1000, most=workspace.limits["history_page"])
    return _answer(workspace, page, args) | {
        "has_more": bool(more["response_metadata"]["next_cursor"]),
        **more,
    }


def info(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """conversations.info"""
    channel = channel_of(workspace, args.need("channel"))
    return {"channel": channel.wire(workspace.bot.id)}


def open_direct(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """conversations.open for one person."""
    users = [user for user in args.text("users").split(",") if user]
    if not users and args.text("channel"):
        channel = channel_of(workspace, args.text("channel"))
    elif len(users) == 1:
        person = person_of(workspace, users[0])
        if person.bot or person.deactivated:
            raise SlackError("cannot_dm_bot" if person.bot else "user_disabled")
        channel = workspace.directory.add_direct(person.id, workspace.bot.id)
    else:
        raise SlackError("users_list_not_supplied" if not users else "too_many_users")
    return {"channel": channel.wire(workspace.bot.id) if args.flag("return_im") else {"id": channel.id}}


def members(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """conversations.members"""
    channel = channel_of(workspace, args.need("channel"))
    page, more = page_of(sorted(channel.members), args, default=100, most=workspace.limits["members_page"])
    return {"members": page, **more}


def join(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """conversations.join"""
    channel = channel_of(workspace, args.need("channel"))
    if channel.archived:
        raise SlackError("is_archived")
    if channel.direct_with or channel.private:
        raise SlackError("method_not_supported_for_channel_type")
    channel.members.add(workspace.bot.id)
    return {"channel": channel.wire(workspace.bot.id)}


def _readable(workspace: Workspace, args: Arguments) -> Channel:
    channel = channel_of(workspace, args.need("channel"))
    if workspace.bot.id not in channel.members:
        raise SlackError("not_in_channel")
    return channel


def _within(messages: list[Message], args: Arguments) -> list[Message]:
    inclusive = args.flag("inclusive")
    oldest, latest = args.text("oldest", "0"), args.text("latest")
    try:
        after, before = float(oldest or 0), float(latest) if latest else float("inf")
    except ValueError:
        raise SlackError("invalid_ts_oldest") from None

    def fits(ts: float) -> bool:
        return after <= ts <= before if inclusive else after < ts < before

    return [message for message in messages if fits(float(message.ts))]


def _answer(workspace: Workspace, page: list[Message], args: Arguments) -> dict[str, Any]:
    everything = args.flag("include_all_metadata")
    shown = [
        wired(message, workspace.conversations.thread(message.channel, message.ts), with_metadata=everything)
        for message in page
    ]
    return {"messages": shown, "pin_count": 0}


METHODS = {
    "conversations.history": history,
    "conversations.replies": replies,
    "conversations.info": info,
    "conversations.open": open_direct,
    "conversations.members": members,
    "conversations.join": join,
}
