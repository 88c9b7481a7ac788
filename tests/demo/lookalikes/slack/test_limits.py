"""Every documented limit names its page and is enforced at its exact value."""

from collections.abc import Callable
from typing import Any

import pytest

from demo.lookalikes.slack.kit.blocks import mistakes_in_blocks, mistakes_in_view
from demo.lookalikes.slack.limits import documented
from demo.lookalikes.slack.web.calling import METHODS

LIMITS = documented()
Json = dict[str, Any]


def plain(size: int) -> Json:
    return {"type": "plain_text", "text": "x" * size}


def mrkdwn(size: int) -> Json:
    return {"type": "mrkdwn", "text": "x" * size}


def button(**more: Any) -> Json:
    return {"type": "button", "text": plain(2), **more}


def actions(*elements: Json) -> list[Json]:
    return [{"type": "actions", "elements": list(elements)}]


def in_input(element: Json, **more: Any) -> list[Json]:
    return [{"type": "input", "label": plain(3), "element": element, **more}]


def option(text: int = 1, value: int = 1, **more: Any) -> Json:
    return {"text": plain(text), "value": "v" * value, **more}


def menu(*options: Json, **more: Any) -> Json:
    return {"type": "static_select", "options": list(options) or [option()], **more}


def cell() -> Json:
    return {"type": "raw_text", "text": "x"}


def confirmed(**more: Any) -> list[Json]:
    dialog = {"title": plain(1), "text": plain(1), "confirm": plain(1), "deny": plain(1)}
    return actions(button(confirm={**dialog, **more}))


def options(count: int, **more: Any) -> list[Json]:
    return [option(value=1, **more) for _ in range(count)]


def modal(**more: Any) -> Json:
    return {"type": "modal", "title": plain(1), "blocks": [{"type": "divider"}], **more}


#: Builders of blocks or a view of a given size, by the limit's name.
CASES: dict[str, Callable[[int], Any]] = {
    "blocks_per_message": lambda n: [{"type": "divider"}] * n,
    "block_id": lambda n: [{"type": "divider", "block_id": "b" * n}],
    "section_text": lambda n: [{"type": "section", "text": mrkdwn(n)}],
    "section_fields": lambda n: [{"type": "section", "fields": [mrkdwn(1)] * n}],
    "section_field_text": lambda n: [{"type": "section", "fields": [mrkdwn(n)]}],
    "header_text": lambda n: [{"type": "header", "text": plain(n)}],
    "actions_elements": lambda n: actions(*[button()] * n),
    "context_elements": lambda n: [{"type": "context", "elements": [mrkdwn(1)] * n}],
    "context_text": lambda n: [{"type": "context", "elements": [mrkdwn(n)]}],
    "input_label": lambda n: (
        in_input({"type": "plain_text_input"})
        and [{"type": "input", "label": plain(n), "element": {"type": "plain_text_input"}}]
    ),
    "input_hint": lambda n: in_input({"type": "plain_text_input"}, hint=plain(n)),
    "image_url": lambda n: [{"type": "image", "alt_text": "x", "image_url": "u" * n}],
    "image_alt_text": lambda n: [{"type": "image", "alt_text": "x" * n, "image_url": "u"}],
    "image_title": lambda n: [{"type": "image", "alt_text": "x", "image_url": "u", "title": plain(n)}],
    "table_rows": lambda n: [{"type": "table", "rows": [[cell()]] * n}],
    "table_columns": lambda n: [{"type": "table", "rows": [[cell()] * n]}],
    "tables_per_message": lambda n: [{"type": "table", "rows": [[cell()]]}] * n,
    "action_id": lambda n: actions(button(action_id="a" * n)),
    "button_text": lambda n: actions({"type": "button", "text": plain(n)}),
    "button_value": lambda n: actions(button(value="v" * n)),
    "button_url": lambda n: actions(button(url="u" * n)),
    "button_label": lambda n: actions(button(accessibility_label="l" * n)),
    "placeholder": lambda n: actions(menu(placeholder=plain(n))),
    "select_options": lambda n: actions(menu(*options(n))),
    "option_groups": lambda n: actions(
        {"type": "static_select", "option_groups": [{"label": plain(1), "options": options(1)}] * n}
    ),
    "option_text": lambda n: actions(menu(option(text=n))),
    "option_value": lambda n: actions(menu(option(value=n))),
    "option_description": lambda n: actions(menu(option(description=plain(n)))),
    "option_url": lambda n: actions({"type": "overflow", "options": [option(url="u" * n)]}),
    "group_label": lambda n: actions(
        {"type": "static_select", "option_groups": [{"label": plain(n), "options": options(1)}]}
    ),
    "overflow_options": lambda n: actions({"type": "overflow", "options": options(n)}),
    "checkbox_options": lambda n: actions({"type": "checkboxes", "options": options(n)}),
    "radio_options": lambda n: actions({"type": "radio_buttons", "options": options(n)}),
    "input_text": lambda n: in_input({"type": "plain_text_input", "initial_value": "x" * n}),
    "file_input_files": lambda n: in_input({"type": "file_input", "max_files": n}),
    "confirm_title": lambda n: confirmed(title=plain(n)),
    "confirm_text": lambda n: confirmed(text=plain(n)),
    "confirm_button": lambda n: confirmed(deny=plain(n)),
    "blocks_per_view": lambda n: modal(blocks=[{"type": "divider"}] * n),
    "view_title": lambda n: modal(title=plain(n)),
    "view_button": lambda n: modal(submit=plain(n)),
    "private_metadata": lambda n: modal(private_metadata="m" * n),
    "callback_id": lambda n: modal(callback_id="c" * n),
    "external_id": lambda n: modal(external_id="e" * n),
}
#: Limits that only a whole call can exceed, and the tests that exceed them.
ELSEWHERE = {
    "message_text": "test_posting",
    "update_text": "test_posting",
    "blocks_characters": "test_posting",
    "block_container_characters": "test_posting",
    "attachments_per_message": "test_posting",
    "metadata_bytes": "test_posting",
    "history_page": "test_posting",
    "members_page": "test_posting",
    "view_bytes": "test_views",
    "view_stack": "test_views",
    "trigger_seconds": "test_views",
    "ack_seconds": "test_socket_mode",
    "event_attempts": "test_socket_mode",
    "sockets_per_app": "test_socket_mode",
    "response_url_uses": "test_responding",
    "response_url_seconds": "test_responding",
    "file_bytes": "test_files",
    "snippet_bytes": "test_files",
    "messages_per_second_per_channel": "test_rates",
}


def diagnostics(made: Any) -> list[str]:
    return mistakes_in_view(made) if isinstance(made, dict) else mistakes_in_blocks(made)


def test_every_limit_is_tested() -> None:
    assert set(CASES) | set(ELSEWHERE) == set(LIMITS.named)


@pytest.mark.parametrize("name", sorted(LIMITS.named))
def test_a_limit_names_its_source(name: str) -> None:
    limit = LIMITS.named[name]
    assert limit.page.startswith("https://")
    assert limit.value > 0
    assert limit.unit


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_limit_itself_is_allowed(name: str) -> None:
    assert diagnostics(CASES[name](LIMITS[name])) == []


@pytest.mark.parametrize("name", sorted(CASES))
def test_one_more_than_the_limit_is_refused(name: str) -> None:
    errors = diagnostics(CASES[name](LIMITS[name] + 1))
    assert any("[json-pointer:/" in error for error in errors)


def test_every_method_has_a_documented_rate() -> None:
    assert set(LIMITS.tiers) == set(METHODS) | {"api.test", "apps.connections.open"}
    assert set(LIMITS.tiers.values()) <= set(LIMITS.per_minute)
    assert LIMITS.tier_page.startswith("https://docs.slack.dev/")
