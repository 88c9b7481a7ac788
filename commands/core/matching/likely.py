"""Likely meanings: the commands whose examples a line is like, with the names that the line gives them."""

from collections.abc import Iterator, Sequence

from commands.core.command import AnyCommand
from commands.core.matching.candidates import ASKING, Candidate, Name
from commands.core.matching.command_reading import candidate_of, knows_options
from commands.core.matching.examples import NOTHING, placeholder
from commands.core.matching.known_names import KnownNames
from commands.core.matching.lexicon import Lexicon
from commands.core.matching.line_parts import name_at
from commands.core.matching.references import ThreadNames
from commands.core.matching.tokens import LineToken, stem_of
from commands.core.parameter_types import NameKind, kinds_of

Likely = Sequence[tuple[float, Candidate | None]]  # the share of each; None: the line asks for nothing

_TRIED = 12  # commands, the likeliest
_NAME_LOST = 0.15  # of the share of a command that cannot take a name of the line
_MISSING = 0.3  # the same for an argument that the line lacks
_CONCERNED = 2.0  # the same for a command that takes what the thread is about
_BY_PARTS = (NameKind.RUNBOOK, NameKind.REPAIR)  # whose names are words that people know
_PLACES = (NameKind.INCIDENT, NameKind.PLAN, NameKind.REQUEST, NameKind.TRAINING)


def likely_candidates(
    tokens: Sequence[LineToken],
    parts: Sequence[LineToken | Name],
    options: Sequence[str],
    lexicon: Lexicon,
    names: KnownNames,
    thread: ThreadNames,
) -> Likely:
    """Return what the line may mean and how likely that is, the likeliest first; None: it asks for nothing.

    A command that has no place for a name of the line, or lacks one, is less likely.
    """
    if not any(isinstance(part, LineToken) and part.key not in ASKING for part in parts):
        return ()
    words = list(_words(tokens, lexicon, names))
    found: list[tuple[float, Candidate | None]] = []
    by_name = {one.name: one for one in lexicon.catalogue}
    for name, share in lexicon.examples.likely(words, _places(thread))[:_TRIED]:
        if name == NOTHING:
            found.append((share, None))
            continue
        command = by_name[name]
        if not knows_options(command, options):
            continue
        named = [*parts, *_named_by_parts(command, words, names, thread)]
        one = candidate_of(command, lexicon.phrases[name], named, options, thread=thread, needs_phrase=False)
        if one is not None:
            lost = sum(isinstance(part, Name) and bool(part.kinds) and part.is_specific for part in one.left)
            share *= _CONCERNED if one.referred else 1
            found.append((share * _NAME_LOST**lost * _MISSING ** len(one.missing), one))
    total = sum(share for share, _ in found) or 1.0
    return sorted(((share / total, one) for share, one in found), key=lambda entry: -entry[0])


def _named_by_parts(
    command: AnyCommand, words: Sequence[str], names: KnownNames, thread: ThreadNames
) -> Iterator[Name]:
    """Yield the one runbook or repair that the line has most words of: `xid` is of `gpu-xid-error` alone.

    What the line names whole goes first, and so does what the thread is about.
    """
    kinds = (kind for one in command.parameters for kind in kinds_of(one))
    for kind in (one for one in kinds if one in _BY_PARTS and one not in thread):
        shared = {
            name: len({*map(stem_of, name.split("-"))} & {*map(stem_of, words)})
            for name in names.names.get(kind, ())
        }
        most = max(shared.values(), default=0)
        found = [name for name, count in shared.items() if count == most]
        if most and len(found) == 1:
            yield Name(token=LineToken(found[0], found[0]), kinds={kind: found[0]})


def _words(tokens: Sequence[LineToken], lexicon: Lexicon, names: KnownNames) -> Iterator[str]:
    for at, token in enumerate(tokens):
        name = name_at(tokens, at, lexicon, names)
        if name is None:
            yield token.key
        elif name.kinds:
            yield placeholder(next(kind for kind in NameKind if kind in name.kinds).value)
        else:
            yield placeholder("duration" if name.is_duration else "number")


def _places(thread: ThreadNames) -> list[str]:
    """Return where the line was typed: the thread of an incident may be about a request and a training, too."""
    return [kind.value for kind in _PLACES if kind in thread] or ["channel"]
