"""The app's answer to `block_suggestion`: options or groups of options, within the limits of a menu."""

from typing import Any

from demo.lookalikes.slack.kit.elements import elements
from demo.lookalikes.slack.kit.shapes import anything, array, record
from demo.lookalikes.slack.limits import Limits


def mistakes_in_suggestions(answer: Any, limits: Limits) -> list[str]:
    """Return Slack's errors for the answer; no options at all are allowed: there is no result then.

    Source: docs.slack.dev, reference/block-kit/block-elements/select-menu-element, `external_select`.
    """
    if answer in ({"options": []}, {"option_groups": []}):
        return []
    menu = elements(limits)["static_select"]
    outer = record({}, {"options": array(anything, limits["select_options"]), "option_groups": anything})
    if not isinstance(answer, dict):
        return ["must be an object"]
    return [*outer(answer, ""), *menu({"type": "static_select", "action_id": "suggested", **answer}, "")]
