"""Candidates: a command that a line may mean, and how much of the line it explains."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import click

from commands.core.command import AnyCommand
from commands.core.matching.lexicon import CommandPhrase
from commands.core.matching.tokens import SHOWING, LineToken
from commands.core.parameter_types import DurationType, MatchersType, NameKind, WholeNumberType, kinds_of

# Words that ask rather than name something: beside a phrase or a name they add nothing.
ASKING = SHOWING | {"which", "what", "who", "where", "how", "much", "many", "for", "then", "new"}
ASKING |= {"can", "could", "would", "should", "do", "did", "ok", "fine", "alive", "team"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A word that names something, by kind; or a number or a duration, with no kind."""

    token: LineToken
    kinds: dict[NameKind, str] = field(default_factory=dict)
    is_duration: bool = False

    @property
    def is_number(self) -> bool:
        return self.token.key.isdecimal() and not self.is_duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A command with the arguments that the line gives. `unexplained` and `covered` count words of the line."""

    command: AnyCommand
    arguments: tuple[str, ...]
    missing: tuple[str, ...]  # required parameters without a value
    covered: int
    unexplained: int

    @property
    def words(self) -> tuple[str, ...]:
        return (*self.command.name.split(), *self.arguments)

    @property
    def rank(self) -> tuple[int, int, int, bool]:
        """The best candidate has the lowest rank."""
        return (self.unexplained, -self.covered, len(self.missing), self.command.changes_something)


def candidate_of(
    command: AnyCommand,
    phrases: Sequence[CommandPhrase],
    parts: Sequence[LineToken | Name],
    options: Sequence[str],
    *,
    needs_phrase: bool = True,
) -> Candidate | None:
    """Return the command as the line would mean it, or None if the line does not name it.

    `parts` are the line's words and names in order, `options` its words from the first option on.
    """
    reading = _Reading(command, list(parts), [*options])
    reading.take_phrases(phrases)
    if needs_phrase and not reading.covered:
        return None
    reading.take_options()
    reading.take_names()
    reading.take_rest()
    return reading.candidate()


class _Reading:
    """One command tried on the line: what is explained is taken out of `parts`, where None is left."""

    def __init__(self, command: AnyCommand, parts: list[LineToken | Name | None], options: list[str]) -> None:
        self.command = command
        self.parts = parts
        self.given = options
        self.options: list[str] = []  # that the line means without writing them
        self.covered = 0
        self.arguments: dict[str, list[str]] = {}  # of positional parameters, by name
        # `incident i3`, `alert GPUTemperatureHigh`: the noun says what the name is
        self._kinds = {kind.value for part in parts if isinstance(part, Name) for kind in part.kinds}
        self._asked = [one for one in command.parameters if isinstance(one, click.Option)]

    def take_phrases(self, phrases: Sequence[CommandPhrase]) -> None:
        for phrase in phrases:
            words = [(at, part) for at, part in enumerate(self.parts) if isinstance(part, LineToken)]
            found = phrase.found_in([token.key for _, token in words])
            if found is None:
                continue
            for at, _ in words[found : found + len(phrase.words)]:
                self.parts[at] = None
            self.covered += len(phrase.words)
            self._add(phrase.options)

    def take_options(self) -> None:
        """Take `for 2h`, `rank 3`, and the names of flags."""
        for at, part in enumerate(self.parts):
            if not isinstance(part, LineToken):
                continue
            option = next((one for one in self._asked if f"--{part.key}" in one.opts), None)
            if option is None:
                continue
            following = self.parts[at + 1] if at + 1 < len(self.parts) else None
            if option.is_flag:
                self._add((f"--{part.key}",))
                self.parts[at] = None
            elif isinstance(following, Name) and self._fits(option, following):
                self._add((f"--{part.key}", self._value(option, following)))
                self.parts[at] = self.parts[at + 1] = None

    def take_names(self) -> None:
        """Give each name to the parameter that it fits: first to an argument, then to an option."""
        for at, part in enumerate(self.parts):
            if isinstance(part, Name) and self._take(part):
                self.parts[at] = None

    def take_rest(self) -> None:
        """Take what adds nothing beside the phrase: words that ask, and the command's own noun."""
        for at, part in enumerate(self.parts):
            if isinstance(part, LineToken) and (
                part.key in ASKING or part.key in self._kinds or self._is_own_noun(part.key)
            ):
                self.parts[at] = None

    def _is_own_noun(self, word: str) -> bool:
        return word == self.command.noun or (self.command.verb != "show" and word == f"{self.command.noun}s")

    def candidate(self) -> Candidate:
        positional = [word for words in self.arguments.values() for word in words]
        given = {word.partition("=")[0] for word in (*self.options, *self.given) if word.startswith("--")}
        missing = [
            parameter.human_readable_name
            for parameter in self.command.parameters
            if parameter.required
            and not (
                given & set(parameter.opts)
                if isinstance(parameter, click.Option)
                else self.arguments.get(parameter.name or "")
            )
        ]
        return Candidate(
            command=self.command,
            arguments=(*positional, *self.options, *self.given),
            missing=tuple(missing),
            covered=self.covered,
            unexplained=sum(part is not None for part in self.parts),
        )

    def _take(self, name: Name) -> bool:
        for parameter in self.command.parameters:
            if not self._fits(parameter, name):
                continue
            value = self._value(parameter, name)
            if isinstance(parameter, click.Argument):
                room = self.arguments.setdefault(parameter.name or "", [])
                if parameter.nargs == -1 or not room:
                    room.append(value)
                    return True
            elif not {*self.options, *self.given} & {parameter.opts[0]}:
                self._add((parameter.opts[0], value))
                return True
        return False

    def _fits(self, parameter: click.Parameter, name: Name) -> bool:
        if isinstance(parameter, click.Option) and parameter.is_flag:
            return False
        if isinstance(parameter.type, DurationType):
            return name.is_duration
        if kinds := kinds_of(parameter):
            return any(kind in name.kinds for kind in kinds)
        if isinstance(parameter.type, WholeNumberType):
            return name.is_number
        return isinstance(parameter, click.Option) and name.is_number and parameter.name == "rank"

    def _value(self, parameter: click.Parameter, name: Name) -> str:
        for kind in kinds_of(parameter):
            if kind in name.kinds:
                written = name.kinds[kind]
                is_matcher = isinstance(parameter.type, MatchersType)
                return f"{MatchersType.labels[kind]}={written}" if is_matcher else written
        return name.token.text

    def _add(self, options: Sequence[str]) -> None:
        if options and options[0] not in (*self.options, *self.given):
            self.options += options
