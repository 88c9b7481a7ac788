"""Buttons and menus for Slack: a button's value is a command line, and so is that of a menu's option."""

from collections.abc import Iterator, Mapping
from typing import Any

from alerts.cards.message import Button, Buttons, ButtonStyle, Menu
from bot.channels.slack import block_limits

ACTION = "line"  # action ids begin with it
PEOPLE = "people"  # or with this, in a menu of people; the line is then the end of the id
_STYLES = {ButtonStyle.PRIMARY: "primary", ButtonStyle.DANGER: "danger"}

SlackJson = dict[str, Any]  # a block, an element or a view of Block Kit


def action_elements(block: Buttons, first: int) -> tuple[list[SlackJson], list[str]]:
    """Return the elements, and the labels of what is too long for one: no button may run half a command.

    `first` is the number of the first element within the message.
    """
    elements: list[SlackJson] = []
    too_long: list[str] = []
    for button in (*block.buttons, *_unfitting(block.menus)):
        if len(button.line) > block_limits.BUTTON_VALUE or len(button.address) > block_limits.ADDRESS:
            too_long.append(button.label)
        else:
            elements.append(_button(button, first + len(elements)))
    for menu in block.menus:
        if menu.people_line:
            id = f"{PEOPLE}/{first + len(elements)}/{menu.people_line}"
            if len(id) > block_limits.ACTION_ID:
                too_long.append(menu.label)
            else:
                elements.append({"type": "users_select", "action_id": id, "placeholder": _words(menu.label)})
        elif options := [one for one in menu.options if _fits(one, menu)][: block_limits.OPTIONS]:
            elements.append(_menu(menu, options, first + len(elements)))
    return elements, too_long


def pressed_line(action: Mapping[str, Any]) -> str:
    """Return the command line of a pressed button or a chosen option; empty for a link."""
    if person := action.get("selected_user"):
        _, _, line = str(action.get("action_id", "")).split("/", 2)
        return f"{line} {person}"
    option = action.get("selected_option") or {}
    if option.get("url") or action.get("url"):
        return ""
    return str(action.get("value") or option.get("value") or "")


def _unfitting(menus: tuple[Menu, ...]) -> Iterator[Button]:
    """The options that cannot be in their menu: they become buttons."""
    return (one for menu in menus for one in menu.options if not _fits(one, menu))


def _fits(option: Button, menu: Menu) -> bool:
    """Only an overflow menu opens links."""
    if option.address:
        return _is_overflow(menu) and len(option.address) <= block_limits.ADDRESS
    return len(option.line) <= block_limits.OPTION_VALUE


def _is_overflow(menu: Menu) -> bool:
    return menu.is_more and len(menu.options) <= block_limits.OVERFLOW_OPTIONS


def _button(button: Button, number: int) -> SlackJson:
    element: SlackJson = {
        "type": "button",
        "action_id": f"{ACTION}/{number}",
        "text": _words(button.label),
    }
    if button.address:
        element["url"] = button.address
    else:
        element["value"] = button.line
    if style := _STYLES.get(button.style):
        element["style"] = style
    return element


def _menu(menu: Menu, options: list[Button], number: int) -> SlackJson:
    shown = [_option(one) for one in options]
    id = f"{ACTION}/{number}"
    if _is_overflow(menu):
        return {"type": "overflow", "action_id": id, "options": shown}
    return {"type": "static_select", "action_id": id, "placeholder": _words(menu.label), "options": shown}


def _option(option: Button) -> SlackJson:
    made: SlackJson = {"text": _words(option.label), "value": option.line or "link"}
    if option.address:
        made["url"] = option.address
    return made


def _words(label: str) -> SlackJson:
    most = block_limits.BUTTON_LABEL
    shown = label if len(label) <= most else label[: most - 1] + "…"
    return {"type": "plain_text", "text": shown, "emoji": True}
