"""Sentences within stored rows: their template and arguments as JSON, and back.

Nothing that is stored here can stop a row from being read: what is not understood stays plain English.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from alerts.cards.text import Span, Style
from collectors.facts.sentences import (
    Argument,
    Listed,
    Marked,
    Sentence,
    counted,
    in_context,
    listed,
    sentence,
)


def stored_sentence(said: Sentence, *, is_within: bool = False) -> dict[str, Any]:
    """Return the sentence as JSON. One that is not within another has its English beside it."""
    if isinstance(said, Listed):
        return {"items": list(map(_stored, said.items)), "joint": said.joint, "more": said.more}
    arguments = {name: _stored(value) for name, value in said.arguments.items()}
    is_its_english = said.template == said and not arguments and said.context and not is_within
    parts = {
        "template": "" if is_its_english else said.template,
        "plural": said.plural,
        "context": said.context,
        "arguments": arguments,
    }
    return {name: part for name, part in parts.items() if part}


def sentences_of(document: Any) -> dict[str, Sentence]:
    """Return the sentences of a row's document by their English, without those that are not understood."""
    found: dict[str, Sentence] = {}
    for english, parts in document.items() if isinstance(document, dict) else ():
        with suppress(ArithmeticError, AssertionError, AttributeError, KeyError, TypeError, ValueError):
            if (said := _read(parts, english)) == english:
                found[english] = said
    return found


def _stored(value: Argument) -> Any:
    match value:
        case Sentence():
            return {"sentence": stored_sentence(value, is_within=True)}
        case str():
            return value
        case timedelta():
            return {"seconds": value.total_seconds()}
        case datetime():
            return {"at": value.isoformat()}
        case int() | float():
            return value  # json writes NaN and infinities as Python reads them
        case tuple():
            return {"spans": [_stored_span(one) for one in value]}
        case _:
            return {"span": _stored_span(value)}


def _stored_span(value: Marked) -> list[Any]:
    if isinstance(value, Span):
        return [_stored(value.text), value.style.value, value.target]
    return [_stored(value.text), Style.PLAIN.value, ""]


def _read(parts: Any, english: str = "") -> Sentence:
    if "items" in parts:
        return listed(map(_argument, parts["items"]), parts["joint"], more=parts["more"])
    arguments = {name: _argument(value) for name, value in parts.get("arguments", {}).items()}
    if "context" in parts:
        return in_context(parts["context"], parts.get("template", english), arguments)
    if "plural" in parts:
        count = arguments.pop("count")
        assert isinstance(count, int | float)
        return counted(parts["template"], parts["plural"], count=count, **arguments)
    return sentence(parts["template"], **arguments)


def _argument(value: Any) -> Argument:
    match value:
        case str() | int() | float():
            return value
        case {"sentence": parts}:
            return _read(parts)
        case {"seconds": seconds}:
            return timedelta(seconds=seconds)
        case {"at": at}:
            return datetime.fromisoformat(at)
        case {"span": span}:
            return _span(span)
        case {"spans": spans}:
            return tuple(map(_span, spans))
        case _:
            raise ValueError(f"not an argument: {value!r}")


def _span(parts: Any) -> Span:
    words, style, target = parts
    said = _argument(words)
    if not isinstance(said, str):
        raise ValueError(f"not a text: {words!r}")
    return Span(said, Style(style), target)
