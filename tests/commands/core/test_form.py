"""A form has a field for each parameter, and stands for a line that is read as it was filled in."""

import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from bot.channels.slack.form_view import chooser_view, form_view, values_of
from commands.command_catalogue import CATALOGUE
from commands.core.command import FormRequest
from commands.core.form import fields_of, line_words, mistakes
from commands.core.parsing import parse_line, words_of
from demo.lookalikes.slack.kit.blocks import mistakes_in_view

LAUNCH = next(one for one in CATALOGUE if one.name == "training launch")
CORDON = next(one for one in CATALOGUE if one.name == "node cordon")


@pytest.mark.parametrize("command", CATALOGUE, ids=lambda one: one.name)
def test_each_command_has_a_form_that_slack_accepts(command: Any) -> None:
    words = tuple(words_of(command.example)[len(command.name.split()) :])
    for known in ((), words):
        view = form_view(
            FormRequest(command=command, words=known, cluster="prod-a"), channel="slack:C0123456"
        )
        assert mistakes_in_view(view) == []


@pytest.mark.parametrize("command", CATALOGUE, ids=lambda one: one.name)
def test_the_form_of_an_example_stands_for_the_example(command: Any) -> None:
    words = tuple(words_of(command.example)[len(command.name.split()) :])
    form = FormRequest(command=command, words=words, cluster="")
    values = {field.name: field.values for field in fields_of(form) if field.values}
    assert mistakes(command, values) == {}
    line = shlex.join(line_words(command, values))
    assert parse_line(line, CATALOGUE) == parse_line(command.example, CATALOGUE)


def test_the_chooser_is_a_view_that_slack_accepts() -> None:
    assert mistakes_in_view(chooser_view(CATALOGUE)) == []


@given(some.text(max_size=60), some.text(max_size=60))
def test_whatever_is_filled_in_stays_one_value(reason: str, node: str) -> None:
    """No text of a field becomes an option, another argument or another command."""
    values = {"nodes": ("gpu-a01", node), "--reason": (reason,)}
    if mistakes(CORDON, values):
        return
    command, action = parse_line(shlex.join(line_words(CORDON, values)), CATALOGUE)
    assert command is CORDON
    assert action.reason == reason.strip()
    assert len(action.nodes) == 1 + bool(node.strip())


def test_mistakes_are_at_their_fields() -> None:
    wrong = {"--workers": ("two",), "--max-duration": ("soon",)}
    assert mistakes(LAUNCH, {"name": ("x",), "--image": ("y",), **wrong}) == {
        "--workers": "`--workers` must be a whole number, such as 4, or a range, such as 2..8, and `two` is neither.",
        "--max-duration": "`--max-duration`: `soon` is not a duration: write it like 30s, 5m, 1h30m or 7d.",
    }
    assert mistakes(LAUNCH, {"name": ("x",), "--image": ("y",), "extra": ('a "b',)}) == {
        "name": 'A quote is not closed in `a "b`.'
    }


def test_what_a_view_holds_is_read_by_field() -> None:
    state = {
        "nodes": {
            "form/node": {
                "type": "multi_external_select",
                "selected_options": [{"value": "a"}, {"value": "b"}],
            }
        },
        "--reason": {"value": {"type": "plain_text_input", "value": "fan"}},
        "--for": {"value": {"type": "plain_text_input", "value": None}},
    }
    assert values_of({"state": {"values": state}}) == {"nodes": ("a", "b"), "--reason": ("fan",)}


# They say what a field is for without another word; the others are names of options, such as `of` and `tail`.
PLAIN = {
    *("Agent", "Arguments", "Breaker", "Command", "Container", "Image", "Incident", "Namespace", "Node"),
    *("Nodes", "Person", "Plan", "Pod", "Queue", "Rack", "Rank", "Reason", "Replicas", "Request", "Rule"),
    *("Silence", "Taint", "Team", "Training", "Trainings", "Volume", "Workers"),
}


@pytest.mark.parametrize("command", CATALOGUE, ids=lambda one: one.name)
def test_a_label_says_what_its_field_is_for(command: Any) -> None:
    fields = fields_of(FormRequest(command=command, words=(), cluster=""))
    labels = [field.label for field in fields]
    assert [one for one in labels if one not in PLAIN and (len(one.split()) < 2 or "_" in one)] == []
    assert len(set(labels)) == len(labels)


def test_a_form_has_no_field_for_what_needs_a_file_unless_its_line_has_it() -> None:
    names = {one.name for one in fields_of(FormRequest(command=LAUNCH, words=(), cluster=""))}
    assert names.isdisjoint({"--spec", "--from"})
    given = fields_of(FormRequest(command=LAUNCH, words=("x", "--spec"), cluster=""))
    assert [one.values for one in given if one.name == "--spec"] == [("--spec",)]


def test_what_another_field_can_say_is_not_required_in_a_form_and_is_asked_for_at_its_field() -> None:
    fields = fields_of(FormRequest(command=LAUNCH, words=(), cluster=""))
    assert [one.name for one in fields[:4]] == ["name", "--image", "--workers", "--gpus"]
    assert [one.name for one in fields if one.is_required] == ["name"]
    assert mistakes(LAUNCH, {"name": ("x",), "--like": ("y",)}) == {}
    assert set(mistakes(LAUNCH, {"name": ("x",)})) == {"--image"}
