"""Elasticsearch query strings turned into tests of documents, with the grammar of Lucene's classic parser."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from demo.lookalikes.elasticsearch.refusals import RefusalError, not_imitated
from demo.lookalikes.elasticsearch.value_tests import (
    Kinds,
    Test,
    all_of,
    any_of,
    everything,
    exists,
    none_of,
    nothing,
    phrase,
    ranged,
    regexp,
    wildcard,
    words,
)

_TERM = re.compile(r"(?:\\.|[^\s+\-!():^\[\]\"{}~*?\\/\u3000]|[*?])(?:\\.|[^\s!():^\[\]\"{}~\\/\u3000])*")
_EXPRESSION = re.compile(r"/((?:[^/\\]|\\.)*)/")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_RANGE = re.compile(r"([\[{])\s*(\"[^\"]*\"|[^\s\]}]+)\s+TO\s+(\"[^\"]*\"|[^\s\]}]+)\s*([\]}])")
_WEIGHT = re.compile(r"\^\d+(?:\.\d+)?")
_WORD = re.compile(r"(AND|OR|NOT)(?=[\s()\"!]|$)")
_BLANK = re.compile(r"[\s\u3000]*")
_COMPARED = re.compile(r"(>=|<=|>|<)(.+)", re.DOTALL)
_SIGNS = {">=": "gte", "<=": "lte", ">": "gt", "<": "lt"}
_DEPTH = 50


@dataclass(slots=True)
class _Clause:
    test: Test
    is_required: bool
    is_prohibited: bool


def query_string_test(text: str, fields: Sequence[str], kinds: Kinds) -> Test:
    """The test of a query string; `fields` are its default fields. Refuses one that cannot be parsed."""
    parser = _Parser(text, fields, kinds)
    return parser.whole()


class _Parser:
    def __init__(self, text: str, fields: Sequence[str], kinds: Kinds) -> None:
        self._text = text
        self._fields = tuple(fields)
        self._kinds = kinds
        self._position = 0
        self._depth = 0

    def whole(self) -> Test:
        found = self._query(None)
        if self._position < len(self._text):
            raise self._cannot_parse()
        return found or nothing

    def _query(self, field: str | None) -> Test | None:
        """Parse clauses up to the end or a closing bracket, and drop those that analysis leaves empty."""
        clauses: list[_Clause] = []
        self._depth += 1
        if self._depth > _DEPTH:
            raise self._cannot_parse()
        is_first = True
        while True:
            self._skip()
            if self._position >= len(self._text) or self._text[self._position] == ")":
                if is_first:
                    raise self._cannot_parse()
                break
            joins = self._conjunction()
            if is_first and joins:
                raise self._cannot_parse()
            if joins == "AND" and clauses and not clauses[-1].is_prohibited:
                clauses[-1].is_required = True
            sign = self._sign()
            test = self._clause(field)
            if test is not None:
                is_prohibited = sign == "NOT"
                is_required = sign == "+" or (joins == "AND" and not is_prohibited)
                clauses.append(_Clause(test, is_required, is_prohibited))
            is_first = False
        self._depth -= 1
        return _combined(clauses)

    def _clause(self, field: str | None) -> Test | None:
        self._skip()
        name = self._field_here()
        if name is not None:
            field = name
            self._skip()
        if self._position >= len(self._text):
            raise self._cannot_parse()
        match self._text[self._position]:
            case "(":
                self._position += 1
                found = self._query(field)
                if self._position >= len(self._text):
                    raise self._cannot_parse()
                self._position += 1
            case '"':
                quoted = self._expect(_QUOTED)
                inside = re.sub(r"\\(.)", r"\1", quoted.group(1))
                found = self._each(field, lambda name: phrase(name, inside, self._kinds))
            case "[" | "{":
                found = self._range(field)
            case "/":
                shape = re.sub(r"\\/", "/", self._expect(_EXPRESSION).group(1))
                found = self._each(field, lambda name: regexp(name, shape, self._kinds, ignores_case=False))
            case _:
                found = self._word(field)
        if self._text[self._position : self._position + 1] == "~":
            raise not_imitated("`~` in a query string")
        if self._text[self._position : self._position + 1] == "^":
            self._expect(_WEIGHT)
        return found

    def _word(self, field: str | None) -> Test | None:
        if _WORD.match(self._text, self._position):
            raise self._cannot_parse()
        raw = self._expect(_TERM).group()
        plain = re.sub(r"\\(.)", r"\1", raw)
        if field == "_exists_":
            return exists(plain, self._kinds)
        if raw == "*":
            return everything if field in (None, "*") else exists(field, self._kinds)
        if re.search(r"(?<!\\)(?:\\\\)*[*?]", raw):
            return self._each(field, lambda name: wildcard(name, raw, self._kinds))
        if compared := _COMPARED.fullmatch(plain):
            limits = {_SIGNS[compared.group(1)]: compared.group(2)}
            return self._each(field, lambda name: self._ranged(name, limits))
        return self._each(field, lambda name: words(name, plain, self._kinds))

    def _range(self, field: str | None) -> Test | None:
        found = self._expect(_RANGE)
        opens, low, high, closes = (part.strip('"') for part in found.groups())
        limits: dict[str, object] = {}
        if low != "*":
            limits["gte" if opens == "[" else "gt"] = low
        if high != "*":
            limits["lte" if closes == "]" else "lt"] = high
        return self._each(field, lambda name: self._ranged(name, limits))

    def _ranged(self, name: str, limits: dict[str, object]) -> Test:
        try:
            return ranged(name, limits, self._kinds)
        except RefusalError as refusal:
            if refusal.kind == "query_shard_exception":  # lenient: a limit that is not a number
                return nothing
            raise

    def _each(self, field: str | None, test_of: Callable[[str], Test | None]) -> Test | None:
        """The clause over its field, or over the default fields, of which one must match."""
        names = self._fields if field is None else (field,)
        found = [test for name in names if (test := test_of(name)) is not None]
        return any_of(found) if found else None

    def _field_here(self) -> str | None:
        found = _TERM.match(self._text, self._position)
        if found is None or self._text[found.end() : found.end() + 1] != ":":
            return None
        name = re.sub(r"\\(.)", r"\1", found.group())
        if "*" in name and name != "*":
            raise not_imitated("wildcards in the name of a field")
        self._position = found.end() + 1
        return name

    def _conjunction(self) -> str:
        for sign, word in (("&&", "AND"), ("||", "OR")):
            if self._text.startswith(sign, self._position):
                self._position += 2
                self._skip()
                return word
        found = _WORD.match(self._text, self._position)
        if found is None or found.group(1) == "NOT":
            return ""
        self._position = found.end()
        self._skip()
        return found.group(1)

    def _sign(self) -> str:
        found = _WORD.match(self._text, self._position)
        if found is not None and found.group(1) == "NOT":
            self._position = found.end()
            return "NOT"
        sign = self._text[self._position : self._position + 1]
        if sign in ("+", "-", "!"):
            self._position += 1
            return "+" if sign == "+" else "NOT"
        return ""

    def _expect(self, shape: re.Pattern[str]) -> re.Match[str]:
        found = shape.match(self._text, self._position)
        if found is None:
            raise self._cannot_parse()
        self._position = found.end()
        return found

    def _skip(self) -> None:
        found = _BLANK.match(self._text, self._position)
        assert found is not None  # it matches the empty string too
        self._position = found.end()

    def _cannot_parse(self) -> RefusalError:
        return RefusalError(400, "query_shard_exception", f"Failed to parse query [{self._text}]")


def _combined(clauses: list[_Clause]) -> Test | None:
    """Lucene's boolean query: all required clauses, no prohibited one, and without required ones any of the rest."""
    if not clauses:
        return None
    required = [clause.test for clause in clauses if clause.is_required]
    prohibited = [clause.test for clause in clauses if clause.is_prohibited]
    rest = [clause.test for clause in clauses if not clause.is_required and not clause.is_prohibited]
    tests = required or ([any_of(rest)] if rest else [])
    if prohibited:
        tests = [*tests, none_of(prohibited)]
    return all_of(tests)
