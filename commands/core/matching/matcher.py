"""The matcher: what a line that names no command in the program's own words probably means.

It runs nothing. The pipeline runs a sure match of a command that only reads, and offers anything else as a button.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from commands.core.command import AnyCommand
from commands.core.matching.candidates import ASKING, Candidate, Name, candidate_of
from commands.core.matching.known_names import NEAR, KnownNames
from commands.core.matching.lexicon import Lexicon
from commands.core.matching.tokens import MAX_WORDS, LineToken, tokens_of, words_only
from commands.core.parameter_types import kinds_of

MAX_OFFERED = 3
_DURATION = re.compile(r"(?:[0-9]{1,6}(?:ms|[ywdhms]))+", re.ASCII)
_REASON = re.compile(r"because|因为")
_MIN_TYPO = 4  # characters of a word that may be mistyped


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMatch:
    """What a line may mean, the likeliest first. `is_sure`: all of it is understood, and in one way only."""

    candidates: tuple[Candidate, ...] = ()
    is_sure: bool = False


def match(words: Sequence[str], lexicon: Lexicon, names: KnownNames) -> LineMatch:
    """Return what the words of a line may mean. Words from the first option on are taken as they are."""
    head, options = _split_options(words)
    if not head or len(head) > MAX_WORDS:
        return LineMatch()
    head, reason = _split_reason(head)
    if reason:
        options = ["--reason", reason, *options]
    tokens = tokens_of(head) or [LineToken(word, word) for word in head]
    found = _matched(tokens, options, lexicon, names)
    if found.is_sure:
        return found
    corrected = [
        again
        for line in _corrections(tokens, lexicon, names)
        for again in _whole(line, options, lexicon, names)
    ]
    if corrected:
        return LineMatch(candidates=_distinct([*corrected, *found.candidates]))
    return found


def _matched(
    tokens: Sequence[LineToken], options: Sequence[str], lexicon: Lexicon, names: KnownNames
) -> LineMatch:
    parts = _parts(tokens, lexicon, names)
    candidates = _candidates(parts, options, lexicon)
    if not candidates:
        about = _about(parts, options, lexicon)
        return LineMatch(candidates=about, is_sure=len(about) == 1)
    best = candidates[0]
    if best.unexplained:
        near = [
            one for one in candidates if one.covered >= one.unexplained and not _has_names_left(one, parts)
        ]
        return LineMatch(candidates=_distinct([*near[:1], *_about(parts, options, lexicon, is_loose=True)]))
    equals = _distinct(one for one in candidates if one.rank == best.rank)
    return LineMatch(candidates=equals, is_sure=len(equals) == 1)


def _whole(
    tokens: Sequence[LineToken], options: Sequence[str], lexicon: Lexicon, names: KnownNames
) -> tuple[Candidate, ...]:
    found = _matched(tokens, options, lexicon, names)
    return tuple(one for one in found.candidates if one.unexplained == 0)


def _candidates(
    parts: Sequence[LineToken | Name], options: Sequence[str], lexicon: Lexicon
) -> list[Candidate]:
    """Return the commands that the line names, the likeliest first."""
    found = []
    for command in lexicon.catalogue:
        one = candidate_of(command, lexicon.phrases[command.name], parts, options)
        if one is not None and not _has_unknown_options(one, options):
            found.append(one)
    return sorted(found, key=lambda one: one.rank)


def _about(
    parts: Sequence[LineToken | Name], options: Sequence[str], lexicon: Lexicon, *, is_loose: bool = False
) -> tuple[Candidate, ...]:
    """Return the commands that show what a line names that is nothing but names; loosely, if it is more than that."""
    named = [part for part in parts if isinstance(part, Name) and part.kinds]
    others = [part for part in parts if part not in named and not _adds_nothing(part)]
    if not named or options or (others and not is_loose):
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


def _parts(tokens: Sequence[LineToken], lexicon: Lexicon, names: KnownNames) -> list[LineToken | Name]:
    """Return the line's words without fillers, and its names. A word of the lexicon is one, unless it stands alone."""
    marked: list[LineToken | Name] = []
    for token in tokens:
        is_word = token.key in lexicon.words and len(tokens) > 1
        kinds = {} if is_word else names.kinds_of(token.text)
        is_duration = bool(_DURATION.fullmatch(token.key))
        if kinds or is_duration or token.key.isdecimal():
            marked.append(Name(token=token, kinds=kinds, is_duration=is_duration))
        else:
            marked.append(token)
    parts: list[LineToken | Name] = []
    run: list[LineToken] = []
    for part in marked:
        if isinstance(part, LineToken):
            run.append(part)
        else:
            parts += [*lexicon.nouns_in(words_only(run)), part]
            run = []
    return [*parts, *lexicon.nouns_in(words_only(run))]


def _corrections(
    tokens: Sequence[LineToken], lexicon: Lexicon, names: KnownNames
) -> Iterable[list[LineToken]]:
    """Yield the line with its mistyped words as they were probably meant, most likely first."""
    lines: list[list[LineToken]] = [[]]
    for token in tokens:
        choices = [token]
        if not names.kinds_of(token.text) and token.key not in lexicon.words and token.key not in ASKING:
            choices = [LineToken(name.lower(), name) for name in names.near(token.text)] or choices
            if choices == [token] and len(token.key) >= _MIN_TYPO and token.key.isascii():
                close = difflib.get_close_matches(token.key, sorted(lexicon.words), n=1, cutoff=NEAR)
                choices = [LineToken(close[0], token.text)] if close else choices
        lines = [[*line, choice] for line in lines for choice in choices][:MAX_OFFERED]
    return [line for line in lines if line != list(tokens)]


def _split_options(words: Sequence[str]) -> tuple[list[str], list[str]]:
    cut = next((at for at, word in enumerate(words) if word.startswith("-") and len(word) > 1), len(words))
    return list(words[:cut]), list(words[cut:])


def _split_reason(head: Sequence[str]) -> tuple[list[str], str]:
    """Cut `because …` off."""
    for at, word in enumerate(head):
        if at and (found := _REASON.match(word.lower())):
            rest = [word[found.end() :], *head[at + 1 :]]
            return list(head[:at]), " ".join(rest).strip().removeprefix("of ").strip()
    return list(head), ""


def _has_unknown_options(candidate: Candidate, options: Sequence[str]) -> bool:
    known = {flag for parameter in candidate.command.parameters for flag in parameter.opts}
    return any(word.startswith("--") and word.partition("=")[0] not in known for word in options)


def _has_names_left(candidate: Candidate, parts: Sequence[LineToken | Name]) -> bool:
    given = set(candidate.arguments)
    return any(
        isinstance(part, Name) and not given & {part.token.text, *part.kinds.values()} for part in parts
    )


def _distinct(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    return tuple({one.words: replace(one) for one in reversed(list(candidates))}.values())[::-1][:MAX_OFFERED]
