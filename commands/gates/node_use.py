"""Nodes that a plan takes out of service, disrupts or puts back, as its steps declare it. Pure."""

from collections.abc import Collection

from commands.execution.node_effects import NodeEffect
from commands.execution.plan import Plan


def effects_by_step(plan: Plan) -> dict[int, dict[str, NodeEffect]]:
    """Return what each step does to nodes, by its number; only of steps that do something."""
    found = ((number, dict(step.on_nodes())) for number, step in enumerate(plan.steps))
    return {number: effects for number, effects in found if effects}


def nodes_with(plan: Plan, *effects: NodeEffect, steps: Collection[int] | None = None) -> frozenset[str]:
    """Return the nodes to which the plan, or these of its steps, does one of these things."""
    return frozenset(
        node
        for number, of_step in effects_by_step(plan).items()
        if steps is None or number in steps
        for node, effect in of_step.items()
        if effect in effects
    )


def nodes_taken_out(plan: Plan) -> frozenset[str]:
    """Return the nodes that the plan takes out of service: by a cordon or a taint."""
    return nodes_with(plan, NodeEffect.OUT)


def nodes_hit(plan: Plan) -> frozenset[str]:
    """Return the nodes that the plan takes out of service or disrupts: what budgets count."""
    return nodes_with(plan, NodeEffect.OUT, NodeEffect.DISRUPTED)


def nodes_put_back(plan: Plan) -> frozenset[str]:
    """Return the nodes that the plan puts back in service."""
    return nodes_with(plan, NodeEffect.BACK)
