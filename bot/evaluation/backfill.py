"""The backfill: what a rule missed while its source was blind or we were down, evaluated as of its own time."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime

from alerts.engine import AlertChange, RuleEvaluation
from alerts.rules import Rule
from bot.evaluation.rule_state import RuleState
from collectors.facts.results import Blind, QueryResult
from collectors.facts.sentences import sentence
from collectors.query_router import CONCURRENCY, QueryRouter

BACKFILL_FOR = 10.0  # seconds per cycle; the rest is backfilled in the next one
FIRST_FOR = 1.0  # seconds, in the first cycle: what a process made up for is stored, however short it lives
TRIES = 3  # cycles
OUT_OF_TIME = sentence("still backfilling missed evaluations")


class Backfill:
    """The backfill of one cycle. It is limited to so many seconds, for it must not delay the next cycle.

    `evaluate` evaluates a rule with an answer as of a time, and keeps its state.
    """

    def __init__(
        self,
        router: QueryRouter,
        evaluate: Callable[[Rule, QueryResult, datetime], Awaitable[RuleEvaluation]],
        *,
        seconds: float = BACKFILL_FOR,
    ) -> None:
        self._router = router
        self._evaluate = evaluate
        self._until = asyncio.get_running_loop().time() + seconds
        self._failing: dict[str, str] = {}  # source -> the error of its last query

    async def run(self, rule: Rule, state: RuleState) -> tuple[list[AlertChange], str]:
        """Evaluate what was missed, in order. Return the changes, and the error if the rest must wait for a cycle.

        Times that can never be answered are skipped, and so are times that still fail after TRIES cycles.
        """
        changes: list[AlertChange] = []
        source = self._router.source_of(rule.query)
        while state.missed:
            if reason := self._stopped(source):
                return changes, reason
            some = state.missed[:CONCURRENCY]
            answers = await asyncio.gather(*(self._router.query(rule.query, at=at) for at in some))
            is_last_try = state.tries >= TRIES
            # A rate decays before it is known that there is a hole: also what is right before it is not certain.
            unseen = (
                at
                for at, late in zip(some, answers, strict=True)
                if isinstance(late, Blind) and (late.is_lasting or is_last_try)
            )
            state.hole = max(unseen, default=state.hole)
            for moment, late in zip(some, answers, strict=True):
                if isinstance(late, Blind) and not late.is_lasting and not is_last_try:
                    state.tries += 1
                    self._failing[source] = late.reason
                    return changes, late.reason
                changes += (await self._evaluate(rule, late, moment)).changes
                state.missed = state.missed[1:]
        state.tries = 0
        return changes, ""

    def _stopped(self, source: str) -> str:
        """Return why the source is not queried again in this cycle; empty if it may be."""
        if reason := self._failing.get(source):
            return reason
        return OUT_OF_TIME if asyncio.get_running_loop().time() > self._until else ""
