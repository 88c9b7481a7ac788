"""A phrase: a sentence of the code with holes, and the same sentence in another language."""

import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from collectors.facts.patterns import Pattern, compile_pattern

HOLE = "{}"
_HOLE, _LOOSE_HOLE = "([^;\n]*?)", "(.*?)"
_HOLES = re.compile(r"\{(\d*)\}")
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
_SEPARATORS = (" ", ",", ";", "\n")


class Position(Enum):
    """Where a phrase stands in a sentence. The space at its ends tells."""

    WHOLE = auto()
    BEGINNING = auto()  # "Resolved: ": something follows it
    END = auto()  # " and {} more": it follows something
    BETWEEN = auto()  # " by "


@dataclass(frozen=True)
class Phrase:
    """`english`: as it stands in the code, with `{}` where an f-string or a template has an expression.

    `other`: the same in the other language. `{}` are the English holes in their order, `{0}` and `{1}` choose among
    them; one that is left out, such as the "s" of a plural, is dropped. Raises ValueError for a hole too many.
    """

    english: str
    other: str

    def __post_init__(self) -> None:
        count = self.english.count(HOLE)
        if any(number >= count for number in self._holes_of_other):
            raise ValueError(f"{self.other!r} has a hole that {self.english!r} has not")

    @cached_property
    def position(self) -> Position:
        follows = self.english[:1] in _SEPARATORS
        if self.english[-1:] in _SEPARATORS:
            return Position.BETWEEN if follows else Position.BEGINNING
        return Position.END if follows else Position.WHOLE

    @cached_property
    def fixed(self) -> str:
        """The longest part without a hole: a sentence without it is not this phrase."""
        return max((part.strip() for part in self.english.split(HOLE)), key=len)

    @cached_property
    def weight(self) -> int:
        """How many characters are fixed: of two phrases that fit, the one with more says more."""
        return len("".join(self.english.split(HOLE)).strip())

    @cached_property
    def whole(self) -> Pattern:
        """Matches the phrase alone; its groups are its holes. None of them has a list of sentences in it."""
        return compile_pattern(rf"\s*{self._escaped(self.english.strip(), _HOLE)}\s*")

    @cached_property
    def loose(self) -> Pattern:
        """Like `whole`, but anything may stand in the holes."""
        return compile_pattern(rf"(?s)\s*{self._escaped(self.english.strip(), _LOOSE_HOLE)}\s*")

    @cached_property
    def part(self) -> Pattern:
        """Matches a sentence that has the phrase at its position; the other groups are what stands beside it."""
        before = "(.+)" if self.position in (Position.END, Position.BETWEEN) else ""
        after = "(.+)" if self.position in (Position.BEGINNING, Position.BETWEEN) else ""
        return compile_pattern(f"(?s){before}{self._escaped(self.english, _HOLE)}{after}")

    def filled(self, holes: list[str]) -> str:
        """Return the other sentence with what stands in the English holes."""
        numbers = iter(self._holes_of_other)
        return _HOLES.sub(lambda _: holes[next(numbers)], self.other)

    @cached_property
    def _holes_of_other(self) -> tuple[int, ...]:
        found = _HOLES.findall(self.other)
        return tuple(int(number) if number else place for place, number in enumerate(found))

    @staticmethod
    def _escaped(english: str, hole: str) -> str:
        return hole.join(_SPECIAL.sub(r"\\\g<0>", part) for part in english.split(HOLE))
