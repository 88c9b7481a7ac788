"""This file has what the thinking asks of a store. The stores are made in bot/store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar

from alerts.alert import Alert
from alerts.cards.posted import PostedCard, ThreadReply
from alerts.incidents.incident import Incident
from alerts.silences import Silence

Row = TypeVar("Row")

ALL = 1_000_000  # rows: what decides whether an alert is told is never looked at in part


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationProgress:
    """How far a cluster's rules were judged, so that the next process knows what it missed."""

    cluster: str
    evaluated: Mapping[str, datetime] = field(default_factory=dict)  # rule id -> when it was judged last

    @property
    def id(self) -> str:
        return self.cluster


class Rows(Protocol[Row]):
    """All rows of one type, by their `id`. What is put is whole: the row replaces the one with its id."""

    async def get(self, id: str) -> Row | None: ...

    async def put(self, row: Row) -> None: ...

    async def add(self, row: Row) -> bool:
        """Put the row only if its id is not there yet; tells whether it was put."""
        ...

    async def delete(self, id: str) -> None: ...

    async def find(self, *, limit: int = 1000, newest: bool = False, **columns: str) -> Sequence[Row]:
        """Rows whose indexed columns equal these, in the order they were first put, or the newest first."""
        ...


class AlertsUnit(Protocol):
    """One transaction: all of it lands, or none. Leaving it with an error rolls it back."""

    @property
    def alerts(self) -> Rows[Alert]: ...

    @property
    def incidents(self) -> Rows[Incident]: ...

    @property
    def silences(self) -> Rows[Silence]: ...

    @property
    def cards(self) -> Rows[PostedCard]: ...

    @property
    def replies(self) -> Rows[ThreadReply]: ...

    @property
    def progress(self) -> Rows[EvaluationProgress]: ...

    async def next_number(self, of: str) -> int:
        """1, 2, 3, ... for each name: incidents and plans are called by short numbers."""
        ...
