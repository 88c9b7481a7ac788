"""Matches of log lines in a neutral form: phrases in fields, with AND, OR and NOT. Each log store translates them."""

import re
from dataclasses import dataclass

STORE_SYNTAXES = ("elasticsearch",)  # sources whose own syntax may stand beside `match`
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPhrase:
    """The field has these whole words next to each other, in any case; a field of names has exactly this value.

    `field` is one of our names (message, level, node, pod, component, …) or a field's name in the store.
    """

    field: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf:
    """All parts match; without parts every line does."""

    parts: "tuple[LogMatch, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf:
    """At least one of the parts matches."""

    parts: "tuple[LogMatch, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """The part does not match."""

    part: "LogMatch"


LogMatch = FieldPhrase | AllOf | AnyOf | Not

EVERY_LINE = AllOf(parts=())


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMatch:
    """A match in the own syntax of one store: `elasticsearch: '…'`. No other store can answer it."""

    store: str  # the name of the source
    text: str


def render_match(match: LogMatch) -> str:
    """Return the match as a rule file writes it; `parse_match` reads it."""
    match match:
        case FieldPhrase() if _WORD.fullmatch(match.text):
            return f"{match.field}:{match.text}"
        case FieldPhrase():
            inside = match.text.replace("\\", "\\\\").replace('"', '\\"')
            return f'{match.field}:"{inside}"'
        case Not():
            return f"NOT {_inner(match.part)}"
        case AllOf(parts=()):
            return "*"
        case AllOf():
            return " AND ".join(map(_inner, match.parts))
        case AnyOf():
            return " OR ".join(map(_inner, match.parts))


def phrases_in(match: LogMatch) -> tuple[FieldPhrase, ...]:
    """Return all phrases of the match, in order."""
    match match:
        case FieldPhrase():
            return (match,)
        case Not():
            return phrases_in(match.part)
        case AllOf() | AnyOf():
            return tuple(phrase for part in match.parts for phrase in phrases_in(part))


def _inner(match: LogMatch) -> str:
    return render_match(match) if isinstance(match, FieldPhrase | Not) else f"({render_match(match)})"


def matches_message(match: LogMatch, message: str) -> bool:
    """Return whether a line with this message, of which nothing else is known, matches: as the stores do, by words."""
    return _holds(match, [word.lower() for word in _WORD.findall(message)])


def _holds(match: LogMatch, words: list[str]) -> bool:
    match match:
        case FieldPhrase(field="message"):
            wanted = [word.lower() for word in _WORD.findall(match.text)]
            return any(words[at : at + len(wanted)] == wanted for at in range(len(words) - len(wanted) + 1))
        case FieldPhrase():
            return False
        case AllOf():
            return all(_holds(part, words) for part in match.parts)
        case AnyOf():
            return any(_holds(part, words) for part in match.parts)
        case Not():
            return not _holds(match.part, words)
