"""View of one cluster's evaluation: the rules in force, how each was last evaluated, and which sources are blind."""

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta

from alerts.rules import Rule
from bot.evaluation.scheduler import RuleScheduler
from collectors.check import SourceState
from collectors.facts.clock import Clock
from collectors.facts.queries import Query
from collectors.query_router import QueryRouter
from commands.core.rule_runs import RuleRun

REASON_PACE = timedelta(minutes=1)  # between two changes of a reason alone
_AMOUNT = re.compile(r"\d[\d:.,]*(?: (?:d|h|min|s)\b)?(?: \d+ (?:h|min|s)\b)*")


class ClusterView:
    """What cards and answers show of a cluster's rules. `blind`: source -> why it was blind in the last cycle."""

    def __init__(self, scheduler: RuleScheduler, router: QueryRouter, clock: Clock) -> None:
        self.scheduler = scheduler
        self.router = router
        self.blind: Mapping[str, str] = {}
        self._clock = clock
        self._shown = BlindView()

    @property
    def rules(self) -> Mapping[str, Rule]:
        """The rules in force, by id."""
        return self.scheduler.rules

    @property
    def blind_rules(self) -> Mapping[str, str]:
        """Rule id -> why it saw nothing when it was last due: its own query, or its whole source.

        A rule of a source that the settings do not have is none of them: it sees nothing on purpose.
        """
        alone: dict[str, str] = {}
        for state in self.router.sources(at=self._clock.now()):
            alone |= state.rules
        found = {
            id: alone.get(id) or self.blind.get(self.router.source_of(rule.query), "")
            for id, rule in self.rules.items()
        }
        return {id: reason for id, reason in found.items() if reason}

    @property
    def rule_runs(self) -> Mapping[str, RuleRun]:
        """How each rule was last evaluated, by its id; those that were not yet are left out."""
        blind = self.blind_rules
        evaluated, took = self.scheduler.progress, self.router.took
        return {
            id: RuleRun(took=took.get(id, timedelta()), evaluated=evaluated.get(id), blind=blind.get(id, ""))
            for id in self.rules
            if id in evaluated or id in blind
        }

    def blind_sources(self, queries: Iterable[Query]) -> Mapping[str, str]:
        """Return which sources of these queries are blind now, and why."""
        queried = {self.router.source_of(query) for query in queries}
        return {source: reason for source, reason in self.blind.items() if source in queried}

    def follow(self, sources: Iterable[SourceState]) -> bool:
        """Follow the sources after a cycle. Return whether the cards have to show another reason."""
        self.blind = {one.source: one.reason for one in sources if one.blind_for is not None}
        return self._shown.follow(self.blind, self._clock.elapsed())


class BlindView:
    """What the cards show. Another source counts at once, another reason once in a while: it may alternate."""

    def __init__(self) -> None:
        self._shown: Mapping[str, str] = {}
        self._changed_at = timedelta()

    def follow(self, blind: Mapping[str, str], elapsed: timedelta) -> bool:
        """Return whether the cards have to show `blind` (source -> reason) instead of what they show."""
        found = {source: blind_kind(reason) for source, reason in blind.items()}
        if found == self._shown:
            return False
        if found.keys() == self._shown.keys() and elapsed - self._changed_at < REASON_PACE:
            return False
        self._shown, self._changed_at = found, elapsed
        return True


def blind_kind(reason: str) -> str:
    """Return a reason without its numbers, times and durations: they may change in each cycle."""
    return _AMOUNT.sub("…", reason)
