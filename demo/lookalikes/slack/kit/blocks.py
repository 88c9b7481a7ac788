"""Validation of blocks and views by Slack's rules, with the documented limits."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from demo.lookalikes.slack.kit.elements import elements
from demo.lookalikes.slack.kit.shapes import (
    Shape,
    anything,
    array,
    boolean,
    diagnostic,
    one_of,
    record,
    slack_file,
    string,
    text,
    typed,
)
from demo.lookalikes.slack.limits import Limits, documented

_MENUS = (
    "static_select",
    "multi_static_select",
    "external_select",
    "multi_external_select",
    "users_select",
    "multi_users_select",
    "channels_select",
    "conversations_select",
)
_GROUPS = ("checkboxes", "radio_buttons", "datepicker", "timepicker")
ACCESSORIES = ("button", "overflow", "image", *_MENUS, *_GROUPS)
ACTIONS = ("button", "overflow", *_MENUS, *_GROUPS)
INPUTS = ("plain_text_input", "number_input", "file_input", *_MENUS, *_GROUPS)


def block_shapes(limits: Limits) -> dict[str, Shape]:
    """Return every supported block by its type. `video` is not supported."""
    known = elements(limits)
    named = {"type": anything, "block_id": string(limits["block_id"], least=1)}
    context = {
        "image": known["image"],
        "plain_text": text(limits["context_text"], plain=True),
        "mrkdwn": text(limits["context_text"]),
    }
    return {
        "section": _some(
            ("text", "fields"),
            record(
                {},
                {
                    **named,
                    "text": text(limits["section_text"]),
                    "fields": array(text(limits["section_field_text"]), limits["section_fields"], least=1),
                    "accessory": typed(_pick(known, ACCESSORIES)),
                    "expand": boolean,
                },
            ),
        ),
        "header": record({"text": text(limits["header_text"], plain=True)}, {**named}),
        "divider": record({}, named),
        "context": record(
            {"elements": array(typed(context), limits["context_elements"], least=1)},
            named,
        ),
        "actions": record(
            {"elements": array(typed(_pick(known, ACTIONS)), limits["actions_elements"], least=1)},
            named,
        ),
        "input": record(
            {
                "label": text(limits["input_label"], plain=True),
                "element": typed(_pick(known, INPUTS)),
            },
            {
                **named,
                "hint": text(limits["input_hint"], plain=True),
                "optional": boolean,
                "dispatch_action": boolean,
            },
        ),
        "image": _some(
            ("image_url", "slack_file"),
            record(
                {"alt_text": string(limits["image_alt_text"])},
                {
                    **named,
                    "image_url": string(limits["image_url"]),
                    "slack_file": slack_file,
                    "title": text(limits["image_title"], plain=True),
                },
            ),
        ),
        "rich_text": record({"elements": array(typed(_RICH), 1000)}, named),
        "table": record(
            {
                "rows": array(
                    array(typed(_CELLS), limits["table_columns"], least=1), limits["table_rows"], least=1
                )
            },
            {
                **named,
                "column_settings": array(
                    record({}, {"align": one_of("left", "center", "right"), "is_wrapped": boolean}),
                    limits["table_columns"],
                ),
            },
        ),
    }


_CELLS: dict[str, Shape] = {
    "raw_text": record({"text": string(1_000_000, least=1)}, {"type": anything}),
    "rich_text": record({"elements": anything}, {"type": anything}),
}
_RICH: dict[str, Shape] = {
    kind: record(
        {"elements": array(anything, 1000)},
        {"type": anything, "style": anything, "indent": anything, "border": anything, "offset": anything},
    )
    for kind in ("rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote")
}


def mistakes_in_blocks(
    blocks: Any, limits: Limits | None = None, *, most: str = "blocks_per_message"
) -> list[str]:
    """Return Slack's errors for the decoded `blocks` argument, empty when it is valid.

    `limits` replaces the documented limits. `most` names the limit on the number of blocks: `blocks_per_view`
    for modals and home tabs.
    """
    limits = limits or documented()
    shape = array(typed(_shapes() if limits is documented() else block_shapes(limits)), limits[most])
    found = list(shape(blocks, "/blocks"))
    return found or [*_repeated(blocks), *_too_many_tables(blocks, limits, is_view=most == "blocks_per_view")]


def mistakes_in_view(view: Any, limits: Limits | None = None) -> list[str]:
    """Return Slack's errors for a modal or a home tab."""
    limits = limits or documented()
    if not isinstance(view, dict) or view.get("type") not in ("modal", "home"):
        return [diagnostic("must be one of: modal, home", "/type")]
    common = {
        "type": anything,
        "callback_id": string(limits["callback_id"]),
        "external_id": string(limits["external_id"]),
        "private_metadata": string(limits["private_metadata"]),
    }
    if view["type"] == "home":
        outer = record({"blocks": anything}, common)
    else:
        button = text(limits["view_button"], plain=True)
        switches = dict.fromkeys(("clear_on_close", "notify_on_close", "submit_disabled"), boolean)
        outer = record(
            {"blocks": anything, "title": text(limits["view_title"], plain=True)},
            {**common, "submit": button, "close": button, **switches},
        )
    found = list(outer(view, "")) + mistakes_in_blocks(view.get("blocks"), limits, most="blocks_per_view")
    has_input = isinstance(view.get("blocks"), list) and any(
        isinstance(block, dict) and block.get("type") == "input" for block in view["blocks"]
    )
    if view["type"] == "modal" and has_input and "submit" not in view:
        found.append(diagnostic("missing required field: submit (there are input blocks)", ""))
    return found


def is_too_large(blocks: list[dict[str, Any]], limits: Limits) -> bool:
    """Whether the blocks together exceed what Slack accepts in one message (`msg_blocks_too_long`)."""
    written = sum(len(piece) for piece in written_in(blocks))
    return written + len(blocks) * limits["block_container_characters"] > limits["blocks_characters"]


def written_in(part: Any) -> Iterator[str]:
    """Yield every piece of text that a reader sees."""
    if isinstance(part, dict):
        for name, inner in part.items():
            if name == "text" and isinstance(inner, str):
                yield inner
            else:
                yield from written_in(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from written_in(inner)


def size_in_bytes(part: Any) -> int:
    """Return the size of a part as compact JSON."""
    return len(json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode())


@cache
def _shapes() -> dict[str, Shape]:
    return block_shapes(documented())


def _pick(known: Mapping[str, Shape], kinds: tuple[str, ...]) -> dict[str, Shape]:
    return {kind: known[kind] for kind in kinds}


def _some(names: tuple[str, ...], shape: Shape) -> Shape:
    def check(value: Any, pointer: str) -> Iterator[str]:
        yield from shape(value, pointer)
        if not any(value.get(name) for name in names):
            yield diagnostic(f"must define at least one of: {', '.join(names)}", pointer)

    return check


def _too_many_tables(blocks: list[dict[str, Any]], limits: Limits, *, is_view: bool) -> Iterator[str]:
    """A message has one table, and a view none."""
    tables = [index for index, block in enumerate(blocks) if block["type"] == "table"]
    for index in tables[0 if is_view else limits["tables_per_message"] :]:
        reason = "unsupported type: table" if is_view else "only_one_table_allowed"
        yield diagnostic(reason, f"/blocks/{index}")


def _repeated(blocks: list[dict[str, Any]]) -> Iterator[str]:
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        name = block.get("block_id")
        if name in seen:
            yield diagnostic(f"`block_id` already exists: {name}", f"/blocks/{index}/block_id")
        seen |= {name} if name else set()
        actions: set[str] = set()
        for number, element in enumerate(block.get("elements") or ()):
            action = element.get("action_id") if isinstance(element, dict) else None
            if action in actions:
                yield diagnostic(
                    f"`action_id` already exists: {action}", f"/blocks/{index}/elements/{number}/action_id"
                )
            actions |= {action} if action else set()
