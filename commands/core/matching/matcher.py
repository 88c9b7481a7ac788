"""The matcher: what a line that names no command in the program's own words probably means.

It runs nothing. The pipeline runs a sure match of a command that only reads, and suggests anything else as a button.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from commands.core.matching.candidates import ASKING, MAX_OFFERED, Candidate, Name, without_repeats
from commands.core.matching.command_reading import candidate_of, knows_options
from commands.core.matching.known_names import KnownNames, is_like_a_name
from commands.core.matching.lexicon import Lexicon
from commands.core.matching.likely import Likely, likely_candidates
from commands.core.matching.line_match import SURE, LineMatch, agreed_match, likeliest_match
from commands.core.matching.line_parts import parts_of
from commands.core.matching.name_ranges import with_ranges
from commands.core.matching.questions import answers, commands_about
from commands.core.matching.reasons import split_reason, without_a_clause
from commands.core.matching.references import NO_THREAD, ThreadNames
from commands.core.matching.rewording import in_own_notation, with_durations
from commands.core.matching.spelling import meant_by
from commands.core.matching.tokens import MAX_WORDS, LineToken, stem_of, tokens_of
from commands.core.matching.tool_words import in_our_words
from commands.core.parameter_types import NameKind

_NOT = ("not", "don't", "dont", "never", "别", "不 要", "不 用")
_NOT_TO = ("do not", "don't", "dont", "never", "nobody", "别", "不 要", "不 用")
_ABOUT_THE_PAST = ("who", "why", "when", "did", "谁", "为 什 么", "为 何", "什 么 时 候")
_ASKING_FIRST = ("what", "is", "are", "was", "were", "does", "has")  # begin a question: `are there silences?`
_QUESTIONS = ("what", "which", "how", "should")
_ASKED_OF_US = ("can", "could", "would", "will", "please", "pls", "plz", "帮")
_FULL = 3  # words of a line that may say more than the words of a command
_HOW = ("how do i", "how do we", "how can i", "how to", "怎 么")


def match(
    words: Sequence[str], lexicon: Lexicon, names: KnownNames, thread: ThreadNames = NO_THREAD
) -> LineMatch:
    """Return what the words of a line may mean, in the `thread` of an incident or in none.

    Words from the first option on are taken as they are.
    """
    names = names.also(lexicon.names)
    in_ours = in_our_words(words, lexicon, names)
    reworded = in_own_notation(in_ours)
    head, options = _split_options(with_ranges(reworded, names))
    if not head or len(head) > MAX_WORDS:
        return LineMatch()
    head, cluster = names.apart_from_cluster(head)
    if cluster:
        found = match(
            [*head, *options], lexicon, replace(names, names={**names.names, NameKind.CLUSTER: ()}), thread
        )
        return replace(found, candidates=tuple(replace(one, cluster=cluster) for one in found.candidates))
    said = names.whole_in(tokens_of(with_durations(" ".join(words)).split()))
    head, reason = split_reason(head)
    if reason:
        options = ["--reason", reason, *options]
    tokens = names.whole_in(tokens_of(head) or [LineToken(word, word) for word in head])
    parts = parts_of(tokens, lexicon, names, thread)
    examples_say: Callable[[], Likely] = partial(
        likely_candidates, said, parts, options, lexicon, names, thread
    )
    if in_ours != list(words):  # a line of another tool is like no example
        examples_say = tuple
    if not reason:
        for rest, clause in without_a_clause(head):
            if (whole := _with_reason(rest, clause, options, lexicon, names, thread)) is not None:
                return agreed_match(whole, examples_say()) or whole
    keys = [token.key for token in tokens]
    asks_for_no_change = _says((*_NOT, *_ABOUT_THE_PAST), keys) or bool(keys and keys[0] in _ASKING_FIRST)
    if _warns(keys, lexicon):
        return LineMatch()
    if asks_for_no_change:  # `who cordoned gpu-b03`
        found = _matched(parts, options, lexicon, thread, is_reading_only=True)
    else:
        found = replace(
            _matched(parts, options, lexicon, thread),
            is_question=_says(_QUESTIONS, keys) or (_is_asked(head) and not _says(_ASKED_OF_US, keys)),
            is_how=_says(_HOW, keys),
        )
    if found.is_sure and (found.is_how or len(tokens) < _FULL) and not found.candidates[0].unexplained:
        return found
    likely = examples_say()
    if found.is_sure and (agreed := agreed_match(found, likely)) is not None:
        return agreed
    if not likely or likely[0][0] < SURE:
        corrected = _corrected(
            found, tokens, options, lexicon, names, thread, is_reading_only=asks_for_no_change
        )
        if corrected is not found:
            return corrected
    absent = None if asks_for_no_change else _absent(parts, lexicon, thread)
    return likeliest_match(likely, absent) or (LineMatch() if found.is_sure else found)


def _warns(keys: Sequence[str], lexicon: Lexicon) -> bool:
    """Return whether the line says of a change that it is not to be made: `do not cordon gpu-b03`."""
    stems = [stem_of(key) for key in keys]
    for word in _NOT_TO:
        said = word.split()
        for at in range(len(keys) - len(said)):
            after = at + len(said)
            if list(keys[at:after]) == said and any(
                tuple(stems[after : after + len(verb)]) == verb for verb in lexicon.changes
            ):
                return True
    return False


def _corrected(
    found: LineMatch,
    tokens: Sequence[LineToken],
    options: Sequence[str],
    lexicon: Lexicon,
    names: KnownNames,
    thread: ThreadNames,
    *,
    is_reading_only: bool = False,
) -> LineMatch:
    """Return what the line means with its mistyped words as they were probably meant, or else `found`."""
    corrected = [
        again
        for line in _corrections(tokens, lexicon, names)
        for again in _matched(
            parts_of(line, lexicon, names, thread), options, lexicon, thread, is_reading_only=is_reading_only
        ).candidates
        if again.covered and not again.unexplained
    ]
    return LineMatch(candidates=without_repeats([*corrected, *found.candidates])) if corrected else found


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
    if (
        not words
        or lexicon.says_an_option(words)
        or _says(_NOT, [one.key for one in tokens_of(clause.split())])
    ):
        return None
    if any(isinstance(one, Name) and one.kinds and one.is_specific for one in said):
        return None
    if any(not one.unexplained for one in _candidates(said, (), lexicon, thread)):
        return None
    tokens = names.whole_in(tokens_of(rest))
    if _says((*_NOT, *_ABOUT_THE_PAST, *_QUESTIONS), [one.key for one in tokens]):
        return None
    parts = parts_of(tokens, lexicon, names, thread)
    found = _matched(parts, options, lexicon, thread)
    if not found.is_sure:
        return None
    command = found.candidates[0].command
    if any("--reason" in one.opts for one in command.parameters):
        return _matched(parts, ["--reason", clause, *options], lexicon, thread)
    # what is previewed can do without
    return found if command.plan is not None and len(words) == len(said) else None


def _is_asked(words: Sequence[str]) -> bool:
    return words[-1].endswith(("?", "？", "吗", "么"))


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
        near = without_repeats(
            one for one in found if one is not None and (one.command.name in given or not one.missing)
        )
        return LineMatch(candidates=near, absent=said.typed)
    return None


def _matched(
    parts: Sequence[LineToken | Name],
    options: Sequence[str],
    lexicon: Lexicon,
    thread: ThreadNames,
    *,
    is_reading_only: bool = False,
) -> LineMatch:
    candidates = [
        one
        for one in _candidates(parts, options, lexicon, thread)
        if one.command.read is not None or not is_reading_only
    ]
    if not candidates:
        if shown := commands_about(parts, options, lexicon):
            return LineMatch(candidates=shown, is_sure=len(shown) == 1)
        return LineMatch()
    best = candidates[0]
    if best.unexplained and _is_answer(best, thread):
        return LineMatch(candidates=without_repeats(candidates[:1]), is_sure=True)
    if best.unexplained:  # what is about as likely as not
        near = [one for one in candidates if one.covered + len(one.arguments) >= one.unexplained]
        return LineMatch(candidates=without_repeats(near[:1]))
    equals = without_repeats(one for one in candidates if one.rank == best.rank)
    return LineMatch(candidates=equals, is_sure=len(equals) == 1)


def _is_answer(best: Candidate, thread: ThreadNames) -> bool:
    """Return whether a command that only reads may answer a line, although some of its words mean nothing here.

    None of these is a name. In a thread it is about what the thread concerns. The examples have to agree.
    """
    return (
        best.command.read is not None
        and not best.missing
        and bool(best.named or best.referred or not thread)
        and not any(isinstance(one, Name) or is_like_a_name(one.key) for one in best.left)
    )


def _candidates(
    parts: Sequence[LineToken | Name], options: Sequence[str], lexicon: Lexicon, thread: ThreadNames
) -> list[Candidate]:
    """Return the commands that the line names, the likeliest first."""
    found = []
    for command in lexicon.catalogue:
        one = candidate_of(command, lexicon.phrases[command.name], parts, options, thread=thread)
        if one is not None and knows_options(command, options):
            found.append(one)
    found += answers(parts, options, lexicon, thread)
    return sorted(found, key=lambda one: one.rank)


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
