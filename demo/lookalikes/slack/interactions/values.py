"""Values of elements: what a person picked, in the shape that Slack reports."""

from collections.abc import Iterator
from typing import Any

from demo.lookalikes.slack.interactions.interaction import NotPossibleError
from demo.lookalikes.slack.kit.defaults import elements_of
from demo.lookalikes.slack.state.workspace import Workspace

#: Elements with a value, and the field that reports it.
FIELDS = {
    "plain_text_input": "value",
    "number_input": "value",
    "static_select": "selected_option",
    "external_select": "selected_option",
    "radio_buttons": "selected_option",
    "multi_static_select": "selected_options",
    "multi_external_select": "selected_options",
    "checkboxes": "selected_options",
    "users_select": "selected_user",
    "multi_users_select": "selected_users",
    "channels_select": "selected_channel",
    "conversations_select": "selected_conversation",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "file_input": "files",
}
_INITIAL = {
    "value": "initial_value",
    "selected_option": "initial_option",
    "selected_options": "initial_options",
    "selected_user": "initial_user",
    "selected_users": "initial_users",
    "selected_channel": "initial_channel",
    "selected_conversation": "initial_conversation",
    "selected_date": "initial_date",
    "selected_time": "initial_time",
}


def value_of(workspace: Workspace, element: dict[str, Any], chosen: Any) -> dict[str, Any]:
    """Return what the app receives when `chosen` is picked or typed.

    `chosen` is text for inputs and dates, an option's text or value, a person's name or id, or a list of these.
    Raise NotPossibleError when there is no such option or person.
    """
    kind = element["type"]
    field = FIELDS[kind]
    found: Any = chosen
    if chosen is None or chosen == "":
        found = [] if field in ("selected_options", "selected_users", "files") else None
    elif field == "selected_option":
        found = _option(element, chosen)
    elif field == "selected_options":
        found = [_option(element, one) for one in _many(chosen)]
    elif field == "selected_user":
        found = _person(workspace, chosen)
    elif field == "selected_users":
        found = [_person(workspace, one) for one in _many(chosen)]
    elif field == "files":
        found = [workspace.files[str(one)] for one in _many(chosen)]
    else:
        found = str(chosen)
    return {"type": kind, field: found}


def initial_value(element: dict[str, Any]) -> dict[str, Any]:
    """Return the value of an untouched element."""
    field = FIELDS[element["type"]]
    empty: Any = [] if field in ("selected_options", "selected_users", "files") else None
    return {"type": element["type"], field: element.get(_INITIAL.get(field, ""), empty)}


def is_empty(value: dict[str, Any]) -> bool:
    """Whether nothing is picked or typed."""
    return value[FIELDS[value["type"]]] in (None, "", [])


def state_of(blocks: list[dict[str, Any]], picked: dict[str, Any]) -> dict[str, Any]:
    """Return `state.values` for these blocks: picked values, and initial values for the rest."""
    state: dict[str, Any] = {}
    for block, element in valued(blocks):
        name, action = block["block_id"], element["action_id"]
        state.setdefault(name, {})[action] = picked.get(name, {}).get(action) or initial_value(element)
    return state


def valued(blocks: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield every element that has a value, with its block."""
    for block in blocks:
        for element in elements_of(block):
            if element.get("type") in FIELDS:
                yield block, element


def options_of(element: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all options of a menu, including those in groups."""
    groups = [group["options"] for group in element.get("option_groups") or ()]
    return [*(element.get("options") or ()), *(option for group in groups for option in group)]


def _option(element: dict[str, Any], chosen: Any) -> dict[str, Any]:
    if isinstance(chosen, dict):
        chosen = chosen["value"]
    for option in options_of(element):
        if chosen in (option.get("value"), option["text"]["text"]):
            return option
    offered = [option["text"]["text"] for option in options_of(element)]
    raise NotPossibleError(f"there is no option {chosen!r}; there are {offered}")


def _person(workspace: Workspace, chosen: Any) -> str:
    try:
        return workspace.directory.person(str(chosen)).id
    except LookupError as missing:
        raise NotPossibleError(str(missing)) from missing


def _many(chosen: Any) -> list[Any]:
    return list(chosen) if isinstance(chosen, (list, tuple)) else [chosen]
