"""Parts of a line: its words without fillers, its names, and what it refers to in a thread."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from commands.core.matching.candidates import Name
from commands.core.matching.known_names import KnownNames
from commands.core.matching.lexicon import Lexicon
from commands.core.matching.references import ThreadNames, reference_at, reference_length
from commands.core.matching.tokens import LineToken, words_only
from commands.core.parameter_types import PREFIXES, NameKind

_DURATION = re.compile(r"(?:[0-9]{1,6}(?:ms|[ywdhms]))+", re.ASCII)
_PERSON = re.compile(r"@[\w.-]+|[UW][A-Z0-9]{5,}", re.ASCII)
ME = "@me"  # as `rewording` has it
_IN = ("in", "在")  # before a namespace
_INSIDE = ("里", "下")  # after one
_NOUN = 3  # tokens that a noun has at most, in Chinese
_UNIT = 3  # words after a number among which is what it counts


def parts_of(
    tokens: Sequence[LineToken], lexicon: Lexicon, names: KnownNames, thread: ThreadNames
) -> list[LineToken | Name]:
    """Return the line's words without fillers, and its names. A word of the lexicon is one, unless it stands alone."""
    parts: list[LineToken | Name] = []
    run: list[LineToken] = []
    at = 0
    while at < len(tokens):
        length, name = _referred(tokens[at:], lexicon, thread) or (1, name_at(tokens, at, lexicon, names))
        if name is None:
            run.append(tokens[at])
        else:
            parts += [*lexicon.nouns_in(words_only(run)), name]
            run = []
        at += length
    parts += lexicon.nouns_in(words_only(run))
    named = {
        kind for part in parts if isinstance(part, Name) and not part.is_reference for kind in part.kinds
    }
    return [part for part in parts if not (_is_noun_of_a_name(part, named))]


def _is_noun_of_a_name(part: LineToken | Name, named: AbstractSet[NameKind]) -> bool:
    """Return whether it is the noun before a name: `the node gpu-b03` is not the thread's node."""
    return (
        isinstance(part, Name) and part.is_reference and part.is_specific and not named.isdisjoint(part.kinds)
    )


def name_at(tokens: Sequence[LineToken], at: int, lexicon: Lexicon, names: KnownNames) -> Name | None:
    """Return what the token at a place names, or the number or duration that it is."""
    token = tokens[at]
    is_word = token.key in lexicon.words and len(tokens) > 1
    kinds = dict(names.kinds_of(token.text)) if not is_word else {}
    if token.key.isdecimal():
        before = lexicon.nouns_in(tokens[max(0, at - 1) : at])
        kind = next((one for one in (*PREFIXES, NameKind.GPU) if before and before[0].key == one.value), None)
        if kind is not None:
            return Name(token=token, kinds={kind: f"{PREFIXES.get(kind, '')}{token.text}"})
        return Name(token=token, kinds=kinds, unit=_unit(tokens[at + 1 : at + 1 + _UNIT], lexicon))
    if _PERSON.fullmatch(token.text):
        kinds = {**kinds, NameKind.PERSON: names.me if token.key == ME and names.me else token.text}
    if NameKind.NAMESPACE in kinds and not _is_namespace(tokens, at, lexicon):
        del kinds[NameKind.NAMESPACE]
    is_duration = bool(_DURATION.fullmatch(token.key))
    return Name(token=token, kinds=kinds, is_duration=is_duration) if kinds or is_duration else None


def _is_namespace(tokens: Sequence[LineToken], at: int, lexicon: Lexicon) -> bool:
    """Return whether it is said to be one: `namespace data`, `in data`. Many a namespace has a word for a name."""
    beside = lexicon.nouns_in([*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]])
    return (
        any(one.key == NameKind.NAMESPACE.value for one in beside)
        or (at > 0 and tokens[at - 1].key in _IN)
        or (at + 1 < len(tokens) and tokens[at + 1].key in _INSIDE)
    )


def _unit(following: Sequence[LineToken], lexicon: Lexicon) -> str:
    """Return what a number counts: the first word after it in which an option counts."""
    return next((one.key for one in lexicon.nouns_in(following) if one.key in lexicon.units), "")


def _referred(tokens: Sequence[LineToken], lexicon: Lexicon, thread: ThreadNames) -> tuple[int, Name] | None:
    """Return how many of the first tokens refer to what the thread is about, and to what."""
    if not thread or not (length := reference_length(tokens)):
        return None
    found = reference_at(tokens, lexicon.nouns_in(tokens[length : length + _NOUN]))
    if found is None:
        return None
    length, kind = found
    if kind is None:
        return length, Name(token=tokens[0], kinds=dict(thread), is_reference=True)
    if kind is NameKind.ALERT:  # an alert of the thread is one of its incident
        kind = NameKind.INCIDENT
    return (
        (length, Name(token=tokens[0], kinds={kind: thread[kind]}, is_reference=True))
        if kind in thread
        else None
    )
