"""This file has the table of tables: every row type that is kept, and by what it is looked up.

The SQL store and its in-memory twin are both made from it. Migrations are written out by hand, and a test
compares them with it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from alerts.alert import Alert
from alerts.cards.posted import PostedCard, ThreadReply
from alerts.incidents.incident import Incident
from alerts.silences import Silence
from alerts.store import EvaluationProgress
from commands.models import AuditEntry, CordonLease, DueCommand, HandledRequest, Launch, ReclaimRequest
from commands.plans.plan import Plan


class HasId(Protocol):
    @property
    def id(self) -> str: ...


Row = TypeVar("Row", bound=HasId)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDefinition(Generic[Row]):
    """A kind of row.

    `columns`: what `find` takes, and the attribute that each is read from. `over`: the moment from which on
    a row may be forgotten, None for not yet. `goes_with`: a column of ours and the table whose rows it
    names; our rows are forgotten with theirs. `floats`: the measured values, which may not be numbers.
    """

    name: str
    row: type[Row]
    columns: Mapping[str, str]
    over: Callable[[Row], datetime | None] | None = None
    goes_with: tuple[str, str] | None = None
    floats: Callable[[Row], Iterable[float]] = field(default=lambda _row: ())

    def read(self, row: Row) -> dict[str, str]:
        """The row's columns as they are compared."""
        return {name: column_text(attrgetter(path)(row)) for name, path in self.columns.items()}

    def check(self, columns: Iterable[str]) -> None:
        """Raise ValueError for a column that rows are not looked up by."""
        if unknown := set(columns) - set(self.columns):
            raise ValueError(
                f"{self.name} cannot be found by {', '.join(sorted(unknown))}: use {', '.join(self.columns)}"
            )


def column_text(value: Any) -> str:
    """A value as its column holds it. Moments sort as text: UTC, always with microseconds."""
    if isinstance(value, datetime):
        return moment_text(value)
    return "" if value is None else str(value)


def moment_text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


def _forgotten_card(card: PostedCard) -> datetime | None:
    return (card.posted_at or card.intent_at) if card.is_final else None


ALERTS = TableDefinition(
    name="alerts",
    row=Alert,
    columns={"cluster": "cluster", "rule": "rule", "state": "life.state"},
    over=lambda alert: alert.life.resolved_at,
    floats=lambda alert: (alert.value,),
)
INCIDENTS = TableDefinition(
    name="incidents",
    row=Incident,
    columns=_same("cluster", "state", "group_key"),
    over=lambda incident: incident.resolved_at,
    floats=lambda incident: chain(
        (member.value for member in incident.members), (impact.gpus for impact in incident.impacts)
    ),
)
SILENCES = TableDefinition(
    name="silences",
    row=Silence,
    columns=_same("cluster"),
    over=lambda silence: silence.expired_at or silence.ends_at,
)
CARDS = TableDefinition(
    name="cards",
    row=PostedCard,
    columns=_same("cluster", "state", "kind", "row_id", "channel"),
    over=_forgotten_card,
)
REPLIES = TableDefinition(
    name="replies", row=ThreadReply, columns=_same("cluster", "state", "card"), goes_with=("card", "cards")
)
PLANS = TableDefinition(name="plans", row=Plan, columns=_same("cluster", "state", "incident", "actor"))
AUDIT = TableDefinition(name="audit", row=AuditEntry, columns=_same("cluster", "actor", "plan", "at"))
AGENDA = TableDefinition(name="agenda", row=DueCommand, columns=_same("cluster", "at"))
LEASES = TableDefinition(name="leases", row=CordonLease, columns=_same("cluster", "node"))
RECLAIM_REQUESTS = TableDefinition(
    name="reclaim_requests",
    row=ReclaimRequest,
    columns=_same("cluster", "state", "training"),
    floats=lambda reclaim: (reclaim.gpus,),
)
LAUNCHES = TableDefinition(name="launches", row=Launch, columns=_same("cluster", "state"))
HANDLED_REQUESTS = TableDefinition(
    name="handled_requests", row=HandledRequest, columns=_same("at"), over=lambda gesture: gesture.at
)  # taken in before anybody knows which cluster is meant
PROGRESS = TableDefinition(name="progress", row=EvaluationProgress, columns=_same("cluster"))

TABLES: tuple[TableDefinition[Any], ...] = (
    ALERTS,
    INCIDENTS,
    SILENCES,
    CARDS,
    REPLIES,
    PLANS,
    AUDIT,
    AGENDA,
    LEASES,
    RECLAIM_REQUESTS,
    LAUNCHES,
    HANDLED_REQUESTS,
    PROGRESS,
)
