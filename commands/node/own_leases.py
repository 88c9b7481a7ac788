"""Cordons that are somebody's own: their owner and the owner's team extend, end and hand them over without a grant."""

from collections.abc import Sequence
from typing import Protocol

from alerts.store import StoreSnapshot
from commands.core.context import CommandContext, Undoing
from commands.core.request import Actor
from commands.execution.plan import Plan
from commands.models import CordonLease
from commands.node.cordon_commands import lease_of


class AboutNodes(Protocol):
    @property
    def nodes(self) -> Sequence[str]: ...


async def owns_leases(action: AboutNodes, context: CommandContext) -> bool:
    """Whether each of the nodes has a lease that is the actor's or their team's."""
    leases = [await lease_of(node, context) for node in dict.fromkeys(action.nodes)]
    return bool(leases) and all(one is not None and is_lease_of(one, context.actor) for one in leases)


async def plans_of_leases(cluster: str, rows: StoreSnapshot) -> dict[str, str]:
    """Return the plan that cordoned each node, of the nodes with a lease of ours."""
    leases = await rows.rows(CordonLease).find(cluster=cluster)
    return {one.node: one.plan for one in leases if one.plan}


def is_lease_of(lease: CordonLease, actor: Actor) -> bool:
    return actor.is_one(lease.owner) or not actor.teams.isdisjoint(lease.teams)


async def _is_own(plan: Plan, context: CommandContext) -> bool:
    """Whether the actor may undo it without a grant: their own extension of a lease."""
    return plan.command == "node extend" and context.actor.is_one(plan.actor)


UNDO_OF_LEASES = Undoing(is_own=_is_own)
