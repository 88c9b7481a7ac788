"""The lexicon: the phrases by which people name each command, from its name and its synonyms."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import click

from commands.core.command import AnyCommand
from commands.core.matching.answers import AnswerWords
from commands.core.matching.examples import Examples
from commands.core.matching.phrases import AbsentVerb, CommandPhrase, Question, ToolWords
from commands.core.matching.tokens import SHOWING, LineToken, singular, stem_of, tokens_of, words_only
from commands.core.parameter_types import NameKind, NameType, kinds_of

_SHORT = 3  # letters of a word that alone says little

# Words that are the same in any command.
_COMMON: Mapping[str, tuple[str, ...]] = {
    "show": ("查看", "显示", "查询"),
    "list": ("列出", "列表"),
    "which": ("哪些", "哪个", "哪几个"),
    "who": ("谁",),
    "what": ("什么", "啥"),
    "many": ("多少", "几个"),
    "lines": ("行",),
    "last": ("最后", "最近"),
}


class Lexicon:
    """The phrases of all commands. `nouns`: what people say instead of a noun, by noun.

    `absent`: what people ask for and no command does, with the commands that are nearest. `flags`: what people say for
    an option, whichever command has it. `verbs`: what people say instead of a verb, whichever noun it is about.
    `questions`: words that ask, and the verbs that answer them. `answers`: what
    people say in the thread of a request. `tools`: whose lines people type by habit. `examples`: lines as people type
    them, for what all of these do not explain.
    """

    def __init__(
        self,
        catalogue: Sequence[AnyCommand],
        nouns: Mapping[str, Sequence[str]] = MappingProxyType({}),
        absent: Sequence[tuple[Sequence[str], Sequence[str]]] = (),
        flags: Mapping[str, Sequence[str]] = MappingProxyType({}),
        answers: Sequence[AnswerWords] = (),
        verbs: Mapping[str, Sequence[str]] = MappingProxyType({}),
        questions: Sequence[tuple[Sequence[str], Sequence[str]]] = (),
        tools: Sequence[ToolWords] = (),
        examples: Examples | None = None,
    ) -> None:
        self.examples = examples or Examples()
        self.catalogue = tuple(catalogue)
        self.answers = tuple(answers)
        self.tools = tuple(tools)
        self.nouns = frozenset({one.noun for one in catalogue} | set(nouns))
        self._flags = flags
        self._verbs = verbs
        self._nouns: defaultdict[str, list[tuple[list[str], str]]] = defaultdict(list)  # by their first word
        for own, others in {**nouns, **_COMMON}.items():
            for word in others:
                words = [singular(token.key) for token in words_only(tokens_of([word]))]
                self._nouns[words[0]].append((words, own))
        for found in self._nouns.values():
            found.sort(key=lambda entry: -len(entry[0]))
        by_verb: defaultdict[str, list[AnyCommand]] = defaultdict(list)
        for command in catalogue:
            by_verb[command.verb].append(command)
        self._alone = {one.name for verb, all in by_verb.items() if (one := _meant_alone(verb, all))}
        self.phrases: Mapping[str, tuple[CommandPhrase, ...]] = {
            command.name: tuple(sorted(self._phrases_of(command), key=lambda one: -len(one.words)))
            for command in catalogue
        }
        self.absent = tuple(
            AbsentVerb(phrases=tuple(self._phrase(one) for one in said), nearest=tuple(nearest))
            for said, nearest in absent
        )
        self.questions = tuple(
            Question(
                phrases=tuple(
                    sorted(
                        (phrase for said in asked if (phrase := self._phrase(said)).words),
                        key=lambda one: -len(one.words),
                    )
                ),
                verbs=tuple(answered),
            )
            for asked, answered in questions
        )

    @cached_property
    def verb_stems(self) -> frozenset[str]:
        """The verbs of changes and what people say instead, in no tense: `who cordoned it` asks about a cordon."""
        own = {one.verb for one in self.catalogue if one.verb and one.changes_something}
        said = (word for verb, words in self._verbs.items() if verb in own for word in words)
        return frozenset(stem_of(word) for word in (*own, *said) if word.isascii() and " " not in word)

    @cached_property
    def changes(self) -> frozenset[tuple[str, ...]]:
        """The words of the verbs of changes, in no tense, as tokens."""
        own = {one.verb for one in self.catalogue if one.verb and one.changes_something}
        said = (word for verb in own for word in (verb, *self._verbs.get(verb, ())))
        return frozenset(tuple(stem_of(one.key) for one in tokens_of(word.split())) for word in said)

    @cached_property
    def names(self) -> Mapping[NameKind, tuple[str, ...]]:
        """The names that the types of the parameters bring."""
        found: dict[NameKind, tuple[str, ...]] = {}
        for command in self.catalogue:
            for one in command.parameters:
                if isinstance(one.type, NameType) and one.type.names:
                    found |= dict.fromkeys(one.type.kinds, one.type.names)
        return found

    def says_an_option(self, words: Sequence[LineToken]) -> bool:
        """Return whether the words are what people say for an option: `ask the owners first`."""
        keys = [token.key for token in words]
        return any(phrase.found_in(keys) is not None for phrase in self._of_options)

    @cached_property
    def _of_options(self) -> tuple[CommandPhrase, ...]:
        said = (self._phrase(one) for all in self._flags.values() for one in all)
        return tuple(phrase for phrase in said if phrase.words)

    def nouns_in(self, tokens: Sequence[LineToken]) -> list[LineToken]:
        """Return the tokens with each noun in the program's own word: `machine` and `节点` are `node`."""
        left: list[LineToken] = []
        at = 0
        while at < len(tokens):
            for words, noun in self._nouns.get(singular(tokens[at].key), ()):
                if [singular(token.key) for token in tokens[at : at + len(words)]] == words:
                    left.append(LineToken(noun, tokens[at].text))
                    at += len(words)
                    break
            else:
                left.append(tokens[at])
                at += 1
        return left

    @cached_property
    def words(self) -> frozenset[str]:
        """All words that mean something."""
        options = (
            option.opts[-1].lstrip("-") if not option.opts[0].startswith("--") else option.opts[0].lstrip("-")
            for command in self.catalogue
            for option in command.parameters
            if isinstance(option, click.Option)
        )
        phrases = (word for found in self.phrases.values() for one in found for word in one.words)
        absent = (word for one in self.absent for phrase in one.phrases for word in phrase.words)
        asked = (word for one in self.questions for phrase in one.phrases for word in phrase.words)
        return frozenset({*phrases, *options, *SHOWING, *absent, *asked})

    @cached_property
    def units(self) -> frozenset[str]:
        """What options count: `lines` of `--tail LINES`, and their names, such as `workers`."""
        options = [
            one
            for command in self.catalogue
            for one in command.parameters
            if isinstance(one, click.Option) and not one.is_flag and not kinds_of(one)
        ]
        found = {word for one in options for word in (one.opts[0].lstrip("-"), (one.metavar or "").lower())}
        return frozenset(
            {*found, *(f"{word}s" for word in found), *(word.removesuffix("s") for word in found)}
        )

    def _phrases_of(self, command: AnyCommand) -> Iterable[CommandPhrase]:
        noun, verb = command.noun, command.verb
        is_singular = verb == "show" and any((one.noun, one.verb) == (noun, "list") for one in self.catalogue)
        if not verb or verb in ("list", "show"):
            yield CommandPhrase(words=(noun,), is_singular=is_singular)
        if verb:
            yield CommandPhrase(words=(noun, verb), is_singular=is_singular)
            yield CommandPhrase(words=(verb, noun), is_singular=is_singular)
        takes = any(isinstance(one, click.Argument) for one in command.parameters)
        if (verb == "show" and takes) or command.name in self._alone:
            yield CommandPhrase(words=(verb,))
        yield from self._phrases_of_verb(command, is_alone=command.name in self._alone)
        for synonym in command.synonyms:
            phrase = self._phrase(synonym)
            if phrase.words:
                yield phrase
        has = {flag for one in command.parameters for flag in one.opts}
        for flag in (one for one in self._flags if one.partition("=")[0] in has):
            for said in self._flags[flag]:
                yield replace(self._phrase(said), options=(flag,), is_qualifier=True)

    def _phrases_of_verb(self, command: AnyCommand, *, is_alone: bool) -> Iterable[CommandPhrase]:
        """Yield what people say instead of the verb: alone, if it means no other command, or beside a name it takes."""
        needed = [one for one in command.parameters if isinstance(one, click.Argument) or one.required]
        kinds = tuple(frozenset(kinds_of(one)) for one in needed if kinds_of(one))
        for said in (command.verb, *self._verbs.get(command.verb, ())):
            phrase = self._phrase(said)
            if not phrase.words or (said == command.verb and (is_alone or not kinds)):
                continue
            is_short = len(said) <= (_SHORT if said.isascii() else 1)
            if is_alone and not is_short and self._is_of_one_verb(said):
                yield phrase
            elif kinds:
                yield replace(phrase, needs=kinds, needs_all=is_short)
            if said != command.verb:
                yield replace(phrase, words=(*phrase.words, command.noun))
                yield replace(phrase, words=(command.noun, *phrase.words))

    def _is_of_one_verb(self, said: str) -> bool:
        """Return whether the words mean one verb without a name beside them."""
        verbs = {one.verb for one in self.catalogue}
        return said not in verbs and sum(said in words for words in self._verbs.values()) == 1

    def _phrase(self, declared: str) -> CommandPhrase:
        """Return a declared phrase; what follows ` --` are options that it stands for."""
        head, dash, options = declared.partition(" --")
        words = self.nouns_in(words_only(tokens_of(head.split()) or [LineToken(head, head)]))
        return CommandPhrase(
            words=tuple(token.key for token in words), options=(f"--{options}",) if dash else (), typed=head
        )


def _meant_alone(verb: str, commands: Sequence[AnyCommand]) -> AnyCommand | None:
    """Return the command that the verb means without its noun; None where several could be meant.

    `cordon gpu-a04` is `node cordon`: `gpu cordon` takes a node as well, but not alone.
    """
    if verb in ("", "add"):
        return None
    fewest, *others = sorted(commands, key=lambda one: len(_arguments(one)))
    first = _arguments(fewest)
    goes_on = (
        first and _arguments(one)[: len(first)] == first and len(_arguments(one)) > len(first)
        for one in others
    )
    return fewest if all(goes_on) else None


def _arguments(command: AnyCommand) -> list[click.ParamType[Any]]:
    return [one.type for one in command.parameters if isinstance(one, click.Argument)]
