"""The wording of sentences: the spans that a `Sentence` consists of, in English or in another language. Pure."""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Protocol

from alerts.cards.text import Span, Style, Text, moment
from collectors.facts.clock import humanize
from collectors.facts.sentences import (
    ENGLISH_JOINTS,
    ENGLISH_MORE,
    Argument,
    Joint,
    Listed,
    Sentence,
    pieces,
)

WIDE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")  # a character that is written without spaces
_MERGED = (Style.PLAIN, Style.CODE)  # spans of these styles beside each other are one


class Wording(Protocol):
    """What of a sentence depends on the language."""

    @property
    def more(self) -> str:
        """The template of a list that does not name all: `{items}` and `{count}`."""
        ...

    def form(self, said: Sentence) -> str:
        """Return the template for the count; the English one where it is not translated."""
        ...

    def joint(self, joint: Joint) -> tuple[str, str]:
        """Return what stands between two items, and before the last."""
        ...

    def name(self, words: str, hole: str) -> str:
        """Return the text of an argument, which is not a sentence. Of a list, the hole has no name."""
        ...


class English:
    """The wording of the code itself."""

    more = ENGLISH_MORE

    def form(self, said: Sentence) -> str:
        return said.form

    def joint(self, joint: Joint) -> tuple[str, str]:
        return ENGLISH_JOINTS[joint]

    def name(self, words: str, hole: str) -> str:
        return words


ENGLISH: Final = English()


def spans_of(said: Sentence, wording: Wording = ENGLISH) -> Text:
    """Return what the sentence consists of: backticks of a template become code, arguments keep their styles."""
    if isinstance(said, Listed):
        return _list(said, wording)
    parts: list[Text] = []
    is_code = False
    for words, name, spec in pieces(wording.form(said)):
        for number, piece in enumerate(words.split("`")):
            is_code = is_code != bool(number)
            parts.append((Span(piece, Style.CODE if is_code else Style.PLAIN),))
        if name is not None:
            value = _argument(said.arguments[name], spec, wording, name)
            parts.append(_styled(value, Style.CODE) if is_code else value)
    return _joined(parts)


def expanded(content: Text, wording: Wording = ENGLISH) -> Text:
    """Return the text with the spans of its sentences. One in a style of its own, such as bold, keeps it."""
    found: list[Span] = []
    for span in content:
        if not isinstance(span.text, Sentence):
            found.append(span)
        elif span.style is Style.LINK:
            words = "".join(one.text for one in spans_of(span.text, wording))
            found.append(replace(span, text=words))
        else:
            found += _styled(spans_of(span.text, wording), span.style)
    return tuple(found)


def _list(said: Listed, wording: Wording) -> Text:
    between, last = wording.joint(said.joint)
    items = [_argument(one, "", wording) for one in said.items]
    parts: list[Text] = []
    for number, item in enumerate(items):
        is_last = number == len(items) - 1 and not said.more
        joint = Span(last if is_last else between)
        parts += [(joint,), item] if number else [item]
    if not said.more:
        return _joined(parts)
    if not items:
        return (Span(str(said.more)),)
    rest = {"items": _joined(parts), "count": (Span(str(said.more)),)}
    whole: list[Text] = []
    for words, name, _ in pieces(wording.more):
        whole += [(Span(words),), rest[name]] if name else [(Span(words),)]
    return _joined(whole)


def _argument(value: Argument, spec: str, wording: Wording, hole: str = "") -> Text:
    match value:
        case Sentence():
            return spans_of(value, wording)
        case str():
            return (Span(wording.name(value, hole)),)
        case timedelta():
            return (Span(humanize(value)),)
        case datetime():
            return (Span(format(value, spec)) if spec else moment(value),)
        case int() | float():
            return (Span(format(value, spec)),)
        case Span():
            return expanded((value,), wording)
        case tuple():
            return expanded(tuple(one for one in value if isinstance(one, Span)), wording)
        case _:
            return (Span(value.text),)


def _styled(content: Text, style: Style) -> Text:
    """Return the text with its plain words in the style."""
    return tuple(replace(span, style=style) if span.style is Style.PLAIN else span for span in content)


def _joined(parts: list[Text]) -> Text:
    """Join words and arguments. Between two characters that are written without spaces there is none."""
    spans: list[Span] = []
    for part in parts:
        for span in part:
            if not span.text and not span.target:
                continue
            if spans:
                before, span = _without_space(spans[-1], span)
                spans[-1] = before
                if (
                    span.style is before.style
                    and span.style in _MERGED
                    and "\n" not in (span.text, before.text)
                ):
                    spans[-1] = replace(before, text=before.text + span.text)
                    continue
            spans.append(span)
    return tuple(span for span in spans if span.text or span.target)


def _without_space(before: Span, after: Span) -> tuple[Span, Span]:
    if WIDE.match(after.text) and before.text[-1:] == " " and WIDE.match(before.text[-2:-1]):
        return replace(before, text=before.text[:-1]), after
    if WIDE.match(before.text[-1:]) and after.text[:1] == " " and WIDE.match(after.text[1:2]):
        return before, replace(after, text=after.text[1:])
    return before, after
