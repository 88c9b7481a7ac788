"""Payloads of interactions and events, as Slack sends them."""

from typing import Any

from demo.lookalikes.slack.delivery.envelopes import Envelope
from demo.lookalikes.slack.state.messages import Message, wired
from demo.lookalikes.slack.state.people import HOME, Channel, Person
from demo.lookalikes.slack.state.workspace import Workspace

DOMAIN = "yard-lab"
VERIFICATION = "lookalike-verification"


def event(workspace: Workspace, inner: dict[str, Any]) -> Envelope:
    """Wrap one event in an Events API envelope."""
    return Envelope(
        id=workspace.new_id("E"),
        kind="events_api",
        payload={
            "token": VERIFICATION,
            "team_id": HOME,
            "context_team_id": HOME,
            "api_app_id": workspace.app_id,
            "event": inner,
            "type": "event_callback",
            "event_id": workspace.new_id("Ev"),
            "event_time": int(workspace.clock.now().timestamp()),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": HOME,
                    "user_id": workspace.bot.id,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": False,
        },
    )


def slash_command(
    workspace: Workspace, person: Person, channel: Channel, command: str, text: str
) -> Envelope:
    """Return the envelope of a slash command such as `/yard node list`."""
    return Envelope(
        id=workspace.new_id("E"),
        kind="slash_commands",
        accepts_response=True,
        payload={
            "token": VERIFICATION,
            "team_id": person.team,
            "team_domain": DOMAIN,
            "channel_id": channel.id,
            "channel_name": "directmessage" if channel.direct_with else channel.name,
            "user_id": person.id,
            "user_name": person.name,
            "command": command,
            "text": text,
            "api_app_id": workspace.app_id,
            "is_enterprise_install": "false",
            "response_url": workspace.new_response_url(person, channel.id),
            "trigger_id": workspace.new_trigger(person),
        },
    )


def _interaction(workspace: Workspace, person: Person, kind: str, view: str | None = None) -> dict[str, Any]:
    return {
        "type": kind,
        "team": {"id": HOME, "domain": DOMAIN},
        "user": {"id": person.id, "username": person.name, "name": person.name, "team_id": person.team},
        "api_app_id": workspace.app_id,
        "token": VERIFICATION,
        "enterprise": None,
        "is_enterprise_install": False,
        "trigger_id": workspace.new_trigger(person, view),
    }


def message_actions(
    workspace: Workspace, person: Person, message: Message, action: dict[str, Any], state: dict[str, Any]
) -> Envelope:
    """Return the envelope for a used element of a message."""
    channel = workspace.directory.channels[message.channel]
    container: dict[str, Any] = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel,
        "is_ephemeral": bool(message.only_for),
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    payload = _interaction(workspace, person, "block_actions") | {
        "container": container,
        "channel": {"id": channel.id, "name": "directmessage" if channel.direct_with else channel.name},
        "state": {"values": state},
        "response_url": workspace.new_response_url(person, channel.id, message),
        "actions": [action],
    }
    if not message.only_for:
        payload["message"] = wired(message, workspace.conversations.thread(channel.id, message.ts))
    return Envelope(id=workspace.new_id("E"), kind="interactive", payload=payload)


def view_actions(
    workspace: Workspace, person: Person, view: dict[str, Any], action: dict[str, Any]
) -> Envelope:
    """Return the envelope for a used element of a view."""
    payload = _interaction(workspace, person, "block_actions", view["id"]) | {
        "container": {"type": "view", "view_id": view["id"]},
        "view": view,
        "actions": [action],
    }
    return Envelope(id=workspace.new_id("E"), kind="interactive", payload=payload)


def view_submission(workspace: Workspace, person: Person, view: dict[str, Any]) -> Envelope:
    """Return the envelope of a submitted modal."""
    payload = _interaction(workspace, person, "view_submission", view["id"]) | {
        "view": view,
        "response_urls": [],
    }
    return Envelope(id=workspace.new_id("E"), kind="interactive", payload=payload, accepts_response=True)


def view_closed(workspace: Workspace, person: Person, view: dict[str, Any], *, cleared: bool) -> Envelope:
    """Return the envelope of a dismissed modal that has `notify_on_close`."""
    payload = _interaction(workspace, person, "view_closed") | {"view": view, "is_cleared": cleared}
    payload.pop("trigger_id")
    return Envelope(id=workspace.new_id("E"), kind="interactive", payload=payload)


def suggestion(
    workspace: Workspace, person: Person, value: str, element: dict[str, Any], location: dict[str, Any]
) -> Envelope:
    """Return the envelope for text typed into an `external_select`."""
    payload = _interaction(workspace, person, "block_suggestion") | location
    payload |= {"action_id": element["action_id"], "value": value}
    payload.pop("trigger_id")
    return Envelope(id=workspace.new_id("E"), kind="interactive", payload=payload, accepts_response=True)


def shortcut(workspace: Workspace, person: Person, callback_id: str, message: Message | None) -> Envelope:
    """Return the envelope of a global shortcut, or of one on a message."""
    payload = _interaction(workspace, person, "message_action" if message else "shortcut")
    payload |= {"callback_id": callback_id, "action_ts": workspace.clock.next_ts()}
    if message is not None:
        channel = workspace.directory.channels[message.channel]
        payload |= {
            "channel": {"id": channel.id, "name": channel.name},
            "message": wired(message, workspace.conversations.thread(channel.id, message.ts)),
            "message_ts": message.ts,
            "response_url": workspace.new_response_url(person, channel.id, message),
        }
    return Envelope(id=workspace.new_id("E"), kind="interactive", payload=payload)
