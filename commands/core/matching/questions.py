"""Questions: `who`, `why`, `when`, `how many` select the command that answers, by the noun or name in question."""

from collections.abc import Iterator, Sequence

from commands.core.command import AnyCommand
from commands.core.matching.candidates import ASKING, MAX_OFFERED, Candidate, Name, without_repeats
from commands.core.matching.command_reading import candidate_of
from commands.core.matching.lexicon import Lexicon
from commands.core.matching.references import ThreadNames
from commands.core.matching.tokens import LineToken, is_same_word
from commands.core.parameter_types import LISTED, kinds_of

_LAST = 9  # after whatever takes the name


def answers(
    parts: Sequence[LineToken | Name], options: Sequence[str], lexicon: Lexicon, thread: ThreadNames
) -> Iterator[Candidate]:
    """Yield, for each question in the line, what answers it best: the most explained, then the first of its verbs."""
    words = [part.key for part in parts if isinstance(part, LineToken)]
    nouns = {one for one in lexicon.nouns for word in words if is_same_word(word, one)}
    has_names = any(isinstance(part, Name) and part.kinds and part.is_specific for part in parts)
    for question in lexicon.questions:
        phrase = next((one for one in question.phrases if one.found_in(words) is not None), None)
        if phrase is None:
            continue
        found = []
        for place, command in question.answering(lexicon.catalogue):
            phrases = (phrase, *lexicon.phrases[command.name])
            one = candidate_of(command, phrases, parts, options, thread=thread, verbs=lexicon.verb_stems)
            if one is None or one.missing:
                continue
            if (
                " " in question.verbs[place]
                or one.named
                or command.noun in nouns
                or (not nouns and not has_names and one.referred)
            ):
                found.append((one.unexplained, command.noun not in nouns, place, one))
        if found:
            yield min(found, key=lambda entry: entry[:3])[3]


def commands_about(
    parts: Sequence[LineToken | Name], options: Sequence[str], lexicon: Lexicon
) -> tuple[Candidate, ...]:
    """Return the commands that show what a line names that is nothing but names."""
    named = [part for part in parts if isinstance(part, Name) and part.kinds]
    others = [part for part in parts if part not in named and not _adds_nothing(part)]
    if not named or options or others:
        return ()
    is_asked = any(isinstance(part, LineToken) and part.key in ASKING for part in parts)
    if not is_asked and not any(part.is_specific for part in named):  # `it was me`
        return ()
    found = []
    for part in named[:MAX_OFFERED]:
        readers = _readers_of(part, lexicon.catalogue)
        showing = (candidate_of(one, (), [part], (), needs_phrase=False) for one in readers)
        found += [one for one in showing if one is not None and not one.unexplained and not one.missing][:1]
    return without_repeats(found)


def _adds_nothing(part: LineToken | Name) -> bool:
    return isinstance(part, LineToken) and part.key in ASKING


def _readers_of(name: Name, catalogue: Sequence[AnyCommand]) -> list[AnyCommand]:
    """Return the commands that read and take such a name, those that show it first, or the list that has it."""

    def how(command: AnyCommand) -> int | None:
        if command.read is None:
            return None
        for parameter in command.parameters:
            if any(kind in name.kinds for kind in kinds_of(parameter)):
                return (parameter.param_type_name != "argument") * 2 + (command.verb != "show")
        is_list = command.verb == "list" and any(
            kind.value == command.noun for kind in LISTED & name.kinds.keys()
        )
        return _LAST if is_list else None

    ways = [(way, command) for command in catalogue if (way := how(command)) is not None]
    return [command for _, command in sorted(ways, key=lambda entry: entry[0])]
