"""Responses to interactions, through a response URL or an acknowledgement with a text."""

from typing import Any

from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.tickets import ResponseUrl
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.arguments import Arguments
from demo.lookalikes.slack.web.content import content_of


def respond(workspace: Workspace, ticket: ResponseUrl, given: dict[str, Any]) -> None:
    """Replace or delete the original message, or post a new one; raise SlackError for invalid content."""
    args = Arguments(given)
    original = _original(workspace, ticket)
    if args.flag("delete_original"):
        if original is not None:
            workspace.delete(original)
        return
    content, _ = content_of(workspace, args)
    if args.flag("replace_original") and original is not None:
        workspace.edit(original, content, by=workspace.bot)
        return
    channel = workspace.directory.channels[ticket.channel]
    thread = args.text("thread_ts") or (ticket.thread_ts if ticket.message_ts else None)
    only_for = None if args.text("response_type") == "in_channel" else ticket.person
    if only_for:
        content.pop("metadata", None)
    workspace.post(channel, workspace.bot, {"text": "", **content, "thread_ts": thread}, only_for=only_for)


def _original(workspace: Workspace, ticket: ResponseUrl) -> Message | None:
    if ticket.message_ts is None:
        return None
    if ticket.ephemeral:
        return workspace.conversations.ephemeral.get(ticket.message_ts)
    return workspace.conversations.find(ticket.channel, ticket.message_ts)
