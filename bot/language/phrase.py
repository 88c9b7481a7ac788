"""A phrase: a sentence of the code with holes, and the same sentence in another language."""

import re
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from collectors.facts.patterns import Pattern, compile_pattern

FIRST_TOKEN = 0xE000  # tokens, of Unicode's private area, stand for names and code within a sentence
LAST_TOKEN = 0xE0FF

_PIECES = re.compile(r"(\{\d*\}|`[^`]*`)")  # a hole, or code
_ANYTHING = "(.*?)"
_NO_LIST = r"((?:[^;·\n.!?]|[.!?]+[^ ;·\n.!?])*?)"  # neither a list of sentences nor the end of one
_CODE = f"(`[^`]*`|[{chr(FIRST_TOKEN)}-{chr(LAST_TOKEN)}])"
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
WORD = re.compile(r"[A-Za-z]+")
_MANY, _LITTLE = 5, 3  # words that say enough, letters of a word that says little: "of"
_OPENING = (": ", "(", "“", "; ")  # what a sentence from elsewhere may follow
_SEPARATORS = (" ", ",", ";", "\n")
# All that may stand in a hole that the other sentence leaves out.
_PLURAL = "(s|es|is|are|has|have| has|s have|)"
WIDE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")  # a character that is written without spaces


class Position(Enum):
    """Where a phrase stands in a sentence. The space at its ends tells."""

    WHOLE = auto()
    BEGINNING = auto()  # "Resolved: ": something follows it
    END = auto()  # " and {} more": it follows something
    BETWEEN = auto()  # " by "


class Expected(Enum):
    """What may stand in a hole if it cannot be translated."""

    ENDING = auto()  # of a plural, which is left out
    ANYTHING = auto()
    VALUE = auto()  # a name, or a number with its unit
    SYMBOL = auto()  # a value that is not an English word: it has a digit, a dash, a capital


@dataclass(frozen=True)
class Phrase:
    """`english`: as it stands in the code, with `{}` where an f-string or a template has an expression.

    `other`: the same in the other language. `{}` are the English holes in their order, `{0}` and `{1}` choose among
    them; one that is left out, such as the "s" of a plural, is dropped. Code in backticks is kept as it is, and code
    that is there twice keeps its order. Raises ValueError for a hole or code that the English has not.
    """

    english: str
    other: str

    def __post_init__(self) -> None:
        _ = self._order

    @cached_property
    def position(self) -> Position:
        follows = self.english[:1] in _SEPARATORS
        if self.english[-1:] in _SEPARATORS:
            return Position.BETWEEN if follows else Position.BEGINNING
        return Position.END if follows else Position.WHOLE

    @cached_property
    def has_holes(self) -> bool:
        return bool(self._holes)

    @cached_property
    def fixed(self) -> str:
        """The longest part that is neither hole nor code: a sentence without it is not this phrase."""
        return max((part.strip() for part in self._parts[::2]), key=len)

    @cached_property
    def key_word(self) -> str:
        """The longest word that every such sentence has; empty if each of its words may go on in a hole."""
        found, last = [""], len(self._parts) - 1
        for place in range(0, len(self._parts), 2):
            part = self._parts[place]
            found += (
                word[0]
                for word in WORD.finditer(part)
                if (word.start() or not place) and (word.end() < len(part) or place == last)
            )
        return max(found, key=len)

    @cached_property
    def weight(self) -> int:
        """How many characters are fixed: of two phrases that fit, the one with more says more."""
        return len("".join(self._parts[::2]).strip())

    @cached_property
    def beside(self) -> Expected:
        """What is expected beside a fragment. The fewer words it has, the more sentences it fits that are not ours."""
        words = WORD.findall(" ".join(self._parts[::2]))
        if len(words) >= _MANY or (not self._parts[0].strip() and self.english.endswith(_OPENING)):
            return Expected.ANYTHING
        return Expected.VALUE if len(words) > 1 or len("".join(words)) > _LITTLE else Expected.SYMBOL

    @cached_property
    def expected(self) -> tuple[Expected, ...]:
        """What is expected in each hole."""
        return tuple(
            Expected.ENDING
            if place not in self._order
            else Expected.ANYTHING
            if hole.startswith("`") or before.endswith(_OPENING)
            else self.beside
            for place, (before, hole) in enumerate(zip(self._parts[::2], self._holes, strict=False))
        )

    @cached_property
    def whole(self) -> Pattern:
        """Matches the phrase alone; its groups are its holes. None of them has a list of sentences in it."""
        return compile_pattern(self._alone(_NO_LIST))

    @cached_property
    def loose(self) -> Pattern:
        """Like `whole`, but anything may stand in the holes."""
        return compile_pattern(f"(?s){self._alone(_ANYTHING)}")

    @cached_property
    def part(self) -> Pattern:
        """Matches a sentence that has the phrase at its position; the other groups are what stands beside it."""
        before = "(.+)" if self.position in (Position.END, Position.BETWEEN) else ""
        after = "(.+)" if self.position in (Position.BEGINNING, Position.BETWEEN) else ""
        return compile_pattern(f"(?s){before}{self._pattern(_NO_LIST)}{after}")

    def filled(self, holes: list[str]) -> str:
        """Return the other sentence with what stands in the English holes and code.

        Between two characters that are written without spaces there is none.
        """
        parts = _PIECES.split(self.other)
        for number, place in enumerate(self._order):
            at, hole = 2 * number + 1, holes[place]
            parts[at] = hole
            if WIDE.match(hole) and WIDE.match(parts[at - 1][-2:-1]):
                parts[at - 1] = parts[at - 1].removesuffix(" ")
            if WIDE.match(hole[-1:]) and WIDE.match(parts[at + 1][1:2]):
                parts[at + 1] = parts[at + 1].removeprefix(" ")
        return "".join(parts)

    @cached_property
    def _parts(self) -> list[str]:
        """Fixed words and, at odd places, holes and code."""
        return _PIECES.split(self.english)

    @cached_property
    def _holes(self) -> list[str]:
        return self._parts[1::2]

    def _alone(self, hole: str) -> str:
        """The expression of the sentence with any space around it; the space of a fragment is its own."""
        pattern = self._pattern(hole)
        return rf"\s*{pattern.strip()}\s*" if self.position is Position.WHOLE else pattern

    def _pattern(self, hole: str) -> str:
        """The expression of the English sentence; code is also found where it became a token."""
        found = [_SPECIAL.sub(r"\\\g<0>", part) for part in self._parts]
        found[1::2] = (
            _CODE if one.startswith("`") else hole if place in self._order else _PLURAL
            for place, one in enumerate(self._holes)
        )
        if self._parts[-2:-1] == ["{}"] and not self._parts[-1] and self._parts[-3].endswith((": ", ". ")):
            found[-2] = f"{found[-2].removesuffix(')')}[.!?]*)"  # a sentence with its end
        return "".join(found)

    @cached_property
    def _order(self) -> list[int]:
        """Which of the English holes stands at each hole of the other sentence."""
        plain = [place for place, one in enumerate(self._holes) if not one.startswith("`")]
        codes = [place for place, one in enumerate(self._holes) if one.startswith("`")]
        order, count = list[int](), 0
        for piece in _PIECES.split(self.other)[1::2]:
            if piece.startswith("`"):
                place = next((one for one in codes if self._holes[one] == piece), None)
                if place is not None:
                    codes.remove(place)
            else:
                number = int(piece[1:-1] or count)
                place, count = plain[number] if number < len(plain) else None, count + 1
            if place is None:
                raise ValueError(f"{self.other!r} has {piece}, and {self.english!r} has not")
            order.append(place)
        return order
