"""Confirmed plans at their gates: each begins, waits, or is given up. All that wait are judged by one look."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from alerts.store import Store, Unit
from collectors.facts.clock import Clock
from collectors.facts.sentences import sentence
from commands.execution.audited import entry_id, entry_of
from commands.execution.plan import GATED, Plan, PlanState
from commands.execution.plan_gate import HELD_AT_MOST, Gate, GateVerdict, given_up_at
from commands.execution.plan_outcome import notify_asker, record_outcome
from commands.models import AuditEntry

HELD = "held"  # in the audit


class Beginnings:
    """Lets plans begin. Those that are to begin in one transaction are judged by one look, the oldest first.

    One that was let begin in the transaction of others has begun no step until its own part of a transaction.
    """

    def __init__(self, clock: Clock, gate: Gate) -> None:
        self._clock = clock
        self._gate = gate
        self._plans: dict[str, Plan] = {}  # that are to begin
        self._unit: Unit | None = None  # the transaction in which they were judged last
        self._begun: dict[str, Plan] = {}
        self._new: set[str] = set()  # of those that are to begin, the ones of which no step was begun before

    async def begin(self, plan: Plan, unit: Unit) -> tuple[Plan, bool]:
        """Return the plan as it is stored: running, held back, or over; and whether no step of it was begun before.

        Within `expected`.
        """
        if unit is not self._unit or plan.id not in self._begun:
            self._unit = unit
            self._begun, new = await let_begin(
                [*self._plans.values(), plan], unit, self._clock.now(), self._gate
            )
            self._new |= new
        found = self._begun[plan.id]
        return found, found.state is PlanState.RUNNING and plan.id in self._new

    @contextmanager
    def expected(self, plan: Plan) -> Iterator[None]:
        """Note meanwhile that the plan is to begin."""
        self._plans[plan.id] = plan
        try:
            yield
        finally:
            self._plans.pop(plan.id, None)
            self._new.discard(plan.id)


async def let_begin(
    plans: Sequence[Plan], unit: Unit, now: datetime, gate: Gate
) -> tuple[dict[str, Plan], frozenset[str]]:
    """Return the plans as they are once they are to begin, and store them: running, held back, or given up.

    Beside them, the ids of those that had not begun before.
    """
    stored = await unit.rows(Plan).get_all([plan.id for plan in plans])
    found = {plan.id: stored.get(plan.id, plan) for plan in plans}
    waits = in_order_of_age(
        plan for plan in found.values() if not plan.is_over and plan.state is not PlanState.RUNNING
    )
    judge = await gate.look(waits, unit) if waits else None
    await _read_entries(waits, unit)
    for plan in waits:
        assert judge is not None
        if (verdict := judge(plan)).holds:
            found[plan.id] = await _store_held(plan, verdict, unit, now)
            continue
        held_by = plan.held_by if plan.over_budget else ()
        found[plan.id] = replace(plan, state=PlanState.RUNNING, held="", held_by=held_by, gates=())
        await unit.rows(Plan).put(found[plan.id])
    return found, frozenset(plan.id for plan in waits if plan.id in stored)


async def let_go(ids: Sequence[str], store: Store, clock: Clock, gate: Gate) -> list[Plan]:
    """Judge all plans that wait by one look, store what is new of those that wait on, and return the others.

    They are returned in the order in which they were confirmed. Nothing is written while nothing has changed.
    """
    if not ids:
        return []
    async with store.read() as snapshot:
        plans = _held(await snapshot.rows(Plan).get_all(ids))
        judge = await gate.look(plans, snapshot)
    now, free = clock.now(), [plan for plan in plans if not judge(plan).holds]
    if all(plan in free or held_back(plan, judge(plan), now) == plan for plan in plans):
        return free
    async with store.unit() as unit:
        plans = _held(await unit.rows(Plan).get_all(ids))
        judge, free = await gate.look(plans, unit), []
        await _read_entries(plans, unit)
        for plan in plans:
            if (verdict := judge(plan)).holds:
                await _store_held(plan, verdict, unit, now)
            else:
                free.append(plan)
    return free


def _held(found: Mapping[str, Plan]) -> list[Plan]:
    return in_order_of_age(plan for plan in found.values() if plan.state in GATED)


def in_order_of_age(plans: Iterable[Plan]) -> list[Plan]:
    """Return the plans in the order in which they were confirmed."""
    return sorted(plans, key=lambda plan: (plan.confirmed_at or plan.created_at, plan.id))


async def _read_entries(plans: Iterable[Plan], unit: Unit) -> None:
    """Read at once what `_store_held` looks up of each."""
    await unit.rows(AuditEntry).get_all([entry_id(plan, HELD) for plan in plans])


async def _store_held(plan: Plan, verdict: GateVerdict, unit: Unit, now: datetime) -> Plan:
    found = held_back(plan, verdict, now)
    if found == plan:
        return plan
    await unit.rows(Plan).put(found)
    if found.state is PlanState.WAITING:
        await unit.rows(AuditEntry).add(entry_of(found, HELD, now, reason=found.held))
    else:
        await record_outcome(unit, found)
        await notify_asker(unit, found)
    return found


def held_back(plan: Plan, verdict: GateVerdict, now: datetime) -> Plan:
    """Return the plan as a verdict leaves it that holds it back: it waits, or is given up."""
    if verdict.is_final or _has_waited_long(plan, verdict, now):
        error = (
            sentence("nothing was done: {held}", held=verdict.reason)
            if verdict.is_final
            else sentence(
                "it was held back for {limit}, and nothing was done: {held}",
                limit=HELD_AT_MOST,
                held=verdict.reason,
            )
        )
        return replace(plan, state=PlanState.CANCELLED, error=error, ended_at=now)
    until = verdict.until or plan.held_until
    return replace(
        plan,
        state=PlanState.WAITING,
        held=verdict.reason,
        held_by=verdict.by,
        gates=verdict.gates,
        held_until=until,
    )


def _has_waited_long(plan: Plan, verdict: GateVerdict, now: datetime) -> bool:
    """Whether a plan is given up. One that waits for a known end is not, and then has the whole time again."""
    at = given_up_at(plan)
    return at is not None and verdict.until is None and now > at
