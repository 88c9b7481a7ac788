"""Reading of a line as one command: which of its words are the command's name, its arguments and its options."""

from collections.abc import Sequence, Set

import click

from commands.core.command import AnyCommand
from commands.core.matching.candidates import ASKING, Candidate, Name
from commands.core.matching.name_fitting import fits, is_free, value_for
from commands.core.matching.phrases import CommandPhrase
from commands.core.matching.references import NO_THREAD, ThreadNames
from commands.core.matching.tokens import LineToken, is_same_word, stem_of
from commands.core.parameter_types import LISTED, PREFIXES, MatchersType, NameKind, kinds_of
from commands.core.parameters import is_missing


def candidate_of(
    command: AnyCommand,
    phrases: Sequence[CommandPhrase],
    parts: Sequence[LineToken | Name],
    options: Sequence[str],
    *,
    thread: ThreadNames = NO_THREAD,
    needs_phrase: bool = True,
    verbs: Set[str] = frozenset(),
) -> Candidate | None:
    """Return the command as the line would mean it, or None if the line does not name it.

    `parts` are the line's words and names in order, `options` its words from the first option on. What the command
    needs and the line does not have, the `thread` gives. `verbs`: what a question may be about, in no tense.
    """
    reading = _Reading(command, list(parts), [*options], is_named=needs_phrase)
    reading.take_phrases(phrases, thread)
    if needs_phrase and not reading.covered:
        return None
    reading.take_options()
    reading.take_names()
    reading.take_references()
    reading.take_from(thread)
    reading.take_rest(verbs)
    reading.take_free()
    return reading.candidate()


def knows_options(command: AnyCommand, words: Sequence[str]) -> bool:
    """Return whether the command has all options that are among the words."""
    known = {flag for parameter in command.parameters for flag in parameter.opts}
    given = (word.partition("=")[0] for word in words if word.startswith("-") and not word[1:2].isdecimal())
    return all(option in known for option in given)


class _Reading:
    """One command tried on the line: what is explained is taken out of `parts`, where None is left."""

    def __init__(
        self,
        command: AnyCommand,
        parts: list[LineToken | Name | None],
        options: list[str],
        *,
        is_named: bool,
    ) -> None:
        self.command = command
        self._is_named = is_named  # by its phrases, and not by what the line is like
        self.parts = parts
        self.given = options
        self.options: list[str] = []  # that the line means without writing them
        self.covered = 0
        self.arguments: dict[str, list[str]] = {}  # of positional parameters, by name
        self._is_corrected = any(isinstance(part, LineToken) and part.is_corrected for part in parts)
        self.named: set[NameKind] = set()
        self.referred: set[NameKind] = set()
        # `incident i3`, `alert GPUTemperatureHigh`: the noun says what the name is
        self._kinds = {
            kind.value for part in parts if isinstance(part, Name) and part.is_specific for kind in part.kinds
        }
        self._takes_names = any(
            isinstance(one, click.Argument) and kinds_of(one) for one in command.parameters
        )
        self._asked = [one for one in command.parameters if isinstance(one, click.Option)]

    def take_phrases(self, phrases: Sequence[CommandPhrase], thread: ThreadNames) -> None:
        """Take the words of the phrases. A command that only reads is meant by them in any order and tense."""
        is_loose = self.command.read is not None
        said = frozenset(stem_of(part.key) for part in self.parts if isinstance(part, LineToken))
        for phrase in phrases:
            if not phrase.stems <= said or not self._has(phrase, thread):
                continue
            words = [(at, part.key) for at, part in enumerate(self.parts) if isinstance(part, LineToken)]
            places = phrase.places_in([key for _, key in words], is_loose=is_loose)
            for place in places:
                self.parts[words[place][0]] = None
            if places:
                self.covered += 0 if phrase.is_qualifier else len(phrase.words)
                self._add(phrase.options)

    def _has(self, phrase: CommandPhrase, thread: ThreadNames) -> bool:
        """Return whether the first argument has a name, and what the line names is of one of the arguments."""
        names = [part for part in self.parts if isinstance(part, Name) and part.kinds]
        in_line = {kind for part in names for kind in part.kinds}
        is_named = any(part.is_specific for part in names)
        needed = phrase.needs if phrase.needs_all else phrase.needs[:1]
        return not phrase.needs or (
            all(kinds & {*in_line, *thread} for kinds in needed)
            and (not is_named or any(in_line & kinds for kinds in phrase.needs))
        )

    def take_options(self) -> None:
        """Take `for 2h`, `rank 3`, `4 workers`, `50 lines`, the names of flags, and the choices of options."""
        for at, part in enumerate(self.parts):
            if isinstance(part, Name) and part.unit:
                self._take_counted(at, part)
            if not isinstance(part, LineToken):
                continue
            option = next((one for one in self._asked if f"--{part.key}" in one.opts), None)
            if option is None:
                self._take_choice(at, part)
                continue
            following = self.parts[at + 1] if at + 1 < len(self.parts) else None
            if option.is_flag:
                self._add((f"--{part.key}",))
                self.parts[at] = None
            elif isinstance(following, Name) and fits(option, following):
                self._add((f"--{part.key}", value_for(option, following)))
                self.parts[at] = self.parts[at + 1] = None

    def _take_choice(self, at: int, word: LineToken) -> None:
        """Take a word that is one of the choices of an option."""
        for option in self._asked:
            is_choice = isinstance(option.type, click.Choice) and word.key in option.type.choices
            if is_choice and (self.covered or not self._is_named):
                self._add((option.opts[0], word.key))
                self.parts[at] = None
                return

    def _take_counted(self, at: int, number: Name) -> None:
        """Take a number with the option that its unit names, or the unit in which an option counts."""
        for option in self._asked:
            names = (option.opts[0].lstrip("-"), (option.metavar or "").lower())
            if option.is_flag or not any(is_same_word(number.unit, name) for name in names if name):
                continue
            self._add((option.opts[0], number.token.text))
            self.parts[at] = None
            self._take_unit(at, number.unit)
            return

    def _take_unit(self, at: int, unit: str) -> None:
        """Take the word after a number that says what it counts."""
        for place in range(at + 1, len(self.parts)):
            part = self.parts[place]
            if isinstance(part, LineToken) and is_same_word(part.key, unit):
                self.parts[place] = None
                return

    def take_names(self) -> None:
        """Give each name to the parameter that it fits: first to an argument, then to an option."""
        for at, part in enumerate(self.parts):
            if isinstance(part, Name) and not part.is_reference and self._take(part):
                self.parts[at] = None
                if part.unit in self.arguments:  # `12 workers`
                    self._take_unit(at, part.unit)

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

    def take_rest(self, verbs: Set[str]) -> None:
        """Take what adds nothing beside the phrase: words that ask, what they ask about, and the command's own noun."""
        for at, part in enumerate(self.parts):
            if (
                isinstance(part, LineToken)
                and (
                    part.key in ASKING
                    or part.key in self._kinds
                    or self._is_own_noun(part.key)
                    or stem_of(part.key) in verbs
                )
            ) or (isinstance(part, Name) and self._is_in_the_list(part)):
                self.parts[at] = None

    def _is_in_the_list(self, part: Name) -> bool:
        """Return whether a list of the noun shows it: `why is b2 open`, or the number in `are 8 gpus free?`."""
        if self.command.changes_something:
            return False
        is_row = self.command.verb == "list" and any(
            kind.value == self.command.noun for kind in LISTED & part.kinds.keys()
        )
        return is_row or (part.is_number and is_same_word(part.unit, self.command.noun))

    def take_free(self) -> None:
        """Take the one word that is left as the name of something new, or a person: `launch bert`, `give to bo`."""
        left = [at for at, part in enumerate(self.parts) if part is not None]
        free = next((one for one in self.command.parameters if is_free(one)), None)
        if (
            not self.covered
            or self._is_corrected
            or free is None
            or len(left) != 1
            or self.arguments.get(free.name or "")
            or {*free.opts} & {*self.options, *self.given}
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
        positional: list[str] = []
        for argument in (one for one in self.command.parameters if isinstance(one, click.Argument)):
            given_here = self.arguments.get(argument.name or "", ())
            if not given_here:
                break  # what comes after it would be read as it
            positional += given_here
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
            left=tuple(part for part in self.parts if part is not None),
            named=frozenset(self.named),
            referred=frozenset(self.referred),
        )

    def _take(self, name: Name) -> bool:
        for parameter in self.command.parameters:
            if not fits(parameter, name) or self._is_any_number(parameter, name):
                continue
            value = value_for(parameter, name)
            if isinstance(parameter, click.Argument):
                room = self.arguments.setdefault(parameter.name or "", [])
                if not room or (parameter.nargs == -1 and not name.is_reference):
                    room.append(value)
                    self._note(parameter, name)
                    return True
            elif (
                (name.is_specific or not self._takes_names)
                and (not name.is_number or parameter.name in {kind.value for kind in name.kinds})
                and not {*self.options, *self.given} & {parameter.opts[0]}
            ):
                self._add((parameter.opts[0], value))
                self._note(parameter, name)
                return True
        return False

    def _is_any_number(self, parameter: click.Parameter, name: Name) -> bool:
        """Return whether a bare number would be an id of ours, where no words of the command say so."""
        is_id = not PREFIXES.keys().isdisjoint(kinds_of(parameter))
        return is_id and name.is_number and not name.kinds and not self._is_named

    def _note(self, parameter: click.Parameter, name: Name) -> None:
        kinds = {kind for kind in kinds_of(parameter) if kind in name.kinds}
        if name.is_reference:
            self.referred |= kinds
        else:
            self.named |= kinds

    def _add(self, options: Sequence[str]) -> None:
        if options and options[0] not in (*self.options, *self.given):
            self.options += options
