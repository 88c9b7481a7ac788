"""Reading of a line as one command: which of its words are the command's name, its arguments and its options."""

from collections.abc import Sequence

import click

from commands.core.command import AnyCommand
from commands.core.matching.candidates import ASKING, Candidate, Name
from commands.core.matching.lexicon import CommandPhrase
from commands.core.matching.references import NO_THREAD, ThreadNames
from commands.core.matching.tokens import LineToken, is_same_word
from commands.core.number_range import NumberRangeType
from commands.core.parameter_types import (
    PREFIXES,
    DurationType,
    MatchersType,
    NameKind,
    WholeNumberType,
    is_missing,
    kinds_of,
    with_prefix,
)


def candidate_of(
    command: AnyCommand,
    phrases: Sequence[CommandPhrase],
    parts: Sequence[LineToken | Name],
    options: Sequence[str],
    *,
    thread: ThreadNames = NO_THREAD,
    needs_phrase: bool = True,
) -> Candidate | None:
    """Return the command as the line would mean it, or None if the line does not name it.

    `parts` are the line's words and names in order, `options` its words from the first option on. What the command
    needs and the line does not have, the `thread` gives.
    """
    reading = _Reading(command, list(parts), [*options])
    reading.take_phrases(phrases)
    if needs_phrase and not reading.covered:
        return None
    reading.take_options()
    reading.take_names()
    reading.take_references()
    reading.take_from(thread)
    reading.take_rest()
    reading.take_free()
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
        self._is_corrected = any(isinstance(part, LineToken) and part.is_corrected for part in parts)
        self.referred: set[NameKind] = set()
        # `incident i3`, `alert GPUTemperatureHigh`: the noun says what the name is
        self._kinds = {
            kind.value for part in parts if isinstance(part, Name) and part.is_specific for kind in part.kinds
        }
        self._asked = [one for one in command.parameters if isinstance(one, click.Option)]

    def take_phrases(self, phrases: Sequence[CommandPhrase]) -> None:
        for phrase in phrases:
            words = [(at, part) for at, part in enumerate(self.parts) if isinstance(part, LineToken)]
            found = phrase.found_in([token.key for _, token in words])
            if found is None:
                continue
            for at, _ in words[found : found + len(phrase.words)]:
                self.parts[at] = None
            self.covered += 0 if phrase.is_qualifier else len(phrase.words)
            self._add(phrase.options)

    def take_options(self) -> None:
        """Take `for 2h`, `rank 3`, `4 workers`, `50 lines`, and the names of flags."""
        for at, part in enumerate(self.parts):
            if isinstance(part, Name) and part.unit:
                self._take_counted(at, part)
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

    def _take_counted(self, at: int, number: Name) -> None:
        """Take a number with the option that its unit names, or the unit in which an option counts."""
        for option in self._asked:
            names = (option.opts[0].lstrip("-"), (option.metavar or "").lower())
            if option.is_flag or not any(is_same_word(number.unit, name) for name in names if name):
                continue
            self._add((option.opts[0], number.token.text))
            self.parts[at] = None
            for place in range(at + 1, len(self.parts)):
                part = self.parts[place]
                if isinstance(part, LineToken) and is_same_word(part.key, number.unit):
                    self.parts[place] = None
                    break
            return

    def take_names(self) -> None:
        """Give each name to the parameter that it fits: first to an argument, then to an option."""
        for at, part in enumerate(self.parts):
            if isinstance(part, Name) and not part.is_reference and self._take(part):
                self.parts[at] = None

    def take_references(self) -> None:
        """Give what `it` and `that node` mean to a parameter that has no value yet."""
        for at, part in enumerate(self.parts):
            if isinstance(part, Name) and part.is_reference and (self._take(part) or not part.is_specific):
                self.parts[at] = None

    def take_from(self, thread: ThreadNames) -> None:
        """Give an argument that the line does not have what the thread's incident concerns."""
        for parameter in self.command.parameters:
            if not isinstance(parameter, click.Argument) or self.arguments.get(parameter.name or ""):
                continue
            kind = next((one for one in kinds_of(parameter) if one in thread), None)
            if kind is not None and not isinstance(parameter.type, MatchersType):
                self.arguments[parameter.name or ""] = [thread[kind]]
                self.referred.add(kind)

    def take_rest(self) -> None:
        """Take what adds nothing beside the phrase: words that ask, and the command's own noun."""
        for at, part in enumerate(self.parts):
            if (
                isinstance(part, LineToken)
                and (part.key in ASKING or part.key in self._kinds or self._is_own_noun(part.key))
            ) or (isinstance(part, Name) and self._is_count_of_what_is_listed(part)):
                self.parts[at] = None

    def _is_count_of_what_is_listed(self, part: Name) -> bool:
        """Return whether it is the number in `are 8 gpus free?`."""
        is_of_noun = is_same_word(part.unit, self.command.noun)
        return part.is_number and is_of_noun and not self.command.changes_something

    def take_free(self) -> None:
        """Take the one word that is left as the name of something new, or a person: `launch bert`, `give to bo`."""
        left = [at for at, part in enumerate(self.parts) if part is not None]
        free = next((one for one in self.command.parameters if _is_free(one)), None)
        if (
            not self.covered
            or self._is_corrected
            or free is None
            or len(left) != 1
            or self.arguments.get(free.name or "")
        ):
            return
        part = self.parts[left[0]]
        word = part.token.text if isinstance(part, Name) else part.text if part else ""
        if word.isascii():
            if isinstance(free, click.Argument):
                self.arguments[free.name or ""] = [word]
            else:
                self._add((free.opts[0], word))
            self.parts[left[0]] = None

    def _is_own_noun(self, word: str) -> bool:
        return word == self.command.noun or (self.command.verb != "show" and word == f"{self.command.noun}s")

    def candidate(self) -> Candidate:
        positional = [
            word
            for parameter in self.command.parameters
            for word in self.arguments.get(parameter.name or "", ())
        ]
        given = {word.partition("=")[0] for word in (*self.options, *self.given) if word.startswith("--")}
        missing = [
            parameter.human_readable_name
            for parameter in self.command.parameters
            if is_missing(parameter, given, has_value=bool(self.arguments.get(parameter.name or "")))
        ]
        return Candidate(
            command=self.command,
            arguments=(*positional, *self.options, *self.given),
            missing=tuple(missing),
            covered=self.covered,
            unexplained=sum(part is not None for part in self.parts),
            referred=frozenset(self.referred),
        )

    def _take(self, name: Name) -> bool:
        for parameter in self.command.parameters:
            if not self._fits(parameter, name):
                continue
            value = self._value(parameter, name)
            if isinstance(parameter, click.Argument):
                room = self.arguments.setdefault(parameter.name or "", [])
                if not room or (parameter.nargs == -1 and not name.is_reference):
                    room.append(value)
                    self._note(parameter, name)
                    return True
            elif (
                name.is_specific
                and not name.is_number
                and not {*self.options, *self.given} & {parameter.opts[0]}
            ):
                self._add((parameter.opts[0], value))
                self._note(parameter, name)
                return True
        return False

    def _note(self, parameter: click.Parameter, name: Name) -> None:
        if name.is_reference:
            self.referred |= {kind for kind in kinds_of(parameter) if kind in name.kinds}

    def _fits(self, parameter: click.Parameter, name: Name) -> bool:
        if isinstance(parameter, click.Option) and parameter.is_flag:
            return False
        if isinstance(parameter.type, DurationType):
            return name.is_duration
        if kinds := kinds_of(parameter):
            is_bare_id = name.is_number and isinstance(parameter, click.Argument)
            return any(kind in name.kinds or (is_bare_id and kind in PREFIXES) for kind in kinds)
        if "person" in (parameter.name, (parameter.metavar or "").lower()):
            return name.is_person
        if isinstance(parameter.type, WholeNumberType | NumberRangeType):
            return name.is_number
        return isinstance(parameter, click.Option) and name.is_number and parameter.name == "rank"

    def _value(self, parameter: click.Parameter, name: Name) -> str:
        for kind in kinds_of(parameter):
            if kind in name.kinds:
                written = name.kinds[kind]
                is_matcher = isinstance(parameter.type, MatchersType)
                return f"{MatchersType.labels[kind]}={written}" if is_matcher else written
        return with_prefix(name.token.text, kinds_of(parameter))

    def _add(self, options: Sequence[str]) -> None:
        if options and options[0] not in (*self.options, *self.given):
            self.options += options


def _is_free(parameter: click.Parameter) -> bool:
    """Return whether its value is a name that nothing here knows: somebody makes it up, or it is a person's."""
    is_person = "person" in (parameter.name, (parameter.metavar or "").lower())
    is_new = parameter.type is click.STRING and parameter.name in ("name", "priority_class")
    return (
        parameter.required
        and parameter.nargs == 1
        and (is_person or (is_new and isinstance(parameter, click.Argument)))
    )
