"""This file has what a cordon of ours is made of: the annotations on the node, the steps, and the lease."""

from datetime import timedelta

from collectors.cluster.objects import Node
from commands.core.context import CommandContext
from commands.models import CordonLease
from commands.plans.record_steps import forget, record
from commands.plans.steps import ObjectRef, Patch, Precondition, Record

BY, AT, REASON = "yardmaster.io/cordoned-by", "yardmaster.io/cordoned-at", "yardmaster.io/cordon-reason"
UNTIL, INCIDENT, CLUSTER = (
    "yardmaster.io/cordon-until",
    "yardmaster.io/cordon-incident",
    "yardmaster.io/cluster",
)
OURS = (BY, AT, REASON, UNTIL, INCIDENT, CLUSTER)


def cordon_steps(
    node: Node, reason: str, context: CommandContext, lasting: timedelta
) -> list[Patch | Record]:
    """Cordon the node if it is not, and note the lease."""
    name, until = node.metadata.name, context.now + lasting
    incident = f"incident {context.origin.incident}" if context.origin.incident else ""
    reason = reason or incident or "no reason given"
    words = {
        BY: context.actor.name,
        AT: f"{context.now:%Y-%m-%dT%H:%M:%SZ}",
        REASON: reason,
        UNTIL: f"{until:%Y-%m-%dT%H:%M:%SZ}",
        INCIDENT: context.origin.incident or None,
        CLUSTER: context.cluster.name,
    }
    lease = CordonLease(
        id=f"{context.cluster.name}/{name}",
        cluster=context.cluster.name,
        node=name,
        owner=context.actor.id,
        owner_name=context.actor.name,
        reason=reason,
        since=context.now,
        until=until,
        incident=context.origin.incident,
    )
    patch = Patch(
        ref=ObjectRef(api="v1", kind="Node", name=name, uid=node.metadata.uid),
        description=f"cordon {name}: nothing new is placed there ({reason})",
        body={"spec": {"unschedulable": True}, "metadata": {"annotations": words}},
        requires=(Precondition(path=("spec", "unschedulable")),),
        inverse={"spec": {"unschedulable": None}, "metadata": {"annotations": dict.fromkeys(OURS)}},
    )
    return [patch, record("leases", lease, says=f"note the lease until {until:%H:%M} UTC")]


def uncordon_step(node: Node) -> Patch:
    """Lift our cordon, if it still is the one we know."""
    name, notes = node.metadata.name, annotations_of(node)
    return Patch(
        ref=ObjectRef(api="v1", kind="Node", name=name, uid=node.metadata.uid),
        description=f"uncordon {name} (cordoned by {notes[BY]}: {notes.get(REASON, '')})",
        body={"spec": {"unschedulable": None}, "metadata": {"annotations": dict.fromkeys(OURS)}},
        requires=(
            Precondition(path=("spec", "unschedulable"), equals=True),
            Precondition(path=("metadata", "annotations", BY), equals=notes[BY]),
        ),
        inverse={
            "spec": {"unschedulable": True},
            "metadata": {"annotations": {key: notes.get(key) for key in OURS}},
        },
    )


def forgotten_steps(node: Node, lease: CordonLease | None) -> list[Patch | Record]:
    """Take away what is left of a cordon of ours that somebody else lifted; the next one there is not ours."""
    name, notes = node.metadata.name, annotations_of(node)
    steps: list[Patch | Record] = []
    if BY in notes:
        steps.append(
            Patch(
                ref=ObjectRef(api="v1", kind="Node", name=name, uid=node.metadata.uid),
                description=f"take our notes off {name}, which somebody else uncordoned",
                body={"metadata": {"annotations": dict.fromkeys(OURS)}},
                requires=(
                    Precondition(path=("spec", "unschedulable")),
                    Precondition(path=("metadata", "annotations", BY), equals=notes[BY]),
                ),
            )
        )
    if lease is not None:
        # Nobody gets it back: no lease without its cordon.
        steps.append(forget("leases", lease, says=f"end the lease of {name}", has_inverse=False))
    return steps


def annotations_of(node: Node) -> dict[str, str]:
    return node.metadata.annotations or {}
