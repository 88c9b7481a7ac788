"""The width of a text where every character has the same width: Chinese characters take two columns."""

from unicodedata import east_asian_width


def width_of(text: str) -> int:
    """Return the number of columns."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def padded(text: str, width: int) -> str:
    """Return the text with spaces up to the width."""
    return text + " " * (width - width_of(text))
