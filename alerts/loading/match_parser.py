"""The grammar of `logs.match`: `field:"phrase"` with AND, OR, NOT and parentheses.

It is a part of Elasticsearch's query strings and means the same there. What a reader may take in two ways is an error:
AND beside OR without parentheses, and words beside each other without either.
"""

import re
from typing import NoReturn

from collectors.facts.log_match import EVERY_LINE, AllOf, AnyOf, FieldPhrase, LogMatch, Not

LONGEST = 16 * 1024  # characters
DEEPEST = 40  # nested parentheses and NOTs: the parser is recursive
MOST_PHRASES = 200  # a store multiplies each by the fields of its name

_BLANK = re.compile(r"\s*")
_FIELD = re.compile(r"[\w@][\w.@/-]*(?=:)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"[^\s()]+")  # what stands here, for an error
_END = re.compile(r"[\s)]|$")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_OPERATOR = re.compile(r"(AND|OR|NOT)(?=[\s(]|$)")
_OTHER_OPERATORS = {"&&": "AND", "||": "OR", "!": "NOT", "-": "NOT", "+": "AND"}
_OWN_SYNTAX = {  # by the first sign of a value that makes it Elasticsearch's
    "/": "a regular expression",
    "[": "a range",
    "{": "a range",
    "<": "a range",
    ">": "a range",
    "*": "a wildcard",
    "?": "a wildcard",
    "~": "a fuzzy match",
    "^": "a weight",
}
_MOVE = "write it as `elasticsearch: '…'` beside `match`, for Elasticsearch only"


class MatchError(ValueError):
    """What is wrong with a match, what to write instead, and where: `position` counts characters from 0."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.position = position


def parse_match(text: str) -> LogMatch:
    """Return the match that the text describes; `*` is every line. Raises MatchError."""
    if len(text) > LONGEST:
        raise MatchError(f"it is longer than {LONGEST} characters", 0)
    if text.strip() == "*":
        return EVERY_LINE
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._phrases = 0

    def whole(self) -> LogMatch:
        found = self._either(0)
        if self._position < len(self._text):
            self._error("this `)` closes nothing")
        return found

    def _either(self, depth: int) -> LogMatch:
        """Read parts with one kind of operator between them, up to the end or a closing parenthesis."""
        parts = [self._part(depth)]
        kind = ""
        while self._skip_blank() and self._text[self._position] != ")":
            found = _OPERATOR.match(self._text, self._position)
            if found is None or found.group() == "NOT":
                self._no_operator()
            if kind not in ("", found.group()):
                self._error("AND and OR are mixed: put parentheses around what belongs together")
            kind = found.group()
            self._position = found.end()
            parts.append(self._part(depth))
        if len(parts) == 1:
            return parts[0]
        return AllOf(parts=tuple(parts)) if kind == "AND" else AnyOf(parts=tuple(parts))

    def _part(self, depth: int) -> LogMatch:
        if depth > DEEPEST:
            self._error(f"it is nested deeper than {DEEPEST} levels")
        if not self._skip_blank():
            self._error('a part like message:"words" is missing at the end')
        if (found := _OPERATOR.match(self._text, self._position)) is not None:
            if found.group() != "NOT":
                self._error(f'a part like message:"words" is missing before `{found.group()}`')
            self._position = found.end()
            return Not(part=self._part(depth + 1))
        if self._text[self._position] == "(":
            start = self._position
            self._position += 1
            inside = self._either(depth + 1)
            if not self._skip_blank():
                self._error("this `(` is not closed", start)
            self._position += 1
            return inside
        return self._phrase()

    def _phrase(self) -> FieldPhrase:
        start = self._position
        field = _FIELD.match(self._text, start)
        if field is None:
            self._no_field()
        if field.group() == "_exists_":
            self._error(f"`_exists_` is Elasticsearch's own: {_MOVE}")
        self._position = field.end() + 1
        text = self._value(field.group())
        if not any(sign.isalnum() for sign in text):
            self._error(f"the phrase of `{field.group()}` has no word", start)
        self._phrases += 1
        if self._phrases > MOST_PHRASES:
            self._error(f"it has more than {MOST_PHRASES} phrases", start)
        return FieldPhrase(field=field.group(), text=text)

    def _value(self, field: str) -> str:
        start, text = self._position, ""
        if (quoted := _QUOTED.match(self._text, start)) is not None:
            text, self._position = _ESCAPED.sub(r"\1", quoted.group(1)), quoted.end()
        elif self._text.startswith('"', start):
            self._error("this quote is not closed")
        elif (word := _WORD.match(self._text, start)) is not None:
            text, self._position = word.group(), word.end()
        if self._position == start or _END.match(self._text, self._position) is None:
            self._odd_value(field, start)
        return text

    def _odd_value(self, field: str, start: int) -> NoReturn:
        """Say what to write for a value that is neither a phrase nor a word."""
        sign = self._text[self._position : self._position + 1]
        token = _TOKEN.match(self._text, start)
        value = token.group() if token else ""
        starts = self._position == start and sign in _OWN_SYNTAX
        odd = sign if starts else next((one for one in value if one in "*?"), sign)
        if sign == "(":
            self._error(f'name the field for each value: ({field}:"…" OR {field}:"…")')
        if not value and sign in ("", " ", "\n", "\t", ")"):
            self._error(f'the value is missing: write {field}:"words"')
        if value.startswith('"'):
            own = _OWN_SYNTAX.get(sign)
            self._error(f"{own} is Elasticsearch's own: {_MOVE}" if own else "a blank is missing here")
        if odd in _OWN_SYNTAX and (starts or odd in "*?~^"):
            self._error(f"{_OWN_SYNTAX[odd]} is Elasticsearch's own: {_MOVE}")
        plain = value.replace("\\", "").replace('"', "")
        self._error(f'put it into quotes: {field}:"{plain}"', start)

    def _no_field(self) -> NoReturn:
        """Say what to write for a part that begins with no field."""
        rest = self._text[self._position :]
        for sign, word in _OTHER_OPERATORS.items():
            if rest.startswith(sign):
                self._error(f"write `{word}` for `{sign}`")
        if (quoted := _QUOTED.match(rest)) is not None:
            self._error(f"name the field: message:{quoted.group()}")
        if rest[0] == '"':
            self._error("this quote is not closed")
        if rest[0] == ")":
            self._error('a part like message:"words" is missing before this `)`')
        if rest[0] in _OWN_SYNTAX:
            self._error(f"{_OWN_SYNTAX[rest[0]]} is Elasticsearch's own: {_MOVE}")
        token = _TOKEN.match(rest)
        word = token.group() if token else rest[0]
        if any(sign in word for sign in "*?~^:\\"):
            self._error(f'`{word}` is no field with a phrase, like message:"words"; else {_MOVE}')
        self._error(f'name the field: message:"{word}"')

    def _no_operator(self) -> NoReturn:
        """Say what to write where AND or OR must stand."""
        rest = self._text[self._position :]
        token = _TOKEN.match(rest)
        word = token.group() if token else rest[0]
        for sign, name in _OTHER_OPERATORS.items():
            if rest.startswith(sign) and name != "NOT" and sign != "+":
                self._error(f"write `{name}` for `{sign}`")
        if word in ("and", "or"):
            self._error(f"write `{word.upper()}` for `{word}`")
        self._error(f"`AND` or `OR` is missing before `{word}`")

    def _skip_blank(self) -> bool:
        """Skip blanks; return whether anything follows."""
        found = _BLANK.match(self._text, self._position)
        self._position = found.end() if found else self._position
        return self._position < len(self._text)

    def _error(self, reason: str, position: int | None = None) -> NoReturn:
        raise MatchError(reason, self._position if position is None else position)
