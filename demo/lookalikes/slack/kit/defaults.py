"""This file fills in what Slack adds to blocks when it keeps them: ids, `emoji`, `verbatim`."""

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
    """The blocks as history gives them back; `new_id` makes a name for what has none."""
    kept = copy.deepcopy(blocks)
    for block in kept:
        block.setdefault("block_id", new_id())
        for element in elements_of(block):
            if element.get("type") in _INTERACTIVE or str(element.get("type")).endswith("_select"):
                element.setdefault("action_id", new_id())
        _say_defaults(block)
    return kept


def elements_of(block: dict[str, Any]) -> list[dict[str, Any]]:
    """The elements that stand in one block, wherever they stand."""
    if block.get("type") == "rich_text":
        return []
    found = [*(block.get("elements") or ()), block.get("accessory"), block.get("element")]
    return [element for element in found if isinstance(element, dict)]


def _say_defaults(part: Any) -> None:
    if isinstance(part, dict):
        if part.get("type") == "plain_text" and "text" in part:
            part.setdefault("emoji", True)
        elif part.get("type") == "mrkdwn" and "text" in part:
            part.setdefault("verbatim", False)
        for inner in part.values():
            _say_defaults(inner)
    elif isinstance(part, list):
        for inner in part:
            _say_defaults(inner)
