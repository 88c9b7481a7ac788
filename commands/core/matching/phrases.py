"""Phrases: words by which people name a command, an option, what no command does, or that ask; words of other tools."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from commands.core.command import AnyCommand
from commands.core.matching.tokens import is_form_of, is_same_word, stem_of
from commands.core.parameter_types import NameKind


@dataclass(frozen=True, kw_only=True)
class CommandPhrase:
    """Words that name a command, without fillers. `options` are what the phrase says beyond the name."""

    words: tuple[str, ...]
    options: tuple[str, ...] = ()
    typed: str = ""  # as it is declared
    is_singular: bool = False  # "show node" is not "show nodes"
    is_qualifier: bool = False  # it gives an option, and names no command
    needs: tuple[
        frozenset[NameKind], ...
    ] = ()  # kinds of the arguments: it means the command only beside a name
    needs_all: bool = False  # for each of them

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(map(stem_of, self.words))

    def places_in(self, words: Sequence[str], *, is_loose: bool = False) -> Sequence[int]:
        """Return where the words of the phrase are; loosely in any order and tense, but for Chinese."""
        found = self.found_in(words)
        if found is not None:
            return range(found, found + len(self.words))
        if (
            not is_loose
            or self.is_singular
            or self.is_qualifier
            or not all(word.isascii() for word in self.words)
        ):
            return ()
        places: list[int] = []
        for own in self.words:
            place = next(
                (at for at, word in enumerate(words) if at not in places and is_form_of(word, own)), None
            )
            if place is None:
                return ()
            places.append(place)
        return places

    def found_in(self, words: Sequence[str | None]) -> int | None:
        """Return where the phrase begins in the words; None stands for a word that is taken."""
        for at in range(len(words) - len(self.words) + 1):
            there = words[at : at + len(self.words)]
            if all(
                word is not None and (word == own if self.is_singular else is_same_word(word, own))
                for word, own in zip(there, self.words, strict=True)
            ):
                return at
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentVerb:
    """What people ask for that no command does, by its phrases. `nearest` names the commands that come near it."""

    phrases: tuple[CommandPhrase, ...]
    nearest: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolWords:
    """A tool by its names, and its words and options in ours; `ignored` has true for an option with a value.

    `means`: what the tool itself says in ours, as `squeue` does.
    """

    called: Sequence[str]
    means: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
    ignored: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Words that ask, and the verbs, or commands, that answer: the first that the noun in question has."""

    phrases: tuple[CommandPhrase, ...]
    verbs: tuple[str, ...]

    def answering(self, catalogue: Sequence[AnyCommand]) -> Iterable[tuple[int, AnyCommand]]:
        """Yield the commands that may answer, with the place of their verb."""
        for place, verb in enumerate(self.verbs):
            for command in catalogue:
                if command.read is not None and verb in (command.verb or command.name, command.name):
                    yield place, command
