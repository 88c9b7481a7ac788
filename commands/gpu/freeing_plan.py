"""The plan that freed the GPUs of a request."""

from alerts.store import StoreSnapshot
from commands.execution.plan import Plan
from commands.execution.steps import Record
from commands.models import ReclaimRequest, ReclaimState

NEWEST = 200  # plans of the cluster among which it is searched


def requests_of(plan: Plan) -> tuple[str, ...]:
    """Return the ids of the requests whose GPUs the plan frees."""
    return tuple(
        step.id
        for step in plan.steps
        if isinstance(step, Record)
        and step.table == "reclaim_requests"
        and step.row is not None
        and step.row["state"] == ReclaimState.FREED
    )


async def freeing_plan(reclaim: ReclaimRequest, snapshot: StoreSnapshot) -> Plan | None:
    """Return the newest plan that freed its GPUs; None if it is older than the newest plans."""
    plans = await snapshot.rows(Plan).find(cluster=reclaim.cluster, newest=True, limit=NEWEST)
    return next(
        (plan for plan in plans if plan.confirmed_at is not None and reclaim.id in requests_of(plan)), None
    )
