"""Cards of a lease: where its owner is notified about it, those of the plan that recorded it or of its incident."""

from collections.abc import Sequence

from alerts.cards.posted import CardKind, PostedCard
from alerts.store import StoreSnapshot
from commands.core.parent_members import cards_about
from commands.execution.plan import Plan, StepState
from commands.execution.plan_journal import records_of
from commands.execution.steps import Record
from commands.models import CordonLease

MAX_PLANS = 1_000  # the newest of its owner, among which that of a lease is searched that does not name it


async def cards_of_lease(lease: CordonLease, plan: str, snapshot: StoreSnapshot) -> Sequence[PostedCard]:
    """Return the cards of the plan that recorded the lease, else those of its incident."""
    found = await snapshot.rows(PostedCard).find(kind=CardKind.PLAN.value, row_id=plan) if plan else ()
    if found or not lease.incident:
        return found
    return await cards_about(lease.incident, snapshot)


async def plan_of(lease: CordonLease, snapshot: StoreSnapshot) -> str:
    """Return the plan that recorded the lease. One that does not name it is searched; empty if it is too old."""
    if lease.plan:
        return lease.plan
    plans = snapshot.rows(Plan)
    for plan in await plans.find(cluster=lease.cluster, actor=lease.owner, newest=True, limit=MAX_PLANS):
        # A plan that failed or was stopped counts too: it may have cordoned nodes before that.
        if await _recorded(lease, plan, snapshot):
            return plan.id
    return ""


async def _recorded(lease: CordonLease, plan: Plan, snapshot: StoreSnapshot) -> bool:
    numbers = [
        number
        for number, step in enumerate(plan.steps)
        if isinstance(step, Record) and step.row is not None and (step.table, step.id) == ("leases", lease.id)
    ]
    records = await records_of(plan, snapshot) if numbers else ()
    return any(records[number].state is StepState.DONE for number in numbers)
