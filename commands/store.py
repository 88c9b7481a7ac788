"""This file has what commands ask of a store, beside what alerts do. The stores are made in bot/store."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from alerts.store import AlertsUnit, Rows
from commands.models import AuditEntry, CordonLease, DueCommand, HandledRequest, Launch, ReclaimRequest
from commands.plans.plan import Plan


class Unit(AlertsUnit, Protocol):
    """One transaction over everything."""

    @property
    def plans(self) -> Rows[Plan]: ...

    @property
    def audit(self) -> Rows[AuditEntry]: ...

    @property
    def agenda(self) -> Rows[DueCommand]: ...

    @property
    def leases(self) -> Rows[CordonLease]: ...

    @property
    def reclaim_requests(self) -> Rows[ReclaimRequest]: ...

    @property
    def launches(self) -> Rows[Launch]: ...

    @property
    def handled_requests(self) -> Rows[HandledRequest]: ...


class Store(Protocol):
    def unit(self) -> AbstractAsyncContextManager[Unit]: ...
