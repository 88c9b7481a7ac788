"""The matcher: what a line that names no command in the program's own words probably means.

It runs nothing. The pipeline runs a sure match of a command that only reads, and offers anything else as a button.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from commands.core.command import AnyCommand
from commands.core.matching.candidates import ASKING, Candidate, Name
from commands.core.matching.command_reading import candidate_of
from commands.core.matching.known_names import KnownNames
from commands.core.matching.lexicon import Lexicon
from commands.core.matching.line_parts import parts_of
from commands.core.matching.reasons import split_reason, without_a_clause
from commands.core.matching.references import NO_THREAD, ThreadNames
from commands.core.matching.rewording import in_own_notation
from commands.core.matching.spelling import meant_by
from commands.core.matching.tokens import MAX_WORDS, LineToken, tokens_of
from commands.core.parameter_types import kinds_of

MAX_OFFERED = 3
_NOT = ("not", "don't", "dont", "never", "别", "不 要", "不 用")
_ABOUT_THE_PAST = ("who", "why", "when", "did", "谁", "为 什 么", "为 何", "什 么 时 候")
_QUESTIONS = ("what", "which", "how", "should")
_HOW = ("how do i", "how do we", "how can i", "how to", "怎 么")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMatch:
    """What a line may mean, the likeliest first. `is_sure`: all of it is understood, and in one way only.

    `is_question`: it asks, so that nothing is to be changed: `who cordoned gpu-b03`. `is_how`: it asks how something is
    done. `absent`: the words by which the line asks for what no command does; the candidates are then what is nearest.
    """

    candidates: tuple[Candidate, ...] = ()
    is_sure: bool = False
    is_question: bool = False
    is_how: bool = False
    absent: str = ""


def match(
    words: Sequence[str], lexicon: Lexicon, names: KnownNames, thread: ThreadNames = NO_THREAD
) -> LineMatch:
    """Return what the words of a line may mean, in the `thread` of an incident or in none.

    Words from the first option on are taken as they are.
    """
    head, options = _split_options(in_own_notation(words))
    if not head or len(head) > MAX_WORDS:
        return LineMatch()
    head, reason = split_reason(head)
    if reason:
        options = ["--reason", reason, *options]
    if not reason:
        for rest, clause in without_a_clause(head):
            if (whole := _with_reason(rest, clause, options, lexicon, names, thread)) is not None:
                return whole
    tokens = names.whole_in(tokens_of(head) or [LineToken(word, word) for word in head])
    parts = parts_of(tokens, lexicon, names, thread)
    keys = [token.key for token in tokens]
    asks_for_no_change = _says((*_NOT, *_ABOUT_THE_PAST), keys) or keys[:1] == ["what"]
    if asks_for_no_change:  # `do not cordon gpu-b03`, `who cordoned gpu-b03`
        return _reading_only(parts, options, lexicon, thread)
    found = replace(
        _matched(parts, options, lexicon, thread),
        is_question=_says(_QUESTIONS, keys),
        is_how=_says(_HOW, keys),
    )
    if found.is_sure:
        return found
    if (absent := _absent(parts, lexicon, thread)) is not None:
        return absent
    corrected = [
        again
        for line in _corrections(tokens, lexicon, names)
        for again in _whole(parts_of(line, lexicon, names, thread), options, lexicon, thread)
    ]
    if corrected:
        return LineMatch(candidates=_distinct([*corrected, *found.candidates]))
    return found


def _with_reason(
    rest: Sequence[str],
    clause: str,
    options: Sequence[str],
    lexicon: Lexicon,
    names: KnownNames,
    thread: ThreadNames,
) -> LineMatch | None:
    """Return what the rest of a line surely means with this clause as its reason; None if it is no reason.

    A reason names nothing that could be meant as well, and is no command by itself.
    """
    said = parts_of(names.whole_in(tokens_of(clause.split())), lexicon, names, thread)
    words = [one for one in said if isinstance(one, LineToken)]
    if not words or _says(_NOT, [one.key for one in tokens_of(clause.split())]):
        return None
    if any(isinstance(one, Name) and one.kinds and one.is_specific for one in said):
        return None
    if any(not one.unexplained for one in _candidates(said, (), lexicon, thread)):
        return None
    tokens = names.whole_in(tokens_of(rest))
    if _says((*_NOT, *_ABOUT_THE_PAST, *_QUESTIONS), [one.key for one in tokens]):
        return None
    parts = parts_of(tokens, lexicon, names, thread)
    found = _matched(parts, ["--reason", clause, *options], lexicon, thread)
    takes = found.candidates and "--reason" in {
        flag for one in found.candidates[0].command.parameters for flag in one.opts
    }
    return found if found.is_sure and takes else None


def _reading_only(
    parts: Sequence[LineToken | Name], options: Sequence[str], lexicon: Lexicon, thread: ThreadNames
) -> LineMatch:
    """Return what the line means by commands that only read: it asks for no change."""
    found = _matched(parts, options, lexicon, thread)
    reading = tuple(one for one in found.candidates if not one.command.changes_something)
    if found.is_sure and reading:
        return found
    return LineMatch(candidates=reading or _about(parts, options, lexicon, is_loose=True))


def _says(words: Iterable[str], keys: Sequence[str]) -> bool:
    """Return whether one of the words is in the line; Chinese tokens are one sign each."""
    line = f" {' '.join(keys)} "
    return any(f" {word} " in line for word in words)


def _absent(parts: Sequence[LineToken | Name], lexicon: Lexicon, thread: ThreadNames) -> LineMatch | None:
    """Return what is nearest to what the line asks for, if there is no command for that; None if it asks for none.

    A number there is a quantity, and no id.
    """
    named = [part for part in parts if not (isinstance(part, Name) and part.is_number)]
    words = [part.key for part in parts if isinstance(part, LineToken)]
    for absent in lexicon.absent:
        said = next((phrase for phrase in absent.phrases if phrase.found_in(words) is not None), None)
        if said is None:
            continue
        commands = [one for name in absent.nearest for one in lexicon.catalogue if one.name == name]
        by_line = [candidate_of(one, (), named, (), needs_phrase=False) for one in commands]
        given = {one.command.name for one in by_line if one is not None and one.arguments}
        found = (candidate_of(one, (), named, (), thread=thread, needs_phrase=False) for one in commands)
        near = _distinct(
            one for one in found if one is not None and (one.command.name in given or not one.missing)
        )
        return LineMatch(candidates=near, absent=said.typed)
    return None


def _matched(
    parts: Sequence[LineToken | Name], options: Sequence[str], lexicon: Lexicon, thread: ThreadNames
) -> LineMatch:
    candidates = _candidates(parts, options, lexicon, thread)
    if not candidates:
        if about := _about(parts, options, lexicon):
            return LineMatch(candidates=about, is_sure=len(about) == 1)
        return LineMatch(candidates=_about(parts, options, lexicon, is_loose=True))
    best = candidates[0]
    if best.unexplained:
        near = [
            one
            for one in candidates
            if one.covered + len(one.arguments) >= one.unexplained and not _has_names_left(one, parts)
        ]
        return LineMatch(candidates=_distinct([*near[:1], *_about(parts, options, lexicon, is_loose=True)]))
    equals = _distinct(one for one in candidates if one.rank == best.rank)
    return LineMatch(candidates=equals, is_sure=len(equals) == 1)


def _whole(
    parts: Sequence[LineToken | Name], options: Sequence[str], lexicon: Lexicon, thread: ThreadNames
) -> tuple[Candidate, ...]:
    found = _matched(parts, options, lexicon, thread)
    return tuple(one for one in found.candidates if one.unexplained == 0)


def _candidates(
    parts: Sequence[LineToken | Name], options: Sequence[str], lexicon: Lexicon, thread: ThreadNames
) -> list[Candidate]:
    """Return the commands that the line names, the likeliest first."""
    found = []
    for command in lexicon.catalogue:
        one = candidate_of(command, lexicon.phrases[command.name], parts, options, thread=thread)
        if one is not None and not _has_unknown_options(one, options):
            found.append(one)
    return sorted(found, key=lambda one: one.rank)


def _about(
    parts: Sequence[LineToken | Name], options: Sequence[str], lexicon: Lexicon, *, is_loose: bool = False
) -> tuple[Candidate, ...]:
    """Return the commands that show what a line names that is nothing but names; loosely, if it is more than that."""
    named = [
        part for part in parts if isinstance(part, Name) and part.kinds and (part.is_specific or not is_loose)
    ]
    others = [part for part in parts if part not in named and not _adds_nothing(part)]
    if not named or options or (others and not is_loose):
        return ()
    is_asked = any(isinstance(part, LineToken) and part.key in ASKING for part in parts)
    if not is_asked and not any(part.is_specific for part in named):  # `it was me`
        return ()
    found = []
    for part in named[:MAX_OFFERED]:
        showing = (candidate_of(one, (), [part], (), needs_phrase=False) for one in _reading(part, lexicon))
        found += [one for one in showing if one is not None and not one.unexplained][:1]
    return _distinct(found)


def _adds_nothing(part: LineToken | Name) -> bool:
    return isinstance(part, LineToken) and part.key in ASKING


def _reading(name: Name, lexicon: Lexicon) -> list[AnyCommand]:
    """Return the commands that read and take such a name, those that show it first."""

    def how(command: AnyCommand) -> int | None:
        if command.read is None:
            return None
        for parameter in command.parameters:
            if any(kind in name.kinds for kind in kinds_of(parameter)):
                return (parameter.param_type_name != "argument") * 2 + (command.verb != "show")
        return None

    ways = [(way, command) for command in lexicon.catalogue if (way := how(command)) is not None]
    return [command for _, command in sorted(ways, key=lambda entry: entry[0])]


def _corrections(
    tokens: Sequence[LineToken], lexicon: Lexicon, names: KnownNames
) -> Iterable[list[LineToken]]:
    """Yield the line with its mistyped words as they were probably meant, most likely first."""
    lines: list[list[LineToken]] = [[]]
    for token in tokens:
        choices = [token]
        if not names.kinds_of(token.text) and token.key not in lexicon.words and token.key not in ASKING:
            choices = [LineToken(name.lower(), name) for name in names.near(token.text)] or choices
            if choices == [token]:
                close = meant_by(token.key, lexicon.words)
                choices = [LineToken(close, token.text, is_corrected=True)] if close else choices
        lines = [[*line, choice] for line in lines for choice in choices][:MAX_OFFERED]
    return [line for line in lines if line != list(tokens)]


def _split_options(words: Sequence[str]) -> tuple[list[str], list[str]]:
    cut = next((at for at, word in enumerate(words) if word.startswith("-") and len(word) > 1), len(words))
    return list(words[:cut]), list(words[cut:])


def _has_unknown_options(candidate: Candidate, options: Sequence[str]) -> bool:
    known = {flag for parameter in candidate.command.parameters for flag in parameter.opts}
    return any(word.startswith("--") and word.partition("=")[0] not in known for word in options)


def _has_names_left(candidate: Candidate, parts: Sequence[LineToken | Name]) -> bool:
    given = {word.rpartition("=")[2] for word in candidate.arguments}
    return any(
        isinstance(part, Name) and part.is_specific and not given & {part.token.text, *part.kinds.values()}
        for part in parts
    )


def _distinct(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    return tuple({one.words: replace(one) for one in reversed(list(candidates))}.values())[::-1][:MAX_OFFERED]
