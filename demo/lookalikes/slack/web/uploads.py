"""The state of an upload: whether Slack knows its type yet, and whether a message can show it."""

from typing import Any

from demo.lookalikes.slack.state.workspace import Workspace

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif"})


def is_processed(workspace: Workspace, file: dict[str, Any]) -> bool:
    """Return whether Slack has looked at an uploaded file, some time after the upload was completed.

    Only then is its type known. What people share is looked at at once.
    """
    completed = workspace.completed.get(file["id"])
    if completed is None:
        return bool(file["user"] != workspace.bot.id)
    return bool(workspace.clock.now() - completed >= workspace.options.file_processing)


def can_be_shown(workspace: Workspace, named: Any) -> bool:
    """Return whether an image block can show the file that it names by id or by URL.

    It must be a picture that was shared in a channel, or readers would see nothing, and that Slack has looked at.
    """
    if not isinstance(named, dict) or len(named) != 1:
        return False
    key, value = next(iter(named.items()))
    match key:
        case "id":
            file = workspace.files.get(str(value))
        case "url":
            file = next((one for one in workspace.files.values() if one["url_private"] == value), None)
        case _:
            return False
    if file is None or file["id"] not in workspace.contents or not file["channels"]:
        return False
    return file["mimetype"] in _PICTURES and is_processed(workspace, file)
