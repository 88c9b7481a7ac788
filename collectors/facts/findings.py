"""Findings: what a diagnosis of a source or a channel sees, and how to fix it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from collectors.facts.sentences import listed, sentence

SHOWN = 6  # rules in the text of one finding


class FindingLevel(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"  # part of it cannot be seen, and may not be meant to
    BROKEN = "broken"  # what the settings ask for does not work


class RuleHealth(StrEnum):
    """What a rule can see, the worst last."""

    HAS_DATA = "has data"
    WAITING = "waiting"  # for metrics of something that the cluster may not have
    LATE = "late"  # what it sees is older than it should be
    BLIND = "blind"

    @property
    def rank(self) -> int:
        return list(RuleHealth).index(self)

    @property
    def is_unseeing(self) -> bool:
        """Whether it sees nothing, or nothing that is new enough."""
        return self in (RuleHealth.LATE, RuleHealth.BLIND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding. Both texts are whole sentences or clauses for people; `fix` is empty when nothing is to be done.

    `lines` are to be copied as they are, such as those of a configuration file that `fix` names. `rules` are the
    names of the rules that it is about, `health` what it means for them, and `cause` the reason without their names;
    `own` has the reason of each rule by itself, where they differ, and `needs` the metrics that each lacks.
    """

    level: FindingLevel
    text: str
    fix: str = ""
    lines: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    health: RuleHealth = RuleHealth.HAS_DATA
    cause: str = ""
    own: tuple[tuple[str, str], ...] = ()
    needs: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def cause_of(self, rule: str) -> str:
        """Return the reason of one rule."""
        return dict(self.own).get(rule, self.cause)

    def lines_of(self, rule: str) -> tuple[str, ...]:
        """Return the lines that this rule needs: each begins with its metric."""
        needed = dict(self.needs).get(rule)
        if needed is None:
            return self.lines
        return tuple(line for line in self.lines if line.partition(",")[0] in needed)


def ok(text: str) -> Finding:
    return Finding(level=FindingLevel.OK, text=text)


def warning(text: str, fix: str, lines: tuple[str, ...] = ()) -> Finding:
    return Finding(level=FindingLevel.WARNING, text=text, fix=fix, lines=lines)


def broken(text: str, fix: str) -> Finding:
    return Finding(level=FindingLevel.BROKEN, text=text, fix=fix)


def unseeing(
    rules: Iterable[str], cause: str, fix: str, level: FindingLevel = FindingLevel.BROKEN
) -> Finding:
    """Return that these rules can see nothing, for this cause."""
    names = sorted(rules)
    text = sentence("{rules} can see nothing: {cause}", rules=listed(names, most=SHOWN), cause=cause)
    return blinding(Finding(level=level, text=text, fix=fix), names, cause)


def blinding(finding: Finding, rules: Iterable[str], cause: str) -> Finding:
    """Return the finding, as the reason why these rules see nothing."""
    return replace(finding, rules=tuple(sorted(rules)), health=RuleHealth.BLIND, cause=cause)
