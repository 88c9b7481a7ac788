"""The names that a line may have: of nodes, trainings, alerts and the like, and the ids that we give."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from commands.core.matching.tokens import LineToken
from commands.core.other_names import without_others
from commands.core.parameter_types import ROW_IDS, TAINT_SHAPE, NameKind

NEAR = 0.75  # how alike a mistyped name is, 1 is the same
_NEAR_A_WORD = 0.85  # the same for a name that looks like any word
MAX_NEAR = 3
_IN_TWO_WORDS = (NameKind.NODE, NameKind.RACK)
_IN_NAMESPACES = (
    NameKind.VOLUME,
    NameKind.POD,
    NameKind.AGENT,
)  # whose namespace people leave out; all in lower case
_MISTYPED = (*_IN_NAMESPACES, NameKind.ALERT, NameKind.RUNBOOK, NameKind.RACK, NameKind.REPAIR)
_COMPARED = 2_000  # names of a kind, which takes about 0.1 s; of pods there may be 50,000
_LONGER = 2  # signs that a name has more or less than the mistyped one
_LOOKS_LIKE_A_NAME = re.compile(r"(?=.*[0-9/-])[\w./-]{3,}", re.ASCII)


def is_like_a_name(word: str) -> bool:
    """Return whether a word has letters and digits, as names have: `gpu-z9` is one that nothing here has."""
    return (
        bool(_LOOKS_LIKE_A_NAME.fullmatch(word))
        and any(map(str.isdecimal, word))
        and any(map(str.isalpha, word))
    )


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Names by kind. An id of ours need not be among them: the command says if there is no such row.

    `me` is who wrote the line, as commands name people.
    """

    names: Mapping[NameKind, Sequence[str]] = field(default_factory=dict)
    me: str = ""

    def kinds_of(self, word: str) -> dict[NameKind, str]:
        """Return what the word may name, and its name as it is written there."""
        found = {kind: word.lower() for kind, shape in ROW_IDS.items() if shape.fullmatch(word.lower())}
        if TAINT_SHAPE.fullmatch(word):
            found[NameKind.TAINT] = word
        for kind, names in self.names.items():
            if kind is NameKind.POD:  # there may be 50,000, all in lower case
                found |= {kind: word.lower()} if word.lower() in names else {}
                continue
            for name in names:
                if name.lower() == word.lower():
                    found[kind] = name
        if NameKind.TRAINING not in found and word.lower() in self._short_names():
            found[NameKind.TRAINING] = word.lower()
        for kind in _IN_NAMESPACES:
            if kind not in found and (name := self._with_namespace(kind, word.lower())):
                found[kind] = name
        return found

    def also(self, names: Mapping[NameKind, Sequence[str]]) -> "KnownNames":
        """Return these names with others."""
        added = {kind: (*self.names.get(kind, ()), *more) for kind, more in names.items()}
        return replace(self, names={**self.names, **added})

    def apart_from_cluster(self, words: Sequence[str]) -> tuple[list[str], str]:
        """Return the words without the name of a cluster, and that name: `dns of prod-b`, `prod-b上的dns`."""
        for name in self.names.get(NameKind.CLUSTER, ()):
            shape = re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", re.IGNORECASE | re.ASCII)
            left = [one if " " in one else shape.sub(" ", one) for one in words]
            if left != list(words):
                return [part for one in left for part in ([one] if one in words else one.split())], name
        return list(words), ""

    def _with_namespace(self, kind: NameKind, word: str) -> str:
        """Return the name in a namespace that the word is the end of; empty if there is none, or several.

        Of an agent it may be the end of the name as well: `device-plugin` is `nvidia-device-plugin`.
        """
        ends = (f"/{word}", f"-{word}") if kind is NameKind.AGENT else (f"/{word}",)
        named = [one for one in self.names.get(kind, ()) if one.endswith(ends)]
        return named[0] if len(named) == 1 else ""

    def whole_in(self, tokens: Sequence[LineToken]) -> list[LineToken]:
        """Return the tokens with a name in two words as one: `rack b` is `rack-b`, `gpu b03` is `gpu-b03`."""
        found: list[LineToken] = []
        at = 0
        while at < len(tokens):
            pair = tokens[at : at + 2]
            name = f"{pair[0].key}-{pair[1].key}" if len(pair) == 2 else ""
            name = next(
                (one for kind in _IN_TWO_WORDS for one in self.names.get(kind, ()) if one.lower() == name), ""
            )
            name = (
                name
                or (len(pair) == 2 and self._with_namespace(NameKind.AGENT, f"{pair[0].key}-{pair[1].key}"))
                or ""
            )
            found.append(LineToken(name.lower(), name) if name else tokens[at])
            at += 2 if name else 1
        return found

    def near(self, word: str) -> list[str]:
        """Return the names that the word was probably meant to be, the most alike first."""
        least = NEAR if _LOOKS_LIKE_A_NAME.fullmatch(word) else _NEAR_A_WORD
        known = [
            *self.names.get(NameKind.NODE, ()),
            *self.names.get(NameKind.TRAINING, ()),
            *self._short_names(),
            *(name for kind in _MISTYPED for name in self._like(kind, word.lower())),
        ]
        matcher = difflib.SequenceMatcher(b=word.lower())
        scored = []
        for name in known:
            matcher.set_seq1(name.lower())
            if matcher.quick_ratio() >= least and (ratio := matcher.ratio()) >= least:
                scored.append((-ratio, name))
        return without_others(word, (name for _, name in sorted(scored)))[:MAX_NEAR]

    def _like(self, kind: NameKind, word: str) -> list[str]:
        """Return the names of a kind that begin like the word and are about as long; none if these are too many."""
        whole = self.names.get(kind, ())
        names = (
            whole if "/" in word or kind not in _IN_NAMESPACES else [one.rpartition("/")[2] for one in whole]
        )
        like = [one for one in names if one[:1].lower() == word[:1] and abs(len(one) - len(word)) <= _LONGER]
        return like if len(like) <= _COMPARED else []

    def _short_names(self) -> set[str]:
        """A training's name or namespace without the other, as long as it names only one."""
        parts = [
            part
            for id in self.names.get(NameKind.TRAINING, ())
            for part in dict.fromkeys(id.lower().split("/", 1))
        ]
        return {part for part in parts if parts.count(part) == 1}
