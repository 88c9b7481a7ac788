"""The breaker: stops automation of a scope that acts too often, or to no effect, until a person closes it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from alerts.store import stored
from collectors.facts.sentences import Sentence, counted, sentence, word
from commands.gates.budget import HOUR
from commands.gates.remediation import Remediation


class BreakerScope(StrEnum):
    """What one breaker stops: all of a cluster, of one pool, or of one command."""

    CLUSTER = "cluster"
    POOL = "pool"
    COMMAND = "command"


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerLimits:
    """How often automation may act in a scope within an hour, and how often to no effect, until it is stopped."""

    scope: BreakerScope = BreakerScope.POOL
    actions: int = 5
    without_effect: int = 3

    def name_of(self, one: Remediation) -> str:
        """Return which of the scope's breakers a remediation is under."""
        match self.scope:
            case BreakerScope.CLUSTER:
                return one.cluster
            case BreakerScope.POOL:
                return one.pool
            case BreakerScope.COMMAND:
                return one.command


@stored("breakers", "cluster", "state", over=lambda breaker: breaker.closed_at)
@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """One time that a breaker opened. Those of trials stop trials only, and those that run what runs."""

    id: str
    cluster: str
    scope: BreakerScope
    name: str  # of the cluster, pool or command
    is_trial: bool
    opened_at: datetime
    reason: str
    closed_at: datetime | None = None
    closed_by: str = ""
    closed_by_name: str = ""
    closed_because: str = ""

    @property
    def state(self) -> str:
        """Indexed in the store. As in electrics: an open one lets nothing through."""
        return "open" if self.closed_at is None else "closed"

    @property
    def place(self) -> Sentence:
        """What it stops: `pool a100`."""
        return sentence("{scope} {name}", scope=word(self.scope.value), name=self.name)

    @property
    def why_stopped(self) -> Sentence:
        """Why what is in its scope is not done."""
        return sentence("breaker `{breaker}` is open: {why}", breaker=self.id, why=self.reason)

    def is_over(self, one: Remediation, limits: BreakerLimits) -> bool:
        """Whether the remediation is in its scope."""
        return (self.cluster, self.scope, self.name, self.is_trial) == (
            one.cluster,
            limits.scope,
            limits.name_of(one),
            one.is_trial,
        )


def why_open(
    one: Remediation,
    others: Iterable[Remediation],
    limits: BreakerLimits,
    closed_at: datetime | None,
    now: datetime,
) -> str:
    """Return why the breaker of this remediation's scope opens now; empty if it does not.

    `others`: what automation did there, this one included. What was before somebody closed it counts no more.
    """
    since = max(now - HOUR, closed_at) if closed_at is not None else now - HOUR
    lately = [
        other
        for other in others
        if other.is_trial == one.is_trial
        and limits.name_of(other) == limits.name_of(one)
        and other.at > since
    ]
    acted = sum(other.has_acted for other in lately)
    if acted >= limits.actions:
        return counted("{count} action within an hour", "{count} actions within an hour", count=acted)
    idle = sum(other.has_no_effect for other in lately)
    if idle >= limits.without_effect:
        return counted(
            "{count} action without effect within an hour",
            "{count} actions without effect within an hour",
            count=idle,
        )
    return ""
