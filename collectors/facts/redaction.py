"""Redaction of secrets in text from outside, before anybody reads it."""

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any

import re2

from collectors.facts.patterns import Match, Pattern, compile_pattern, replace_surrogates
from collectors.facts.secrets.known_places import IS_SECRET_OBJECT, SECRET_DATA
from collectors.facts.secrets.secret_kinds import PATTERNS
from collectors.facts.secrets.secret_pattern import SecretPattern
from collectors.facts.secrets.secret_values import MARK, Judge
from collectors.facts.sentences import Sentence

__all__ = ["MARK", "Redactor", "redacted", "use_redactor"]

_LIMIT = 8192  # characters of a text that are returned
_LOOK_AHEAD = 4096  # characters read beyond the limit, so that a secret that crosses it is still recognised
_GROWTH = 4  # times a text may grow: a mark is longer than a short secret
_SHORTEST = 4  # characters of a text that can hold a name and a secret
_FIELDS = 32  # of one word; what follows is redacted whole
_REMEMBERED = 16_384  # short texts whose redacted form is kept, as cards are made again and again
_REPEATED = 1_024  # of those that senders repeat: what most of their alerts have in common
_SHORT = 256  # characters
_MEMORY = 64 << 20  # bytes that one expression may use; with too few it is slower


class Redactor:
    """Replaces what looks like a secret with `[redacted]`, in time linear in the text's length.

    `patterns` are regular expressions in addition to the shipped ones; the first group of a pattern is not redacted.
    Raises ValueError that names an invalid pattern.
    """

    def __init__(self, patterns: Iterable[str] = (), *, limit: int = _LIMIT) -> None:
        self._own = tuple(_compiled(pattern) for pattern in patterns)
        self._limit = limit

    def clean(self, text: str, *, limit: int = 0) -> str:
        """Return the text without secrets, cut to `limit` or else to the redactor's own; a cut text ends in `…`."""
        limit = limit or self._limit
        bound = limit + _LOOK_AHEAD
        # The last word before the bound may be half a secret, which no pattern matches.
        kept = text if len(text) <= bound else text[:bound].rpartition(_last_space(text[:bound]))[0]
        kept = replace_surrogates(kept)
        if len(kept) >= _SHORTEST:
            encoded = kept.encode()  # once for all, as most texts have no secret
            for kind in _shipped() if _may_hold_secrets(encoded) else ():
                if kind.is_in(encoded):
                    kept = kind.clean(kept)
                    encoded = kept.encode()
        for pattern in self._own:
            kept = pattern.sub(_keep_first, kept)
        if len(kept) > limit or len(text) > bound:
            return kept[: limit - 1] + "…"
        return kept

    def remembering(self) -> Callable[[str], str]:
        """Return `clean` for texts that come again and again, of which equal ones become one string."""
        remembered = lru_cache(maxsize=_REPEATED)(self.clean)
        return lambda text: remembered(text) if len(text) <= _SHORT else self.clean(text)


def redacted(text: str) -> str:
    """Return the whole text without secrets, by this process's redactor."""
    if isinstance(text, Sentence):
        return text.cleaned(redacted)
    if len(text) < _SHORTEST:
        return text
    return _short(text) if len(text) <= _SHORT else _of_process[0].clean(text, limit=len(text) * _GROWTH)


def use_redactor(redactor: Redactor) -> Redactor:
    """Make it this process's, as the settings may have patterns of their own, and return the one before.

    A log line and a label are made far from the settings; this is set once, at start, like where the process logs to.
    """
    before, _of_process[0] = _of_process[0], redactor
    _short.cache_clear()
    return before


@lru_cache(maxsize=_REMEMBERED)
def _short(text: str) -> str:
    return _of_process[0].clean(text)


_of_process = [Redactor()]


class _Kind:
    """The patterns of one kind. Most texts have none of them, which one search finds."""

    def __init__(self, patterns: Iterable[SecretPattern], *, only_in: str = "") -> None:
        each = tuple(patterns)
        self.expression = only_in or _either(one.expression for one in each)
        self._search: Callable[[bytes], object] = _expression(self.expression, captures=False).search
        self._each = tuple(_Replacement(one) for one in each)

    def is_in(self, encoded: bytes) -> bool:
        return self._search(encoded) is not None

    def clean(self, text: str) -> str:
        for one in self._each:
            text = one.clean(text)
        return text


class _Replacement:
    """One pattern, and what it makes of a match: each group of it is a secret, unless the judge denies it."""

    def __init__(self, of: SecretPattern) -> None:
        self._pattern: Pattern = _expression(of.expression)
        self._judge: Judge = of.judge
        self._ends: Pattern | None = _expression(of.ends) if of.ends else None
        self._unless: Pattern | None = _expression(of.unless) if of.unless else None

    def clean(self, text: str, fields: int = 0) -> str:
        """`fields`: how many a word such as `a=1,b=2` had until here."""

        def replaced(found: Match) -> str:
            whole = found[0] or ""
            if self._unless is not None and self._unless.search(whole) is not None:
                return whole
            start, kept, at = found.start(), "", 0
            for first, last in _secrets(found):
                value = whole[first - start : last - start]
                if self._ends is not None and fields < _FIELDS:
                    end = self._ends.search(value)
                    value = value if end is None else value[: end.start()]
                if self._judge(value):
                    kept += whole[at : first - start] + MARK
                    at = first - start + len(value)
            left = whole[at:]
            return kept + (self.clean(left, fields + 1) if at and self._ends is not None and left else left)

        return self._pattern.sub(replaced, text)


def _secrets(found: Match) -> list[tuple[int, int]]:
    """Return the spans of the groups that matched; without groups, of the whole match."""
    spans = [found.span(number + 1) for number in range(len(found.groups()))]
    return [span for span in spans if span[0] >= 0] or [found.span()]


@cache
def _shipped() -> tuple[_Kind, ...]:
    objects = _Kind((SECRET_DATA,), only_in=IS_SECRET_OBJECT)
    return (objects, *map(_Kind, PATTERNS.values()))


@cache
def _any_kind() -> Any:
    return _expression(_either(kind.expression for kind in _shipped()), captures=False)


def _may_hold_secrets(encoded: bytes) -> bool:
    """Return whether a text has one of any kind: one search instead of one for each."""
    return _any_kind().search(encoded) is not None


def _either(expressions: Iterable[str]) -> str:
    return "|".join(f"(?:{one})" for one in expressions)


def _expression(expression: str, *, captures: bool = True) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = not captures
    options.max_mem = _MEMORY
    return re2.compile(expression, options)


def _last_space(text: str) -> str:
    found = re.search(r"\s(?=\S*\Z)", text[-_LOOK_AHEAD:])
    return found.group() if found else text


def _keep_first(found: Match) -> str:
    return f"{next((group for group in found.groups() if group is not None), '')}{MARK}"


def _compiled(pattern: str) -> Pattern:
    try:
        compiled = compile_pattern(pattern)
    except ValueError as error:
        raise ValueError(f"redact: `{pattern}` is not a regular expression: {error}") from error
    if compiled.search("") is not None:
        raise ValueError(f"redact: `{pattern}` matches an empty text, so it would match everywhere")
    return compiled
