"""The tokens of a PromQL expression with their places: joined, they are its text again."""

import re
from enum import Enum
from typing import NamedTuple

DEEPEST = 150  # nested brackets: what reads the expression may be recursive, and a parser of others overflow
MOST_OPERATORS = 400  # for the same reason
_OPERATORS = ("and", "or", "unless", "atan2")


class Kind(Enum):
    """What a token is."""

    BLANK = "blank"  # white space, or a comment
    STRING = "string"
    DURATION = "duration"
    NUMBER = "number"
    NAME = "name"  # of a metric, a label or a function, or a word of the language
    SIGN = "sign"
    UNKNOWN = "unknown"  # a character with which no token begins


class Token(NamedTuple):
    """A token. `word` is its text as the language compares it: the language's own words have no case."""

    kind: Kind
    text: str
    word: str
    start: int
    end: int


_TOKENS = r"""
    (?P<blank>[ \t\r\n]+|\#[^\n]*)
    |(?P<name>(?!(?i:inf|nan)(?![\w:]))NAME)
    |(?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^=<>(){}\[\],:@])
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`[^`]*`)
    |(?P<duration>(?:[0-9]+(?:ms|[smhdwy]))+)(?![\w.])
    |(?P<number>0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf|nan))(?![\w.])
    |(?P<unknown>.)
"""
_FLAGS = re.VERBOSE | re.ASCII | re.DOTALL
_ANYWHERE = re.compile(_TOKENS.replace("NAME", r"[a-zA-Z_:][\w:]*"), _FLAGS)
_IN_RANGE = re.compile(_TOKENS.replace("NAME", r"[a-zA-Z_]\w*"), _FLAGS)  # a colon is a sign there: `[1h:5m]`
_KINDS = {kind.value: kind for kind in Kind}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL)
_ESCAPED = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))


def tokens(expr: str) -> list[Token]:
    """Return the tokens of any text, in order and without a gap."""
    found: list[Token] = []
    place, pattern = 0, _ANYWHERE
    while match := pattern.match(expr, place):
        kind, text, end = _KINDS[match.lastgroup or ""], match.group(), match.end()
        found.append(Token(kind, text, text.lower() if kind is Kind.NAME else text, place, end))
        if text == "[" or text == "]":
            pattern = _IN_RANGE if text == "[" else _ANYWHERE
        place = end
    return found


def unquoted(text: str) -> str:
    """Return what a string says: without its quotes, and without its escapes, which are those of Go."""
    inner = text[1:-1]
    return inner if text[0] == "`" or "\\" not in inner else _ESCAPE.sub(_character, inner)


def _character(escape: re.Match[str]) -> str:
    *hexadecimal, octal, other = escape.groups()
    if other:
        return _ESCAPED.get(other, other)
    return chr(int(octal, 8) if octal else int(next(filter(None, hexadecimal)), 16))


def line_and_column(expr: str, place: int) -> tuple[int, int]:
    """Return a place in the text for people: both count from 1."""
    return expr.count("\n", 0, place) + 1, place - expr.rfind("\n", 0, place)


class PromQLSyntaxError(ValueError):
    """An expression that is not PromQL, with the position where it goes wrong."""

    def __init__(self, what: str, place: int) -> None:
        super().__init__(what)
        self.place = place


class TooComplexError(PromQLSyntaxError):
    """An expression that no parser should try."""


class TokenReader:
    """Takes the tokens of an expression one by one, without the blanks. `now` is the next one, empty at the end."""

    def __init__(self, expr: str) -> None:
        self._tokens = [token for token in tokens(expr) if token.kind is not Kind.BLANK]
        self._check_size()
        self._tokens += [Token(Kind.BLANK, "", "", len(expr), len(expr))] * 3
        self._number = 0
        self.now = self._tokens[0]

    def _check_size(self) -> None:
        depth = operators = 0
        for token in self._tokens:
            if token.kind is Kind.SIGN or token.word in _OPERATORS:
                depth += (token.text in "([{") - (token.text in ")]}")
                operators += token.kind is Kind.NAME or token.text[0] in "-+*/%^<>=!"
                if depth > DEEPEST or operators > MOST_OPERATORS:
                    limit = f"{DEEPEST} brackets deep" if depth > DEEPEST else f"{MOST_OPERATORS} operators"
                    raise TooComplexError(f"more than {limit}: split it into recording rules", token.start)

    @property
    def end(self) -> int:
        """Where the token that was taken last ends."""
        return self._tokens[self._number - 1].end

    def ahead(self, count: int) -> str:
        """Return the word that comes after so many others."""
        return self._tokens[self._number + count].word

    def take(self, *wanted: str | Kind) -> Token | None:
        """Return the next token if it is one of these words, or of one of these kinds."""
        token = self.now
        if token.word not in wanted and token.kind not in wanted:
            return None
        self._number += 1
        self.now = self._tokens[self._number]
        return token

    def need(self, *wanted: str | Kind) -> Token:
        """Return the next token likewise. Raises PromQLSyntaxError for another."""
        token = self.take(*wanted)
        if token is None:
            raise self.unexpected()
        return token

    def unexpected(self) -> PromQLSyntaxError:
        """Return the error that the next token is; at the end, that of the bracket which is not closed."""
        if self.now.text:
            return PromQLSyntaxError(f"unexpected `{self.now.text[:40]}`", self.now.start)
        unclosed: list[Token] = []
        for token in self._tokens:
            if token.text in ("(", "[", "{"):
                unclosed.append(token)
            elif token.text in (")", "]", "}"):
                unclosed.pop()
        if unclosed:
            return PromQLSyntaxError(f"`{unclosed[-1].text}` is not closed", unclosed[-1].start)
        return PromQLSyntaxError("the expression ends too early", self.now.start)
