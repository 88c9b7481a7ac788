"""Redaction of secrets in text from outside, before anybody reads it."""

import re
from collections.abc import Iterable

from collectors.facts.patterns import Match, Pattern, compile_pattern, replace_surrogates

MARK = "[redacted]"
_LIMIT = 8192  # characters of a text that are returned
_LOOK_AHEAD = 4096  # characters read beyond the limit, so that a secret that crosses it is still recognised

_NAMES = (
    r"pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?|secret[_-]?key|"
    r"private[_-]?key|client[_-]?secret|credentials?|session[_-]?key|encryption[_-]?key"
)
_QUOTE = r"\\{0,3}[\"']"  # also escaped, as in JSON inside JSON
_VALUE = r"(?:\\{0,3}\"(?:[^\"\\]|\\[^\"])*(?:\\?\"|$)|\\{0,3}'[^']*(?:'|$)|[^\s&\"']+)"

# Each is tried at most once per position and either ends at its first mismatch or consumes what it read, so that
# the time is linear in the length. Group 1, where there is one, is not redacted.
_DEFAULTS = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:(?!-----END ).)*(?:-----END [A-Z0-9 ]{0,40}-----)?",
    rf"((?i:authorization)(?:{_QUOTE})?\s{{0,3}}[:=]\s{{0,3}}(?:{_QUOTE})?)"
    r"(?:(?i:bearer|basic|apikey|token|digest|negotiate)\s{1,3})?[^\s\"'\\]+",
    r"(?<![\w-])((?i:bearer|basic|apikey)\s{1,3})(?=[a-z+/_.~-]{0,200}[A-Z0-9=])[\w+/.~=-]{4,}",
    r"((?<=://)[^\s/:@\"']{0,256}:)[^\s\"']{1,512}@",
    r"(?<![\w-])eyJ[\w-]{4,}(?:\.[\w-]*){1,4}",
    r"(?<![A-Za-z0-9])(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"xox[a-z]{1,2}-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,}",
    r"(hooks\.slack\.com/(?:services|workflows|triggers)/)[\w/-]+",
    r"(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{20,}"
    r"|sk-[\w-]{20,}|AIza[\w-]{30,}|npm_[A-Za-z0-9]{30,}|nvapi-[\w-]{20,})",
    r"(?<![\w.])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.])",  # a Kubernetes bootstrap token
    rf"(--?(?:[A-Za-z0-9]{{1,20}}-){{0,3}}(?i:{_NAMES})[ =])(?!-){_VALUE}",
    rf"((?i:{_NAMES})(?:{_QUOTE})?\s{{0,3}}[:=]>?\s{{0,3}}){_VALUE}",
)
_IS_SECRET_OBJECT = re.compile(rf"\bkind(?:{_QUOTE})?\s{{0,3}}:\s{{0,3}}(?:{_QUOTE})?Secret\b")
_SECRET_DATA = re.compile(
    rf"((?:\bdata|\bstringData)(?:{_QUOTE})?\s{{0,3}}:\s{{0,3}})\{{[^{{}}]*\}}?"  # JSON
    r"|((?m:^)[ \t]*(?:data|stringData):[ \t]*\n)(?:[ \t]+[^\n]*(?:\n|$))+"  # YAML
)


_Pattern = re.Pattern[str] | Pattern


class Redactor:
    """Replaces what looks like a secret with `[redacted]`, in time linear in the text's length.

    `patterns` are regular expressions in addition to the shipped ones; the first group of a pattern is not redacted.
    Raises ValueError that names an invalid pattern.
    """

    def __init__(self, patterns: Iterable[str] = (), *, limit: int = _LIMIT) -> None:
        extra = tuple(_compiled(pattern) for pattern in patterns)
        ours: tuple[_Pattern, ...] = tuple(re.compile(pattern, re.DOTALL) for pattern in _DEFAULTS)
        self._patterns = ours + extra
        self._limit = limit

    def clean(self, text: str, *, limit: int = 0) -> str:
        """Return the text without secrets, cut to `limit` or else to the redactor's own; a cut text ends in `…`."""
        limit = limit or self._limit
        bound = limit + _LOOK_AHEAD
        # The last word before the bound may be half a secret, which no pattern matches.
        kept = text if len(text) <= bound else text[:bound].rpartition(_last_space(text[:bound]))[0]
        kept = replace_surrogates(kept)
        if _IS_SECRET_OBJECT.search(kept):
            kept = _SECRET_DATA.sub(_keep_first, kept)
        for pattern in self._patterns:
            kept = pattern.sub(_keep_first, kept)
        if len(kept) > limit or len(text) > bound:
            return kept[: limit - 1] + "…"
        return kept


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
