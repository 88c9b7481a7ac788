"""Events sent to the app, depending on its subscriptions and channel memberships."""

from typing import Any

from demo.lookalikes.slack.delivery.payloads import event
from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.people import Channel, Person
from demo.lookalikes.slack.state.workspace import Workspace


def tell_of_message(workspace: Workspace, message: Message) -> None:
    """Send `message` and `app_mention` for a new message."""
    channel = workspace.directory.channels[message.channel]
    if workspace.bot.id not in channel.members:
        return
    subscriptions = workspace.options.subscriptions
    inner = {
        name: part
        for name, part in message.body.items()
        if name not in ("is_ephemeral", "metadata", "reactions", "edited")
    }
    inner |= {"channel": channel.id, "event_ts": message.ts}
    if workspace.directory.people[message.user].stranger:
        inner |= {"user_team": message.body["team"], "source_team": message.body["team"]}
    kind = "im" if channel.direct_with else "channel"
    if ("message.im" if channel.direct_with else "message.channels") in subscriptions:
        workspace.post_event(event(workspace, {**inner, "channel_type": kind}))
    mentioned = f"<@{workspace.bot.id}>" in message.text
    if mentioned and not message.by_bot and not channel.direct_with and "app_mention" in subscriptions:
        workspace.post_event(event(workspace, {**inner, "type": "app_mention"}))


def tell_of_change(workspace: Workspace, message: Message, subtype: str) -> None:
    """Send `message_changed` or `message_deleted` when a person changes a message."""
    channel = workspace.directory.channels[message.channel]
    name = "message.im" if channel.direct_with else "message.channels"
    if name not in workspace.options.subscriptions or workspace.bot.id not in channel.members:
        return
    inner: dict[str, Any] = {
        "type": "message",
        "subtype": subtype,
        "channel": channel.id,
        "channel_type": "im" if channel.direct_with else "channel",
        "hidden": True,
        "ts": workspace.clock.next_ts(),
        "event_ts": message.ts,
        "previous_message": message.history[-2].body if len(message.history) > 1 else message.body,
    }
    inner |= {"deleted_ts": message.ts} if subtype == "message_deleted" else {"message": message.body}
    workspace.post_event(event(workspace, inner))


def tell_of_joining(workspace: Workspace, person: Person, channel: Channel) -> None:
    """Send `member_joined_channel`."""
    if "member_joined_channel" in workspace.options.subscriptions and workspace.bot.id in channel.members:
        inner = {
            "type": "member_joined_channel",
            "user": person.id,
            "channel": channel.id,
            "channel_type": "C",
            "team": person.team,
            "event_ts": workspace.clock.next_ts(),
        }
        workspace.post_event(event(workspace, inner))


def tell_of_home(workspace: Workspace, person: Person, tab: str) -> None:
    """Send `app_home_opened`."""
    if "app_home_opened" in workspace.options.subscriptions:
        inner: dict[str, Any] = {
            "type": "app_home_opened",
            "user": person.id,
            "channel": workspace.directory.add_direct(person.id, workspace.bot.id).id,
            "tab": tab,
            "event_ts": workspace.clock.next_ts(),
        }
        if person.id in workspace.homes:
            inner["view"] = workspace.homes[person.id]
        workspace.post_event(event(workspace, inner))


def tell_of_file(workspace: Workspace, file: dict[str, Any], person: Person, channel: Channel) -> None:
    """Send `file_shared`."""
    if "file_shared" in workspace.options.subscriptions and workspace.bot.id in channel.members:
        inner = {
            "type": "file_shared",
            "file_id": file["id"],
            "user_id": person.id,
            "file": {"id": file["id"]},
            "channel_id": channel.id,
            "event_ts": workspace.clock.next_ts(),
        }
        workspace.post_event(event(workspace, inner))


def tell_of_reaction(
    workspace: Workspace, message: Message, person: Person, name: str, *, added: bool
) -> None:
    """Send `reaction_added` or `reaction_removed`."""
    kind = "reaction_added" if added else "reaction_removed"
    if kind in workspace.options.subscriptions:
        inner = {
            "type": kind,
            "user": person.id,
            "reaction": name,
            "item_user": message.user,
            "item": {"type": "message", "channel": message.channel, "ts": message.ts},
            "event_ts": workspace.clock.next_ts(),
        }
        workspace.post_event(event(workspace, inner))
