"""The table of interactive elements: their fields and the limits of each."""

from collections.abc import Iterator
from typing import Any

from demo.lookalikes.slack.kit.shapes import (
    Shape,
    anything,
    array,
    boolean,
    diagnostic,
    integer,
    one_of,
    record,
    slack_file,
    string,
    text,
)
from demo.lookalikes.slack.limits import Limits


def elements(limits: Limits) -> dict[str, Shape]:
    """Return every supported element by its type."""
    confirm = record(
        {
            "title": text(limits["confirm_title"], plain=True),
            "text": text(limits["confirm_text"]),
            "confirm": text(limits["confirm_button"], plain=True),
            "deny": text(limits["confirm_button"], plain=True),
        },
        {"style": one_of("primary", "danger")},
    )
    action = {"type": anything, "action_id": string(limits["action_id"], least=1)}
    common = {"confirm": confirm, "focus_on_load": boolean}
    hint = {"placeholder": text(limits["placeholder"], plain=True)}
    menu_option = _option(limits, plain=True)
    rich_option = _option(limits, plain=False)
    group = record(
        {
            "label": text(limits["group_label"], plain=True),
            "options": array(menu_option, limits["select_options"], least=1),
        }
    )
    choices = {
        "options": array(menu_option, limits["select_options"], least=1),
        "option_groups": array(group, limits["option_groups"], least=1),
    }
    typed = {
        "max_length": integer,
        "min_length": integer,
        "initial_value": string(limits["input_text"]),
        "dispatch_action_config": anything,
    }
    user, users = string(20), array(string(20), limits["select_options"])
    return {
        "button": record(
            {"type": anything, "text": text(limits["button_text"], plain=True)},
            {
                "action_id": action["action_id"],
                "value": string(limits["button_value"]),
                "url": string(limits["button_url"]),
                "style": one_of("primary", "danger"),
                "confirm": confirm,
                "accessibility_label": string(limits["button_label"]),
            },
        ),
        "static_select": _either(
            record({}, {**action, **common, **hint, **choices, "initial_option": menu_option})
        ),
        "multi_static_select": _either(
            record(
                {},
                {
                    **action,
                    **common,
                    **hint,
                    **choices,
                    "initial_options": array(menu_option, limits["select_options"], least=1),
                    "max_selected_items": integer,
                },
            )
        ),
        "external_select": record(
            {}, {**action, **common, **hint, "initial_option": menu_option, "min_query_length": integer}
        ),
        "multi_external_select": record(
            {},
            {
                **action,
                **common,
                **hint,
                "initial_options": array(menu_option, limits["select_options"], least=1),
                "min_query_length": integer,
                "max_selected_items": integer,
            },
        ),
        "users_select": record({}, {**action, **common, **hint, "initial_user": user}),
        "multi_users_select": record(
            {}, {**action, **common, **hint, "initial_users": users, "max_selected_items": integer}
        ),
        "channels_select": record(
            {}, {**action, **common, **hint, "initial_channel": user, "response_url_enabled": boolean}
        ),
        "conversations_select": record(
            {},
            {
                **action,
                **common,
                **hint,
                "initial_conversation": user,
                "response_url_enabled": boolean,
                "default_to_current_conversation": boolean,
                "filter": anything,
            },
        ),
        "overflow": record(
            {"type": anything, "options": array(menu_option, limits["overflow_options"], least=1)},
            {"action_id": action["action_id"], "confirm": confirm},
        ),
        "checkboxes": record(
            {"type": anything, "options": array(rich_option, limits["checkbox_options"], least=1)},
            {**action, **common, "initial_options": array(rich_option, limits["checkbox_options"], least=1)},
        ),
        "radio_buttons": record(
            {"type": anything, "options": array(rich_option, limits["radio_options"], least=1)},
            {**action, **common, "initial_option": rich_option},
        ),
        "plain_text_input": record(
            {"type": anything}, {**action, **hint, **typed, "multiline": boolean, "focus_on_load": boolean}
        ),
        "number_input": record(
            {"type": anything, "is_decimal_allowed": boolean},
            {**action, **hint, **typed, "min_value": anything, "max_value": anything},
        ),
        "datepicker": record({"type": anything}, {**action, **common, **hint, "initial_date": string(10)}),
        "timepicker": record(
            {"type": anything},
            {**action, **common, **hint, "initial_time": string(5), "timezone": string(64)},
        ),
        "file_input": record(
            {"type": anything},
            {
                **action,
                "filetypes": array(string(20), 100),
                "max_files": _at_most(limits["file_input_files"]),
            },
        ),
        "image": record(
            {"type": anything, "alt_text": string(limits["image_alt_text"])},
            {"image_url": string(limits["image_url"]), "slack_file": slack_file},
        ),
    }


def _option(limits: Limits, *, plain: bool) -> Shape:
    return record(
        {
            "text": text(limits["option_text"], plain=plain),
            "value": string(limits["option_value"]),
        },
        {
            "description": text(limits["option_description"], plain=plain),
            "url": string(limits["option_url"]),
        },
    )


def _either(shape: Shape) -> Shape:
    """Require options or groups of options in a menu, but not both."""

    def check(value: Any, pointer: str) -> Iterator[str]:
        yield from shape(value, pointer)
        if isinstance(value, dict) and ("options" in value) == ("option_groups" in value):
            yield diagnostic("must define either `options` or `option_groups`", pointer)

    return check


def _at_most(most: int) -> Shape:
    def check(value: Any, pointer: str) -> Iterator[str]:
        yield from integer(value, pointer)
        if isinstance(value, int) and not 1 <= value <= most:
            yield diagnostic(f"must be between 1 and {most}", pointer)

    return check
