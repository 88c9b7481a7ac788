"""Defaults that Slack adds to stored blocks: ids, `emoji`, `verbatim`."""

import copy
from collections.abc import Callable
from typing import Any

_INTERACTIVE = {
    "button",
    "overflow",
    "checkboxes",
    "radio_buttons",
    "datepicker",
    "timepicker",
    "plain_text_input",
    "number_input",
    "file_input",
}


def filled(blocks: list[dict[str, Any]], new_id: Callable[[], str]) -> list[dict[str, Any]]:
    """Return the blocks as history returns them; `new_id` makes the ids that are missing."""
    stored = copy.deepcopy(blocks)
    for block in stored:
        block.setdefault("block_id", new_id())
        for element in elements_of(block):
            if element.get("type") in _INTERACTIVE or str(element.get("type")).endswith("_select"):
                element.setdefault("action_id", new_id())
        _set_text_defaults(block)
    return stored


def elements_of(block: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the elements of one block, wherever they are in it."""
    if block.get("type") == "rich_text":
        return []
    found = [*(block.get("elements") or ()), block.get("accessory"), block.get("element")]
    return [element for element in found if isinstance(element, dict)]


def _set_text_defaults(part: Any) -> None:
    if isinstance(part, dict):
        if part.get("type") == "plain_text" and "text" in part:
            part.setdefault("emoji", True)
        elif part.get("type") == "mrkdwn" and "text" in part:
            part.setdefault("verbatim", False)
        for inner in part.values():
            _set_text_defaults(inner)
    elif isinstance(part, list):
        for inner in part:
            _set_text_defaults(inner)
