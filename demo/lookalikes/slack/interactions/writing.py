"""Content that people write: messages, slash commands, edits, files, reactions."""

import html
import re
from typing import Any

from demo.lookalikes.slack.delivery import events, payloads
from demo.lookalikes.slack.interactions.interaction import Interaction, InteractionContext, NotPossibleError
from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.people import Channel, Person
from demo.lookalikes.slack.state.tickets import ResponseUrl
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.errors import SlackError
from demo.lookalikes.slack.web.files import new_file, share
from demo.lookalikes.slack.web.reactions import react, unreact
from demo.lookalikes.slack.web.response_urls import respond

_LINK = re.compile(r"https?://[^\s<>]+[^\s<>.,;:!?)\]]")
_MENTION = re.compile(r"(?<![\w<|/])([@#])([\w.-]*\w)")


def encoded(workspace: Workspace, text: str, *, labelled: bool = False) -> str:
    """Return typed text as Slack sends it: `&<>` escaped, and mentions, channels and links in angle brackets.

    Existing `<@U…>` stays as is. With `labelled`, mentions carry names too (`<@U1|ana>`), as in slash commands.
    """
    pieces = re.split(r"(<(?:[@#!]|https?:)[^<>]*>)", text)
    return "".join(
        piece if odd % 2 else _encoded(workspace, piece, labelled) for odd, piece in enumerate(pieces)
    )


def _encoded(workspace: Workspace, text: str, labelled: bool) -> str:
    def mention(match: re.Match[str]) -> str:
        sign, name = match.groups()
        if sign == "#":
            for channel in workspace.directory.channels.values():
                if channel.name == name and not channel.direct_with:
                    return f"<#{channel.id}|{name}>" if labelled else f"<#{channel.id}>"
            return match.group()
        if name in ("here", "channel", "everyone"):
            return f"<!{name}>"
        for person in workspace.directory.people.values():
            if person.name == name:
                return f"<@{person.id}|{name}>" if labelled else f"<@{person.id}>"
        for group in workspace.directory.groups.values():
            if group.handle == name:
                return f"<!subteam^{group.id}|@{name}>" if labelled else f"<!subteam^{group.id}>"
        return match.group()

    escaped = html.escape(text, quote=False)
    return _MENTION.sub(mention, _LINK.sub(lambda link: f"<{link.group()}>", escaped))


async def types(
    context: InteractionContext, person: Person, channel: Channel, text: str, thread_ts: str | None
) -> Interaction:
    """Post a message, or send a slash command when the text starts with one.

    Raise NotPossibleError when the person may not write there, or the command is unknown.
    """
    _may_write(person, channel)
    if text.startswith("/"):
        return await _command(context, person, channel, text, thread_ts)
    if not text.strip():
        raise NotPossibleError("A message needs some text.")
    content: dict[str, Any] = {"text": encoded(context.workspace, text), "thread_ts": thread_ts}
    return Interaction(person=person.id, message=context.workspace.post(channel, person, content))


async def _command(
    context: InteractionContext, person: Person, channel: Channel, text: str, thread_ts: str | None
) -> Interaction:
    workspace = context.workspace
    command, _, rest = text.partition(" ")
    if command not in {name for name, _ in workspace.options.commands}:
        raise NotPossibleError(
            f"{command} is not a valid command. In Slack, messages that start with “/” are commands."
        )
    if thread_ts:
        raise NotPossibleError(f"{command} is not supported in threads. Sorry!")
    envelope = payloads.slash_command(
        workspace, person, channel, command, encoded(workspace, rest.strip(), labelled=True)
    )
    failure = await context.post.send(envelope)
    if failure:
        error = "operation_timeout" if "timeout" in failure else "dispatch_failed"
        workspace.notice(person.id, f"{command} failed with the error “{error}”")
        return Interaction(person=person.id, envelope=envelope, error=error)
    if envelope.response and (envelope.response.get("text") or envelope.response.get("blocks")):
        ticket = ResponseUrl(id="", person=person.id, channel=channel.id, issued=workspace.clock.now())
        try:
            respond(workspace, ticket, envelope.response)
        except SlackError as refusal:
            workspace.notice(person.id, f"{command} failed because the app answered with {refusal.error}")
            return Interaction(person=person.id, envelope=envelope, error=refusal.error)
    return Interaction(person=person.id, envelope=envelope)


def uploads(
    context: InteractionContext,
    person: Person,
    channel: Channel,
    file: tuple[str, bytes],
    comment: str,
    thread_ts: str | None,
) -> Interaction:
    """Share a file with a comment; the app gets a message with `files`, and `file_shared`."""
    _may_write(person, channel)
    workspace = context.workspace
    stored = keeps(context, person, file)
    text = encoded(workspace, comment)
    share(workspace, channel, person, [stored], {"text": text, "thread_ts": thread_ts})
    events.tell_of_file(workspace, stored, person, channel)
    message = workspace.conversations.living(channel.id)[-1]
    return Interaction(person=person.id, message=message)


def keeps(context: InteractionContext, person: Person, file: tuple[str, bytes]) -> dict[str, Any]:
    """Store a file that is not shared yet, as for a modal's file input."""
    name, content = file
    if not content:
        raise NotPossibleError(f"{name} is empty; Slack takes no empty files.")
    made = new_file(context.workspace, name, len(content), person)
    context.workspace.contents[made["id"]] = content
    return made


def edits(context: InteractionContext, person: Person, message: Message, text: str) -> None:
    """Edit a person's own message."""
    if message.user != person.id:
        raise NotPossibleError("Only your own messages can be edited.")
    context.workspace.edit(message, {"text": encoded(context.workspace, text)}, by=person)
    events.tell_of_change(context.workspace, message, "message_changed")


def deletes(context: InteractionContext, message: Message) -> None:
    """Delete a message, as its author or an administrator may."""
    context.workspace.delete(message)
    if not message.only_for:
        events.tell_of_change(context.workspace, message, "message_deleted")


def reacts(context: InteractionContext, person: Person, message: Message, name: str) -> None:
    """Add a person's reaction, or remove it when it exists."""
    added = react(context.workspace, message, person.id, name)
    if not added:
        unreact(context.workspace, message, person.id, name)
    events.tell_of_reaction(context.workspace, message, person, name, added=added)


def _may_write(person: Person, channel: Channel) -> None:
    if channel.archived:
        raise NotPossibleError(f"#{channel.name} is archived.")
    if person.id not in channel.members:
        raise NotPossibleError(f"{person.name} is not in #{channel.name}.")
