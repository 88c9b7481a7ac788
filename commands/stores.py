"""This file has what commands ask of a store, beside what alerts do. The stores are made in bot/store."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from alerts.stores import AlertsUnit, Rows
from commands.plans import Plan
from commands.rows import AuditEntry, Claim, CordonLease, Due, Gesture, Launch


class Unit(AlertsUnit, Protocol):
    """One transaction over everything."""

    @property
    def plans(self) -> Rows[Plan]: ...

    @property
    def audit(self) -> Rows[AuditEntry]: ...

    @property
    def agenda(self) -> Rows[Due]: ...

    @property
    def leases(self) -> Rows[CordonLease]: ...

    @property
    def claims(self) -> Rows[Claim]: ...

    @property
    def launches(self) -> Rows[Launch]: ...

    @property
    def gestures(self) -> Rows[Gesture]: ...


class Store(Protocol):
    def unit(self) -> AbstractAsyncContextManager[Unit]: ...
