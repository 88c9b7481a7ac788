"""The port for producers of alerts: what a producer found by one moment, recorded as a whole or not at all.

The evaluation of rules is one producer. Another may have no rules: its alerts have its name in the place of a rule's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from alerts.alert import Alert
from alerts.incidents.proofs import NO_FACTS, ProofFacts
from alerts.rules import Rule
from alerts.store import HasId
from collectors.facts.topology import Topology

Update = tuple[Alert, datetime]  # an alert that fired, still fires or resolved, and when


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertBatch:
    """What a producer found by `at`.

    `updates`: alerts whose state changed, in their order, each as of its own time. `standing`: alerts as they are now;
    those whose stored row is old are updates, too. `complete`: of these producers or rules all current alerts are
    given, so pending ones that are not have gone. `facts`: what may prove now that faults are over; None if nothing
    was looked at. `progress`: how far each rule was evaluated. `states`: rows that a detector keeps for itself.
    """

    at: datetime
    updates: tuple[Update, ...] = ()
    standing: tuple[Alert, ...] = ()
    complete: frozenset[str] = frozenset()
    facts: ProofFacts | None = None
    progress: Mapping[str, datetime] = field(default_factory=dict)
    states: tuple[HasId, ...] = ()

    def then(self, later: "AlertBatch") -> "AlertBatch":
        """Return both as one: what was found by now, with every change on the way."""
        looked_at = later.complete | {alert.rule for alert in later.standing}
        return AlertBatch(
            at=later.at,
            updates=(*self.updates, *later.updates),
            standing=(*(alert for alert in self.standing if alert.rule not in looked_at), *later.standing),
            complete=self.complete | later.complete,
            facts=self.facts if later.facts in (None, NO_FACTS) else later.facts,
            progress={**self.progress, **later.progress},
            states=tuple({(type(row), row.id): row for row in (*self.states, *later.states)}.values()),
        )

    def restated(self, by: timedelta) -> "AlertBatch":
        """Return the same batch after a clock step of so much."""
        return replace(
            self,
            at=self.at + by,
            updates=tuple((alert.restated(by), at + by) for alert, at in self.updates),
            standing=tuple(alert.restated(by) for alert in self.standing),
            progress={rule: at + by for rule, at in self.progress.items()},
        )


class AlertRecorder(Protocol):
    """Where producers of alerts of one cluster bring them."""

    @property
    def unlisted(self) -> bool:
        """Whether an open parent has grown since its list was attached: a batch soon attaches it, even an empty one."""
        ...

    async def record(self, batch: AlertBatch, *, rules: Mapping[str, Rule], topology: Topology) -> None:
        """Store the batch with what follows from it, in one transaction. It may be brought again after a failure."""
        ...
