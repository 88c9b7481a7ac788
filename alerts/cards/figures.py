"""Figures: the parts of a message that only count. A new state is shown at once, a new figure only now and then.

A figure is a number or a duration among a sentence's arguments, or the value of a rule's sample: "109 °C", "3 of 8".
Names, moments, code and buttons are state, and so is a text from outside, whatever numbers it has: no finished sentence
is read. What is quoted in fixed width is state only by being there, because newer lines replace it.
"""

from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta

from alerts.annotation_template import RULE_CONTEXT
from alerts.cards.message import Message, Preformatted, Table
from collectors.facts.sentences import Listed, Sentence

_MEASURED = (
    "value",
    "count",
)  # arguments of rules: what their templates print of a sample, and how many alerts


def card_state(message: Message) -> object:
    """Return what two messages have in common that differ in figures only, in the values of JSON.

    Without the summary, as the title says the same and an edit notifies nobody, and without files.
    """
    return [_state(message.title), message.color.value, [_state(block) for block in message.blocks]]


def _state(shown: object) -> object:
    match shown:
        case str():
            return _said(shown)
        case tuple():
            return [_state(one) for one in shown]
        case Preformatted():
            return [Preformatted.__name__, bool(shown.lines)]
        case Table():
            return [Table.__name__, _state(shown.heading), _state(shown.rows), bool(shown.more)]
        case _ if is_dataclass(shown):
            return [type(shown).__name__, *(_state(getattr(shown, field.name)) for field in fields(shown))]
        case _:
            return shown


def _said(said: str) -> object:
    if isinstance(said, Listed):
        return [said.joint, *map(_argument, said.items), bool(said.more)]
    if not isinstance(said, Sentence):
        return str(said)
    return [said.context, said.template, *(_named(said, name) for name in sorted(said.arguments))]


def _named(said: Sentence, name: str) -> object:
    value = said.arguments[name]
    is_measured = said.context == RULE_CONTEXT and name.rstrip("0123456789") in _MEASURED
    return None if is_measured and not isinstance(value, Sentence) else _argument(value)


def _argument(value: object) -> object:
    match value:
        case datetime():
            return value.isoformat()
        case int() | float() | timedelta():
            return None
        case _:
            return _state(value)
