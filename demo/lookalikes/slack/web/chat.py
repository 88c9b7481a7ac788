"""The Web API's `chat.*`: posts, edits, deletions, ephemerals."""

from datetime import UTC, datetime
from typing import Any

from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.people import Channel
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.arguments import Arguments
from demo.lookalikes.slack.web.content import content_of, thread_of
from demo.lookalikes.slack.web.errors import SlackError
from demo.lookalikes.slack.web.finding import channel_of, message_of, person_of


def post_message(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """chat.postMessage"""
    channel = channel_of(workspace, args.need("channel"), by_name=True, speaking=True)
    content, more = content_of(workspace, args)
    thread = thread_of(args)
    if thread and workspace.conversations.find(channel.id, thread["thread_ts"]) is None:
        raise SlackError("thread_not_found")
    message = workspace.post(channel, workspace.bot, {"text": "", **content, **thread})
    return {"channel": channel.id, "ts": message.ts, "message": message.body, **more}


def post_ephemeral(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """chat.postEphemeral"""
    channel = channel_of(workspace, args.need("channel"), by_name=True, speaking=True)
    reader = person_of(workspace, args.need("user"))
    content, more = content_of(workspace, args)
    if reader.id not in channel.members:
        raise SlackError("user_not_in_channel")
    content.pop("metadata", None)
    message = workspace.post(
        channel, workspace.bot, {"text": "", **content, **thread_of(args)}, only_for=reader.id
    )
    return {"message_ts": message.ts, **more}


def update(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """chat.update"""
    channel = channel_of(workspace, args.need("channel"), speaking=True)
    message = _own(workspace, channel, args.need("ts"), "cant_update_message")
    window = workspace.options.edit_window
    posted = datetime.fromtimestamp(float(message.ts), UTC)
    if window is not None and workspace.clock.now() - posted > window:
        raise SlackError("edit_window_closed")
    if len(args.text("text")) > workspace.limits["update_text"]:
        raise SlackError("msg_too_long")
    content, more = content_of(workspace, args)
    if args.flag("reply_broadcast") and message.is_reply:
        content["subtype"] = "thread_broadcast"
    workspace.edit(message, content, by=workspace.bot)
    return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": message.body, **more}


def delete(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """chat.delete"""
    channel = channel_of(workspace, args.need("channel"))
    message = _own(workspace, channel, args.need("ts"), "cant_delete_message")
    workspace.delete(message)
    return {"channel": channel.id, "ts": message.ts}


def get_permalink(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """chat.getPermalink"""
    channel = channel_of(workspace, args.need("channel"))
    message = message_of(workspace, channel, args.need("message_ts"))
    tail = f"?thread_ts={message.thread_ts}&cid={channel.id}" if message.is_reply else ""
    link = f"{workspace.url}/archives/{channel.id}/p{message.ts.replace('.', '')}{tail}"
    return {"channel": channel.id, "permalink": link}


def _own(workspace: Workspace, channel: Channel, ts: str, error: str) -> Message:
    message = message_of(workspace, channel, ts)
    if message.user != workspace.bot.id:
        raise SlackError(error)
    return message


METHODS = {
    "chat.postMessage": post_message,
    "chat.postEphemeral": post_ephemeral,
    "chat.update": update,
    "chat.delete": delete,
    "chat.getPermalink": get_permalink,
}
