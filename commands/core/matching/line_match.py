"""The match of a line: what its words mean, weighed against what the examples that it is like mean. Pure."""

from dataclasses import dataclass, replace

from commands.core.matching.candidates import Candidate, without_repeats
from commands.core.matching.likely import Likely

_LIKELY = 0.3  # the share of the probability from which on something is suggested
_ALSO = 0.1  # the same of what is suggested beside it
SURE = 0.6  # the same of what goes before the words of the line
_CERTAIN = 0.9  # the same of what goes before that no command does it
_FAR = 20  # times as likely as what these words mean


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


def agreed_match(found: LineMatch, likely: Likely) -> LineMatch | None:
    """Return what the line surely means by its words, unless the examples are as sure that it means something else.

    If it has words that mean nothing here, the examples have to say the same, or else it is None.
    """
    best = found.candidates[0]
    meant = [(share, one) for share, one in likely if one is not None]
    if best.unexplained:
        share, first = likely[0] if likely else (0.0, None)
        is_same = first is not None and first.command is best.command and share >= _LIKELY
        return replace(found, candidates=(first,)) if first is not None and is_same else None
    own = sum(share for share, one in meant if one.command is best.command)
    share, other = meant[0] if meant else (0.0, best)
    if share < SURE or own * _FAR >= share or (other.missing and not best.missing):
        return found
    return LineMatch(candidates=without_repeats([*_shown(likely), best]))


def likeliest_match(likely: Likely, absent: LineMatch | None) -> LineMatch | None:
    """Return what the examples say, as suggestions, or that no command does it; None if they say too little."""
    if not likely or likely[0][0] < (_CERTAIN if absent else _LIKELY):
        return absent
    if likely[0][1] is None and likely[0][0] >= SURE:
        return absent or LineMatch()
    return LineMatch(candidates=without_repeats(_shown(likely)))


def _shown(likely: Likely) -> list[Candidate]:
    return [one for share, one in likely if one is not None and share >= _ALSO]
