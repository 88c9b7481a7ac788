"""Tokens of a template, by the rules of Go's text/template."""

import re
from dataclasses import dataclass
from enum import StrEnum

from go_templates.template_errors import TemplateError, line_and_column

SPACES = " \t\r\n"
KEYWORDS = frozenset(
    ("block", "break", "continue", "define", "else", "end", "if", "range", "nil", "template", "with")
)
# What Go's lexer accepts; `numbers.py` decides whether it is a number.
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*|0[bB][01_]*"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?"
)


class TokenKind(StrEnum):
    TEXT = "text"
    LEFT = "{{"
    RIGHT = "}}"
    SPACE = "space"
    STRING = "string"
    RAW = "raw string"
    CHARACTER = "character constant"
    NUMBER = "number"
    BOOL = "boolean"
    WORD = "identifier"
    KEYWORD = "keyword"
    FIELD = "field"
    VARIABLE = "variable"
    DOT = "dot"
    MARK = "mark"  # ( ) | , = := and any other character that Go's lexer accepts
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    kind: TokenKind
    text: str
    at: int

    def is_mark(self, text: str) -> bool:
        return self.kind is TokenKind.MARK and self.text == text

    def is_keyword(self, text: str) -> bool:
        return self.kind is TokenKind.KEYWORD and self.text == text


def tokens(text: str) -> list[Token]:
    """Return the tokens of a template, END as the last one. Raise TemplateError."""
    return _Lexer(text).run()


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.parentheses = 0
        self.found: list[Token] = []

    def wrong(self, what: str, at: int | None = None) -> TemplateError:
        line, column = line_and_column(self.text, self.at if at is None else at)
        return TemplateError(what, line=line, column=column)

    def add(self, kind: TokenKind, start: int) -> None:
        self.found.append(Token(kind, self.text[start : self.at], start))

    def run(self) -> list[Token]:
        while self.at < len(self.text):
            start = self.at
            opening = self.text.find("{{", start)
            plain = self.text[start:] if opening < 0 else self.text[start:opening]
            trims = opening >= 0 and self._trims_left(opening + 2)
            if kept := plain.rstrip(SPACES) if trims else plain:
                self.found.append(Token(TokenKind.TEXT, kept, start))
            if opening < 0:
                self.at = len(self.text)
                break
            self.at = opening + 2 + (2 if trims else 0)
            if self.text.startswith("/*", self.at):
                self._comment()
            else:
                self.found.append(Token(TokenKind.LEFT, "{{", opening))
                self._action(opening)
        self.found.append(Token(TokenKind.END, "", len(self.text)))
        return self.found

    def _trims_left(self, at: int) -> bool:
        return self.text[at : at + 1] == "-" and self.text[at + 1 : at + 2] in tuple(SPACES)

    def _closing(self) -> int:
        """Return the length of the right delimiter here, with its trim marker; 0 if there is none."""
        if self.text.startswith("}}", self.at):
            return 2
        if self.text[self.at : self.at + 1] in tuple(SPACES) and self.text.startswith("-}}", self.at + 1):
            return 4
        return 0

    def _close(self, length: int) -> None:
        self.at += length
        if length == 4:
            while self.at < len(self.text) and self.text[self.at] in SPACES:
                self.at += 1

    def _comment(self) -> None:
        end = self.text.find("*/", self.at + 2)
        if end < 0:
            raise self.wrong("unclosed comment")
        self.at = end + 2
        if not (length := self._closing()):
            raise self.wrong("comment ends before closing delimiter")
        self._close(length)

    def _action(self, opening: int) -> None:
        self.parentheses = 0
        while True:
            if length := self._closing():
                if self.parentheses:
                    raise self.wrong("unclosed left paren")
                self.found.append(Token(TokenKind.RIGHT, "}}", self.at))
                self._close(length)
                return
            if self.at >= len(self.text):
                raise self.wrong("unclosed action", opening)
            self._inside()

    def _inside(self) -> None:
        start, char = self.at, self.text[self.at]
        following = self.text[start + 1 : start + 2]
        if char in SPACES:
            while self.at < len(self.text) and self.text[self.at] in SPACES and not self._closing():
                self.at += 1
            self.add(TokenKind.SPACE, start)
        elif char == ":":
            if following != "=":
                raise self.wrong("expected :=")
            self.at += 2
            self.add(TokenKind.MARK, start)
        elif char in "\"'":
            self._quoted(char)
        elif char == "`":
            end = self.text.find("`", start + 1)
            if end < 0:
                raise self.wrong("unterminated raw quoted string")
            self.at = end + 1
            self.add(TokenKind.RAW, start)
        elif char == "$":
            self._name(TokenKind.VARIABLE)
        elif char == "." and not ("0" <= following <= "9"):
            self._name(TokenKind.FIELD)
        elif char in "+-." or "0" <= char <= "9":
            self._number()
        elif is_alphanumeric(char):
            self._word()
        elif char.isascii() and char.isprintable():
            self.parentheses += {"(": 1, ")": -1}.get(char, 0)
            if self.parentheses < 0:
                raise self.wrong("unexpected right paren")
            self.at += 1
            self.add(TokenKind.MARK, start)
        else:
            raise self.wrong(f"unrecognized character in action: U+{ord(char):04X}")

    def _quoted(self, quote: str) -> None:
        start = self.at
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != "\n":
            char = self.text[self.at]
            self.at += 2 if char == "\\" and self.text[self.at + 1 : self.at + 2] not in ("\n", "") else 1
            if char == quote:
                self.add(TokenKind.STRING if quote == '"' else TokenKind.CHARACTER, start)
                return
        raise self.wrong(
            "unterminated quoted string" if quote == '"' else "unterminated character constant", start
        )

    def _run_of_letters(self) -> None:
        while self.at < len(self.text) and is_alphanumeric(self.text[self.at]):
            self.at += 1

    def _must_end(self) -> None:
        """Require a character that may follow a name, so that `$x+2` is rejected and not misread."""
        char = self.text[self.at : self.at + 1]
        if char and char not in " \t\r\n.,|:)(" and not self.text.startswith("}}", self.at):
            raise self.wrong(f"bad character U+{ord(char):04X} '{char}'")

    def _name(self, kind: TokenKind) -> None:
        start = self.at
        self.at += 1
        self._run_of_letters()
        self._must_end()
        self.add(TokenKind.DOT if kind is TokenKind.FIELD and self.at == start + 1 else kind, start)

    def _word(self) -> None:
        start = self.at
        self._run_of_letters()
        self._must_end()
        word = self.text[start : self.at]
        if word in KEYWORDS:
            self.add(TokenKind.KEYWORD, start)
        else:
            self.add(TokenKind.BOOL if word in ("true", "false") else TokenKind.WORD, start)

    def _number(self) -> None:
        start = self.at
        shape = _NUMBER.match(self.text, start)
        self.at = shape.end() if shape else start + 1
        if is_alphanumeric(self.text[self.at : self.at + 1]):
            self.at += 1
            raise self.wrong(f"bad number syntax: {self.text[start : self.at]}", start)
        self.add(TokenKind.NUMBER, start)


def is_alphanumeric(char: str) -> bool:
    return char == "_" or char.isalpha() or char.isdecimal()
