"""Candidates: a command that a line may mean, and how much of the line it explains."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from commands.core.command import AnyCommand
from commands.core.matching.tokens import SHOWING, LineToken
from commands.core.parameter_types import NameKind

MAX_OFFERED = 3
_SUBJECTS = (NameKind.INCIDENT, NameKind.PLAN)  # what a thread is about, before what these concern
# Words that ask rather than name something: beside a phrase or a name they add nothing.
ASKING = SHOWING | {"which", "what", "who", "where", "how", "much", "many", "for", "then", "new"}
ASKING |= {
    "can",
    "could",
    "would",
    "should",
    "do",
    "did",
    "ok",
    "fine",
    "alive",
    "team",
    "own",
    "any",
    "cluster",
    "whose",
    "whom",
    "when",
    "since",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A word that names something, by kind; or a number or a duration, with no kind.

    `is_reference`: it says `it` or `that node`, and `kinds` are what the thread's incident concerns. `unit`: what a
    number counts, as the words after it say.
    """

    token: LineToken
    kinds: Mapping[NameKind, str] = field(default_factory=dict)
    is_duration: bool = False
    is_reference: bool = False
    unit: str = ""

    @property
    def is_number(self) -> bool:
        return self.token.key.isdecimal() and not self.is_duration

    @property
    def is_specific(self) -> bool:
        """Whether it means one thing only: any name, and of references those with a noun, as `that node`."""
        return not self.is_reference or len(self.kinds) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A command with the arguments that the line gives. `covered` counts words of the line, `left` are the others.

    `named` are the kinds of the names that it takes from the line.
    """

    command: AnyCommand
    arguments: tuple[str, ...]
    missing: tuple[str, ...]  # required parameters without a value
    covered: int
    left: tuple[LineToken | Name, ...] = ()
    named: frozenset[NameKind] = frozenset()
    cluster: str = ""  # that the line names
    referred: frozenset[NameKind] = frozenset()  # what the thread's incident gave

    @property
    def unexplained(self) -> int:
        return len(self.left)

    @property
    def words(self) -> tuple[str, ...]:
        cluster = ("--cluster", self.cluster) if self.cluster else ()
        return (*self.command.name.split(), *self.arguments, *cluster)

    @property
    def rank(self) -> tuple[int, int, int, bool, int]:
        """The best candidate has the lowest rank. In a thread it shows its subject rather than a list."""
        return (
            self.unexplained + sum(isinstance(one, Name) and bool(one.kinds) for one in self.left),
            -self.covered,
            len(self.missing),
            self.command.changes_something,
            next((at for at, kind in enumerate(_SUBJECTS) if kind in self.referred), len(_SUBJECTS)),
        )


def without_repeats(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    return tuple({one.words: one for one in reversed(list(candidates))}.values())[::-1][:MAX_OFFERED]
