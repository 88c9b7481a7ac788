"""A command's form as a modal of Slack: its view, and the values of a submitted one."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bot.channels.slack import block_limits
from bot.channels.slack.elements import SlackJson
from bot.language.message_catalogue import ENGLISH, Catalogue
from commands.core.command import AnyCommand, FormRequest
from commands.core.form import FormField, FormValues, fields_of
from commands.core.parameter_types import NameKind

FORM = "form"  # callback id of a filled form; action ids of its menus begin with it
CHOOSER = "choose_command"  # callback id of the form that asks which command
SHORTCUT = "run_command"  # callback id of the global shortcut
_COMMAND = "command"  # block and action of the chooser
_ELEMENT = "value"


def form_view(
    form: FormRequest, *, channel: str = "", thread: str = "", catalogue: Catalogue = ENGLISH
) -> SlackJson:
    """Return the modal with which a command is filled in. `channel` and `thread`: where its answer goes."""
    command = form.command
    metadata = {"command": command.name, "cluster": form.cluster, "channel": channel, "thread": thread}
    blocks: list[SlackJson] = [
        {
            "type": "context",
            "elements": [
                {"type": "mrkdwn", "text": _cut(without_marks(catalogue.say(command.summary)), 2000)}
            ],
        },
        *(_input(field, catalogue) for field in fields_of(form)),
    ]
    submit = "Preview" if command.plan is not None else "Run" if command.read is not None else "Do it"
    return {
        "type": "modal",
        "callback_id": FORM,
        "private_metadata": json.dumps(metadata),
        "title": _words(command.name.capitalize(), block_limits.VIEW_TITLE),
        "submit": _words(catalogue.say(submit), block_limits.VIEW_TITLE),
        "close": _words(catalogue.say("Cancel"), block_limits.VIEW_TITLE),
        "blocks": blocks[: block_limits.VIEW_BLOCKS],
    }


def chooser_view(commands: Sequence[AnyCommand], catalogue: Catalogue = ENGLISH) -> SlackJson:
    """Return the modal that asks which command to fill in."""
    groups = [
        {
            "label": _words(noun, block_limits.BUTTON_LABEL),
            "options": [
                _option(command.name, f"{command.name}: {without_marks(catalogue.say(command.summary))}")
                for command in commands
                if command.noun == noun
            ],
        }
        for noun in dict.fromkeys(command.noun for command in commands)
    ]
    menu = {
        "type": "static_select",
        "action_id": _COMMAND,
        "placeholder": _words(catalogue.say("Choose a command"), block_limits.PLACEHOLDER),
        "option_groups": groups[: block_limits.OPTIONS],
    }
    return {
        "type": "modal",
        "callback_id": CHOOSER,
        "title": _words(catalogue.say("Run a command"), block_limits.VIEW_TITLE),
        "submit": _words(catalogue.say("Next"), block_limits.VIEW_TITLE),
        "close": _words(catalogue.say("Cancel"), block_limits.VIEW_TITLE),
        "blocks": [
            {
                "type": "input",
                "block_id": _COMMAND,
                "label": _words(catalogue.say("Command"), 100),
                "element": menu,
            }
        ],
    }


def chosen_command(view: Mapping[str, Any]) -> str:
    """Return the name of the command that was chosen in the chooser."""
    value = view["state"]["values"].get(_COMMAND, {}).get(_COMMAND, {})
    return str((value.get("selected_option") or {}).get("value") or "")


def metadata_of(view: Mapping[str, Any]) -> dict[str, str]:
    """Return what the form noted when it was opened; nothing if it is none of ours."""
    try:
        found = json.loads(view.get("private_metadata") or "{}")
    except ValueError:
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def values_of(view: Mapping[str, Any]) -> FormValues:
    """Return the filled fields of a submitted form, by the name of the field."""
    found: dict[str, tuple[str, ...]] = {}
    for name, elements in (view.get("state") or {}).get("values", {}).items():
        for element in elements.values():
            options = element.get("selected_options") or [element.get("selected_option") or {}]
            chosen = [str(option.get("value") or "") for option in options]
            values = tuple(value for value in (element.get("value") or "", *chosen) if value)
            if values:
                found[name] = values
    return found


def options_of(names: Sequence[str]) -> list[SlackJson]:
    """Return the answer to `block_suggestion`. A name that is longer than a value of an option is left out."""
    fitting = [name for name in names if 0 < len(name) <= block_limits.OPTION_VALUE]
    return [_option(name, name) for name in fitting[: block_limits.OPTIONS]]


def kinds_in(action_id: str) -> tuple[NameKind, ...]:
    """Return what a menu of the form suggests, from its action id."""
    _, _, kinds = action_id.partition("/")
    return tuple(NameKind(one) for one in kinds.split("+") if one in set(NameKind))


def _input(field: FormField, catalogue: Catalogue) -> SlackJson:
    block: SlackJson = {
        "type": "input",
        "block_id": field.name,
        "optional": not field.is_required,
        "label": _words(catalogue.say(field.label), 200),
        "element": _element(field, catalogue),
    }
    if field.hint and not field.is_flag:
        block["hint"] = _words(without_marks(catalogue.say(field.hint)), 500)
    return block


def _element(field: FormField, catalogue: Catalogue) -> SlackJson:
    known = [value for value in field.values if value]
    if field.is_flag:
        option = _option(field.name, without_marks(catalogue.say(field.hint)) or field.label)
        ticked = {"initial_options": [option]} if known else {}
        return {"type": "checkboxes", "action_id": _ELEMENT, "options": [option], **ticked}
    if field.choices:
        options = [_option(one, one) for one in field.choices[: block_limits.OPTIONS]]
        first = [one for one in options if one["value"] in known]
        chosen = {"initial_option": first[0]} if first else {}
        return {"type": "static_select", "action_id": _ELEMENT, "options": options, **chosen}
    if field.kinds:
        return _menu(field, options_of(known))
    initial = {"initial_value": " ".join(known)[: block_limits.SECTION]} if known else {}
    return {"type": "plain_text_input", "action_id": _ELEMENT, **initial}


def _menu(field: FormField, known: list[SlackJson]) -> SlackJson:
    """Return the menu that is filled from the live cluster as the person types."""
    kind = "multi_external_select" if field.is_many else "external_select"
    menu: SlackJson = {"type": kind, "action_id": f"{FORM}/{'+'.join(field.kinds)}", "min_query_length": 0}
    if known and field.is_many:
        menu["initial_options"] = known
    elif known:
        menu["initial_option"] = known[0]
    return menu


def _option(value: str, label: str) -> SlackJson:
    return {"text": _words(label, block_limits.BUTTON_LABEL), "value": value}


def _words(words: str, most: int) -> SlackJson:
    return {"type": "plain_text", "text": _cut(words, most)}


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"


def without_marks(words: str) -> str:
    """Return words for a place that shows plain text: without the backticks that mark code."""
    return words.replace("`", "")
