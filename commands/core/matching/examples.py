"""Examples: lines as people type them, each with the command that it means, and which of these a line is like. Pure."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from commands.core.matching.tokens import stem_of, tokens_of

NOTHING = "-"  # instead of a command: the line asks nothing of Yardmaster, or what no command does
_PLACEHOLDER = re.compile(r"@?\{(?P<kind>\w+)\}", re.ASCII)
_NUMBERS = ("gpu", "rank")  # people type the number alone
_KEPT = 0.3  # Lidstone smoothing: what a word counts that no example of a command has
# By this the shares are as often right as they say: fitted on the lines of writers that were left out.
_SCALE = 0.22


@dataclass(frozen=True, slots=True)
class Example:
    """A line and the command that it means. `place`: where it was typed, `channel` or the thread of what it names.

    Names in the line are placeholders, such as `{node}`.
    """

    command: str
    place: str
    line: str


def examples_in(text: str) -> tuple[Example, ...]:
    """Return the examples of a text: a line each, under a heading such as `[node cordon | channel]`."""
    found: list[Example] = []
    command = place = ""
    for line in text.splitlines():
        if line.startswith("["):
            command, place = line.strip("[]").split(" | ")
        elif line:
            found.append(Example(command, place, line))
    return tuple(found)


def placeholder(kind: str) -> str:
    """Return what stands for a name of this kind, for a `number` or a `duration`."""
    return "<number>" if kind in _NUMBERS else f"<{kind}>"


class Examples:
    """A naive Bayes classifier of lines. Its features are words and pairs of words; those of few commands weigh more.

    Counting takes about a second, when it is asked for the first time or `count` is called.
    """

    def __init__(self, read: Callable[[], Sequence[Example]] = tuple) -> None:
        self._read = read

    def count(self) -> None:
        """Count the words now, so that the first line need not wait. It may be called in a thread."""
        self._counted  # noqa: B018

    def likely(self, words: Sequence[str], places: Iterable[str]) -> list[tuple[str, float]]:
        """Return the commands that a line may mean, with their share of the probability, the likeliest first.

        `words`: in lower case, with `placeholder` for names. NOTHING is among the commands.
        """
        counted, weights = self._counted
        if not counted:
            return []
        found = [one for one in _features(map(stem_of, words), places) if one in weights]
        scores = {
            command: sum(weights[one] * math.log((said.get(one, 0) + _KEPT) / all) for one in found)
            for command, (said, all) in counted.items()
        }
        best = max(scores.values())
        shares = {command: math.exp((score - best) * _SCALE) for command, score in scores.items()}
        total = sum(shares.values())
        return sorted(
            ((command, share / total) for command, share in shares.items()), key=lambda entry: -entry[1]
        )

    @cached_property
    def _counted(self) -> tuple[Mapping[str, tuple[Mapping[str, int], float]], Mapping[str, float]]:
        """How often each command's examples have each feature, and all of them, smoothed; and each feature's weight."""
        by_command: dict[str, Counter[str]] = {}
        for one in self._read():
            features = _features(example_words(one.line), (one.place,))
            by_command.setdefault(one.command, Counter()).update(dict.fromkeys(features, 1))
        said_of = Counter(feature for said in by_command.values() for feature in said)
        counted = {
            command: (said, said.total() + _KEPT * len(said_of)) for command, said in by_command.items()
        }
        weights = {feature: math.log(1 + len(by_command) / commands) for feature, commands in said_of.items()}
        return counted, weights


def _features(words: Iterable[str], places: Iterable[str]) -> set[str]:
    line = ["^", *words, "$"]
    return {*line[1:-1], *map(" ".join, pairwise(line)), *(f"@{place}" for place in places)}


def example_words(line: str) -> Iterator[str]:
    """Yield the words of an example, in no tense and with a placeholder for each name."""
    at = 0
    for found in _PLACEHOLDER.finditer(line):
        yield from _plain(line[at : found.start()])
        yield placeholder(found["kind"])
        at = found.end()
    yield from _plain(line[at:])


def _plain(text: str) -> Iterator[str]:
    for token in tokens_of(text.split()):
        yield "<number>" if token.key.isdecimal() else stem_of(token.key)
