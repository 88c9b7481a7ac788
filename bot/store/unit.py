"""This file has the unit: one transaction over every table, whatever keeps them."""

from collections.abc import Mapping
from typing import Protocol

from alerts.store import Rows
from bot.store import schema
from bot.store.schema import Row, TableDefinition

Changed = Mapping[str, frozenset[str]]  # table -> the ids that were put or deleted


class Transaction(Protocol):
    """What keeps the rows while a unit lasts."""

    def rows(self, table: TableDefinition[Row]) -> Rows[Row]: ...

    async def next_number(self, of: str) -> int: ...


class StoreUnit:
    """A unit in use: `commands/store.py`'s Unit."""

    __slots__ = (
        "_transaction",
        "agenda",
        "alerts",
        "audit",
        "cards",
        "handled_requests",
        "incidents",
        "launches",
        "leases",
        "plans",
        "progress",
        "reclaim_requests",
        "replies",
        "silences",
    )

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self.alerts = transaction.rows(schema.ALERTS)
        self.incidents = transaction.rows(schema.INCIDENTS)
        self.silences = transaction.rows(schema.SILENCES)
        self.cards = transaction.rows(schema.CARDS)
        self.replies = transaction.rows(schema.REPLIES)
        self.plans = transaction.rows(schema.PLANS)
        self.audit = transaction.rows(schema.AUDIT)
        self.agenda = transaction.rows(schema.AGENDA)
        self.leases = transaction.rows(schema.LEASES)
        self.reclaim_requests = transaction.rows(schema.RECLAIM_REQUESTS)
        self.launches = transaction.rows(schema.LAUNCHES)
        self.handled_requests = transaction.rows(schema.HANDLED_REQUESTS)
        self.progress = transaction.rows(schema.PROGRESS)

    async def next_number(self, of: str) -> int:
        """1, 2, 3, ... for each name; a number of a unit that is rolled back is given again."""
        return await self._transaction.next_number(of)
