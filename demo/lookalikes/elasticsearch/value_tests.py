"""Tests of one field of a document: for a value, a word, a phrase, a pattern or a range."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from demo.lookalikes.elasticsearch.indices import Document
from demo.lookalikes.elasticsearch.mappings import millis_of
from demo.lookalikes.elasticsearch.refusals import RefusalError, not_imitated
from demo.lookalikes.elasticsearch.words import has_phrase, stands_alone, words_of

Test = Callable[[Document], bool]
Kinds = Mapping[str, str]  # field -> its type

_NUMBERS = ("long", "double", "date")


def nothing(_: Document) -> bool:
    return False


def everything(_: Document) -> bool:
    return True


def all_of(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda document: all(test(document) for test in tests)


def any_of(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda document: any(test(document) for test in tests)


def none_of(tests: list[Test]) -> Test:
    return lambda document: not any(test(document) for test in tests)


def exists(field: str, kinds: Kinds) -> Test:
    """Whether a document has a value in the field, or in a field below it."""
    below = f"{field}."
    names = [name for name in kinds if name == field or name.startswith(below)]
    return lambda document: any(document.values.get(name) for name in names)


def equal(field: str, value: object, kinds: Kinds) -> Test:
    """A `term`: the value as it is stored, without analysis. Refuses a value that does not fit the field's type."""
    kind = kinds.get(field)
    if kind is None:
        return nothing
    wanted = _converted(value, kind, field)
    if kind == "text":
        return _with_words(field, lambda words: wanted in words, [str(wanted)], sure=str(wanted))
    return lambda document: wanted in document.values.get(field, ())


def phrase(field: str, text: str, kinds: Kinds) -> Test | None:
    """A phrase, analyzed as the field is. None when the analysis leaves it empty."""
    if kinds.get(field) != "text":
        return _lenient_equal(field, text, kinds)
    wanted = words_of(text)
    if not wanted:
        return None
    return _with_words(field, lambda words: has_phrase(words, wanted), wanted, sure=" ".join(wanted))


def words(field: str, text: str, kinds: Kinds) -> Test | None:
    """An unquoted part of a query string: any of its words. None when it has none."""
    if kinds.get(field) != "text":
        return _lenient_equal(field, text, kinds)
    wanted = frozenset(words_of(text))
    if not wanted:
        return None
    if len(wanted) == 1:
        (word,) = wanted
        return _with_words(field, lambda words: word in words, [word], sure=word)
    return _with_words(field, lambda words: not wanted.isdisjoint(words), [])


def wildcard(field: str, pattern: str, kinds: Kinds) -> Test:
    """A pattern with `*` and `?`: for a text each word in lower case, for a keyword the whole value."""
    kind = kinds.get(field)
    if kind == "text":
        shape = _pattern(pattern.lower())
        return _with_words(field, lambda words: any(shape.fullmatch(word) for word in words), [])
    if kind == "keyword":
        shape = _pattern(pattern)
        return lambda document: any(shape.fullmatch(value) for value in document.values.get(field, ()))
    return nothing


def regexp(field: str, pattern: str, kinds: Kinds, *, ignores_case: bool) -> Test:
    """A regular expression: for a text each word, for a keyword the whole value."""
    shape = re.compile(pattern, re.DOTALL | (re.IGNORECASE if ignores_case else 0))
    if kinds.get(field) == "text":
        return _with_words(field, lambda words: any(shape.fullmatch(word) for word in words), [])
    if kinds.get(field) == "keyword":
        return lambda document: any(shape.fullmatch(value) for value in document.values.get(field, ()))
    return nothing


def ranged(field: str, limits: Mapping[str, object], kinds: Kinds) -> Test:
    """A range of numbers, dates or keywords: gte, gt, lte, lt."""
    kind = kinds.get(field)
    if kind is None:
        return nothing
    if kind in ("text", "boolean"):
        raise not_imitated(f"a range over the {kind} field `{field}`")
    bounds = {sign: _converted(value, kind, field) for sign, value in limits.items() if value is not None}

    def fits(value: Any) -> bool:
        return (
            ("gte" not in bounds or value >= bounds["gte"])
            and ("gt" not in bounds or value > bounds["gt"])
            and ("lte" not in bounds or value <= bounds["lte"])
            and ("lt" not in bounds or value < bounds["lt"])
        )

    return lambda document: any(fits(value) for value in document.values.get(field, ()))


def _lenient_equal(field: str, text: str, kinds: Kinds) -> Test:
    try:
        return equal(field, text, kinds)
    except RefusalError:
        return nothing


def _with_words(field: str, test: Callable[[list[str]], bool], needed: list[str], *, sure: str = "") -> Test:
    """A test of the words of a text, which is only split where a substring search does not decide.

    `needed`: substrings that a match must contain. `sure`: a substring that, between blanks, proves a match.
    """

    def holds(document: Document) -> bool:
        for text in document.values.get(field, ()):
            lower = text.lower()
            if any(word not in lower for word in needed):
                continue
            if (sure and stands_alone(sure, lower)) or test(words_of(text)):
                return True
        return False

    return holds


def _pattern(pattern: str) -> re.Pattern[str]:
    """A wildcard pattern as a regular expression; a backslash escapes the next character."""
    parts: list[str] = []
    for found in re.finditer(r"\\(.)|(\*+)|(\?)|(.)", pattern, re.DOTALL):
        escaped, many, one, plain = found.groups()
        parts.append(".*" if many else "." if one else re.escape(escaped or plain))
    return re.compile("".join(parts), re.DOTALL)


def _converted(value: object, kind: str, field: str) -> Any:
    try:
        if kind == "date":
            return value if isinstance(value, int | float) else millis_of(str(value))
        if kind in _NUMBERS:
            return float(str(value))
        if kind == "boolean":
            return value if isinstance(value, bool) else {"true": True, "false": False}[str(value)]
        return str(value)
    except (ValueError, KeyError) as error:
        raise RefusalError(
            400, "query_shard_exception", f"failed to create query: `{value}` does not fit `{field}` ({kind})"
        ) from error
