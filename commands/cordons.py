"""This file has what a cordon of ours is made of: the annotations on the node, the steps, and the lease."""

from datetime import timedelta

from collectors.cluster.objects import Node
from commands.desk import Desk
from commands.looks import annotations_of
from commands.records import forget, record
from commands.rows import CordonLease
from commands.steps import Fact, Patch, Record, Ref

BY, AT, REASON = "yardmaster.io/cordoned-by", "yardmaster.io/cordoned-at", "yardmaster.io/cordon-reason"
UNTIL, INCIDENT, CLUSTER = (
    "yardmaster.io/cordon-until",
    "yardmaster.io/cordon-incident",
    "yardmaster.io/cluster",
)
OURS = (BY, AT, REASON, UNTIL, INCIDENT, CLUSTER)


def cordon_steps(node: Node, reason: str, desk: Desk, lasting: timedelta) -> list[Patch | Record]:
    """Cordon the node if it is not, and note the lease."""
    name, until = node.metadata.name, desk.now + lasting
    why = reason or (f"incident {desk.origin.incident}" if desk.origin.incident else "no reason given")
    words = {
        BY: desk.actor.name,
        AT: f"{desk.now:%Y-%m-%dT%H:%M:%SZ}",
        REASON: why,
        UNTIL: f"{until:%Y-%m-%dT%H:%M:%SZ}",
        INCIDENT: desk.origin.incident or None,
        CLUSTER: desk.site.name,
    }
    lease = CordonLease(
        id=f"{desk.site.name}/{name}",
        cluster=desk.site.name,
        node=name,
        owner=desk.actor.id,
        owner_name=desk.actor.name,
        reason=why,
        since=desk.now,
        until=until,
        incident=desk.origin.incident,
    )
    patch = Patch(
        ref=Ref(api="v1", kind="Node", name=name, uid=node.metadata.uid),
        says=f"cordon {name}: nothing new is placed there ({why})",
        body={"spec": {"unschedulable": True}, "metadata": {"annotations": words}},
        requires=(Fact(path=("spec", "unschedulable")),),
        inverse={"spec": {"unschedulable": None}, "metadata": {"annotations": dict.fromkeys(OURS)}},
    )
    return [patch, record("leases", lease, says=f"note the lease until {until:%H:%M} UTC")]


def uncordon_step(node: Node) -> Patch:
    """Lift our cordon, if it still is the one we know."""
    name, notes = node.metadata.name, annotations_of(node)
    return Patch(
        ref=Ref(api="v1", kind="Node", name=name, uid=node.metadata.uid),
        says=f"uncordon {name} (cordoned by {notes[BY]}: {notes.get(REASON, '')})",
        body={"spec": {"unschedulable": None}, "metadata": {"annotations": dict.fromkeys(OURS)}},
        requires=(
            Fact(path=("spec", "unschedulable"), equals=True),
            Fact(path=("metadata", "annotations", BY), equals=notes[BY]),
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
                ref=Ref(api="v1", kind="Node", name=name, uid=node.metadata.uid),
                says=f"take our notes off {name}, which somebody else uncordoned",
                body={"metadata": {"annotations": dict.fromkeys(OURS)}},
                requires=(
                    Fact(path=("spec", "unschedulable")),
                    Fact(path=("metadata", "annotations", BY), equals=notes[BY]),
                ),
            )
        )
    if lease is not None:
        # Nobody gets it back: no lease without its cordon.
        steps.append(forget("leases", lease, says=f"end the lease of {name}", has_inverse=False))
    return steps
