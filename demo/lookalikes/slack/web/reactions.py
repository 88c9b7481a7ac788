"""The Web API's `reactions.*` and `pins.*`."""

from typing import Any

from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.arguments import Arguments
from demo.lookalikes.slack.web.errors import SlackError
from demo.lookalikes.slack.web.finding import channel_of, message_of


def add_reaction(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """reactions.add"""
    if not react(workspace, _message(workspace, args), workspace.bot.id, args.need("name").strip(":")):
        raise SlackError("already_reacted")
    return {}


def remove_reaction(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """reactions.remove"""
    if not unreact(workspace, _message(workspace, args), workspace.bot.id, args.need("name").strip(":")):
        raise SlackError("no_reaction")
    return {}


def add_pin(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """pins.add"""
    message = _message(workspace, args)
    if message.body.get("pinned_to"):
        raise SlackError("already_pinned")
    message.body["pinned_to"] = [message.channel]
    workspace.tell(message)
    return {}


def remove_pin(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """pins.remove"""
    message = _message(workspace, args)
    if not message.body.pop("pinned_to", None):
        raise SlackError("no_pin")
    workspace.tell(message)
    return {}


def react(workspace: Workspace, message: Message, person: str, name: str) -> bool:
    """Add a person's reaction; return False when it exists already."""
    reactions = message.body.setdefault("reactions", [])
    found = next((each for each in reactions if each["name"] == name), None)
    if found is None:
        found = {"name": name, "users": [], "count": 0}
        reactions.append(found)
    if person in found["users"]:
        return False
    found["users"].append(person)
    found["count"] = len(found["users"])
    workspace.tell(message)
    return True


def unreact(workspace: Workspace, message: Message, person: str, name: str) -> bool:
    """Remove a person's reaction; return False when there is none."""
    for found in message.body.get("reactions") or ():
        if found["name"] == name and person in found["users"]:
            found["users"].remove(person)
            found["count"] = len(found["users"])
            message.body["reactions"] = [each for each in message.body["reactions"] if each["users"]]
            workspace.tell(message)
            return True
    return False


def _message(workspace: Workspace, args: Arguments) -> Message:
    channel = channel_of(workspace, args.need("channel"), speaking=True)
    return message_of(workspace, channel, args.need("timestamp"))


METHODS = {
    "reactions.add": add_reaction,
    "reactions.remove": remove_reaction,
    "pins.add": add_pin,
    "pins.remove": remove_pin,
}
