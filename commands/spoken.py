"""This file reads our own sentences, in which `words` between backticks are code, as a neutral text."""

import re

from alerts.cards.message import Text, code, text

_CODE = re.compile(r"`([^`\n]+)`")


def markup(sentence: str) -> Text:
    """The sentence with its backticked words as code. Nothing else in it becomes markup, wherever it is from."""
    parts = _CODE.split(sentence)
    return text(*(code(part) if number % 2 else part for number, part in enumerate(parts)))
