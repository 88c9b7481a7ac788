"""Suggested actions: which are shown, how their placeholders are filled, and what was done of them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.cards.incident_buttons import MAX_BUTTONS
from alerts.cards.incident_context import IncidentContext
from alerts.cards.message import Context
from alerts.cards.suggested_actions import fill, label_of, suggestions
from alerts.cards.text import Style
from alerts.rules import Rule
from collectors.facts.subjects import Subject
from tests.alerts.cards.conftest import (
    CONTEXT,
    DONE,
    RULES,
    buttons,
    card_of,
    ended,
    incident,
    lines,
)
from tests.support.alerting import a_rule


def test_buttons_are_the_suggested_actions_and_acknowledge() -> None:
    assert buttons(card_of(incident())) == {
        "Cordon gpu-a01": 'node cordon gpu-a01 --reason "GPU hot"',
        "Show gpu-a01": "node show gpu-a01",
        "Acknowledge": "alert ack i7",
    }


def test_an_action_that_the_subject_cannot_fill_is_not_suggested() -> None:
    assert suggestions(incident(component="dns"), RULES) == ()
    assert [one.line for one in suggestions(incident(namespace="vision", pod="detr-0"), RULES)] == [
        'node cordon gpu-a01 --reason "GPU hot"',
        "training show vision/detr",
        "node show gpu-a01",
    ]


def test_buttons_have_a_limit() -> None:
    rule = a_rule(actions=tuple(f"node show {{node}} --page {number}" for number in range(9)))

    assert len(buttons(card_of(incident(), IncidentContext(rules={rule.id: rule})))) <= MAX_BUTTONS


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("running", "In progress: node cordon gpu-a01, by Dana"),
        ("waiting", "Held back: node cordon gpu-a01, by Dana"),
        ("done", "Done: node cordon gpu-a01 by Dana · Next: Show gpu-a01 · runbook"),
    ],
)
def test_started_actions_are_shown_instead_of_suggested_ones(state: str, expected: str) -> None:
    shown = card_of(incident(), replace(CONTEXT, actions=(replace(DONE, state=state),)))

    assert lines(shown)[2].startswith(expected)


@pytest.mark.parametrize("state", ["confirmed", "waiting", "running", "done"])
def test_a_started_action_is_not_suggested_again(state: str) -> None:
    shown = card_of(incident(), replace(CONTEXT, actions=(replace(DONE, state=state),)))

    assert "Cordon gpu-a01" not in buttons(shown)
    assert "Show gpu-a01" in buttons(shown)


@pytest.mark.parametrize("state", ["failed", "cancelled", "undone"])
def test_a_failed_cancelled_or_undone_action_is_suggested_again(state: str) -> None:
    shown = card_of(incident(), replace(CONTEXT, actions=(replace(DONE, state=state),)))

    assert "Cordon gpu-a01" in buttons(shown)
    assert lines(shown)[2].startswith("Next: Cordon gpu-a01")


HOSTILE = [
    "gpu-a01 --reason x",
    "gpu-a01\nnode cordon gpu-a02",
    "gpu-a01\tx",
    'gpu"a01',
    "gpu'a01",
    "gpu\\a01",
    "--all",
    "-h",
    "<!channel>",
    "<@U1>",
    "a&amp;b",
    "`rm`",
    "*a*",
    "$(reboot)",
    "a;b",
    "a|b",
    "{training}",
    "…",
    "gpu‐a01",  # U+2010 in the place of a hyphen-minus
    "gpu\u200ba01",
    "",
]


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_a_value_that_is_not_a_name_never_fills_an_action(value: str) -> None:
    assert fill("node cordon {node}", Subject(node=value, training="vision/detr")) is None


@pytest.mark.parametrize(
    "value",
    ["gpu-a01", "gpu-a01.dc1.example", "vision/detr", "10.0.0.11:9100", "ana@corp.example", "GPU-1", "a_b"],
)
def test_a_name_fills_an_action(value: str) -> None:
    assert fill("x {node} y {node}", Subject(node=value)) == f"x {value} y {value}"


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_filled_line_has_as_many_words_as_its_template(node: str, training: str) -> None:
    line = fill("node cordon {node} for {training}", Subject(node=node, training=training))

    assert line is None or line.split() == ["node", "cordon", node, "for", training]


def test_a_line_without_placeholders_needs_no_subject() -> None:
    assert fill("dns scale", Subject()) == "dns scale"


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ('node cordon gpu-a04 --reason "x y"', "Cordon gpu-a04"),
        ("dns scale", "Scale DNS"),
        ("rule doctor", "Show blind rules"),
        ("gpu free --after 1h", "Free GPUs"),
        ("node list", "List nodes"),
        ("training show vision/detr", "Show vision/detr"),
    ],
)
def test_a_button_is_labeled_with_its_verb_and_its_object(line: str, label: str) -> None:
    assert label_of(line) == label


def test_links_are_filled_from_the_subject_or_left_out() -> None:
    links = {"grafana": "https://g/d/node?var-node={node}", "claim": "https://g/{volume}"}
    shown = card_of(incident(), replace(CONTEXT, links=links))

    foot = next(block.text for block in shown.blocks if isinstance(block, Context))
    assert [span.target for span in foot if span.style is Style.LINK] == ["https://g/d/node?var-node=gpu-a01"]


def test_an_unknown_rule_suggests_nothing_and_does_not_fail() -> None:
    rules: dict[str, Rule] = {}
    shown = card_of(incident(), IncidentContext(rules=rules))

    assert lines(shown)[2] == "Next: investigate; no action is suggested"


def test_an_action_whose_outcome_is_not_known_is_shown_as_that() -> None:
    context = replace(CONTEXT, actions=(replace(DONE, state="unknown"),))

    shown = card_of(incident(), context)
    assert "Not known whether node cordon gpu-a01 was done, by Dana; Yardmaster looks again" in "\n".join(
        lines(shown)
    )
    assert "Cordon gpu-a01" not in buttons(shown)
    assert "Not known whether node cordon gpu-a01 was done" in "\n".join(
        lines(card_of(ended(incident()), context))
    )
