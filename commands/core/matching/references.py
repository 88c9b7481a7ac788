"""References: what `it`, `that node` and `这个节点` mean in the thread of an incident. Pure."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from commands.core.matching.tokens import LineToken
from commands.core.parameter_types import NUMBERED, NameKind

# What the incident of a thread concerns, by the names that a line gives it; of what it concerns several there is none.
ThreadNames = Mapping[NameKind, str]
NO_THREAD: ThreadNames = MappingProxyType({})

_PRONOUNS = (
    *(("it",), ("its",), ("this",), ("that",), ("them",), ("these",), ("those",), ("here",)),
    *(
        ("这", "个"),
        ("那", "个"),
        ("这", "台"),
        ("那", "台"),
        ("它", "们"),
        ("它",),
        ("这",),
        ("该",),
        ("此",),
    ),
)
_ARTICLES = (("the",),)  # a reference only before a noun


def reference_at(
    tokens: Sequence[LineToken], nouns: Sequence[LineToken]
) -> tuple[int, NameKind | None] | None:
    """Return how many of the first tokens refer to something, and to what if a noun follows them; None if none does.

    `nouns` are the tokens after them with each noun in the program's own word, as `reference_length` cuts them off.
    """
    length = reference_length(tokens)
    if not length:
        return None
    kind = next(
        (one for one in NameKind if nouns and nouns[0].key == one.value and one not in NUMBERED), None
    )
    if kind is None and tuple(token.key for token in tokens[:length]) in _ARTICLES:
        return None
    return length, kind


def reference_length(tokens: Sequence[LineToken]) -> int:
    for words in (*_PRONOUNS, *_ARTICLES):
        if tuple(token.key for token in tokens[: len(words)]) == words:
            return len(words)
    return 0
