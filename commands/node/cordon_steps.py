"""The steps and the lease of a cordon, for all plans that cordon a node: cordon, drain, volume freeze."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from collectors.cluster.objects import Node
from collectors.facts.sentences import sentence
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import (
    AT,
    BY,
    CORDON_INCIDENT,
    CORDON_VOLUME,
    REASON,
    UNTIL,
    annotations_of,
    cordon_reason,
    our_reason,
)
from commands.execution.object_refs import ObjectRef
from commands.execution.object_state import ObjectState
from commands.execution.preconditions import Precondition
from commands.execution.record_steps import forget, record
from commands.execution.steps import Patch, Record
from commands.models import CordonLease

CLUSTER = "yardmaster.io/cluster"
OURS = (BY, AT, REASON, UNTIL, CORDON_INCIDENT, CORDON_VOLUME, CLUSTER)


def cordon_steps(
    node: Node, reason: str, context: CommandContext, lasting: timedelta, *, volume: str = ""
) -> list[Patch | Record]:
    """Return the steps that cordon the node if it is not cordoned, and record the lease."""
    name, until = node.metadata.name, context.now + lasting
    incident = (
        sentence("incident {incident}", incident=context.origin.incident) if context.origin.incident else ""
    )
    given = reason or incident
    reason = given or sentence("no reason given")
    annotations = {
        BY: context.actor.name,
        AT: f"{context.now:%Y-%m-%dT%H:%M:%SZ}",
        REASON: str(reason),
        UNTIL: f"{until:%Y-%m-%dT%H:%M:%SZ}",
        CORDON_INCIDENT: context.origin.incident or None,
        CORDON_VOLUME: volume or None,
        CLUSTER: context.cluster.name,
    }
    lease = replace(_new_lease(node, reason, context), until=until, incident=context.origin.incident)
    patch = Patch(
        ref=ref_of_node(node),
        description=sentence(
            "cordon {node}: no new pods are scheduled there ({reason})", node=name, reason=given
        )
        if given
        else sentence("cordon {node}: no new pods are scheduled there", node=name),
        body={"spec": {"unschedulable": True}, "metadata": {"annotations": annotations}},
        requires=(Precondition(path=("spec", "unschedulable")),),
        undo={"spec": {"unschedulable": None}, "metadata": {"annotations": dict.fromkeys(OURS)}},
        undo_text=sentence("uncordon {node}", node=name),
    )
    return [patch, lease_step(lease, is_so=cordoned(node, annotations), was_so=not_ours(node))]


def _new_lease(node: Node, reason: str, context: CommandContext) -> CordonLease:
    name = node.metadata.name
    return CordonLease(
        id=f"{context.cluster.name}/{name}",
        cluster=context.cluster.name,
        node=name,
        owner=context.actor.person,
        owner_name=context.actor.name,
        teams=tuple(sorted(context.actor.teams)),
        reason=reason,
        since=context.now,
        uid=node.metadata.uid,
    )


def ref_of_node(node: Node) -> ObjectRef:
    return ObjectRef(api="v1", kind="Node", name=node.metadata.name, uid=node.metadata.uid)


def cordoned(node: Node, annotations: Mapping[str, str | None]) -> ObjectState:
    """Return how a node is that a lease speaks of: cordoned, by whom and until when the annotations say."""
    return ObjectState(
        ref=ref_of_node(node),
        requires=(
            Precondition(path=("spec", "unschedulable"), equals=True),
            *(
                Precondition(path=("metadata", "annotations", key), equals=annotations.get(key))
                for key in (BY, UNTIL)
            ),
        ),
    )


def not_ours(node: Node) -> ObjectState:
    """Return how a node is that needs no lease: without a cordon of ours, or gone. Others may have cordoned it."""
    is_so = Precondition(path=("metadata", "annotations", BY))
    return ObjectState(ref=ref_of_node(node), requires=(is_so,), if_exists=True)


def extension_steps(
    node: Node, lease: CordonLease | None, reason: str, context: CommandContext, lasting: timedelta
) -> list[Patch | Record]:
    """Return the steps that give our cordon another end. It stays its owner's; the undo restores the end it had."""
    name, found, until = node.metadata.name, annotations_of(node), context.now + lasting
    changed: dict[str, str | None] = {UNTIL: f"{until:%Y-%m-%dT%H:%M:%SZ}"}
    if reason:
        changed[REASON] = reason
    kept_for = sentence("cordoned by {who}: {reason}", who=found[BY], reason=reason or cordon_reason(node))
    patch = Patch(
        ref=ref_of_node(node),
        description=sentence(
            "keep {node} cordoned until {until} ({kept_for})", node=name, until=until, kept_for=kept_for
        ),
        body={"metadata": {"annotations": changed}},
        requires=(
            Precondition(path=("spec", "unschedulable"), equals=True),
            Precondition(path=("metadata", "annotations", BY), equals=found[BY]),
        ),
        undo={"metadata": {"annotations": {key: found.get(key) for key in changed}}},
        undo_text=sentence("let the cordon of {node} end when it did before", node=name),
    )
    kept = lease or _new_lease(node, cordon_reason(node) or our_reason(), context)
    longer = replace(
        kept,
        until=until,
        reason=reason or kept.reason,
        reminded_at=None,
        lifted_at=None,
        uid=node.metadata.uid,
    )
    is_so = cordoned(node, {**found, **changed})
    was_so = cordoned(node, found)
    return [patch, lease_step(longer, before=lease, is_so=is_so, was_so=was_so)]


def hand_over_steps(
    node: Node, lease: CordonLease, *, to: str, to_name: str, teams: tuple[str, ...]
) -> list[Patch | Record]:
    """Return the steps that make our cordon another person's. Its reason and its end stay."""
    name, found = node.metadata.name, annotations_of(node)
    changed = {BY: to_name}
    patch = Patch(
        ref=ref_of_node(node),
        description=sentence(
            "hand the cordon of {node} over from {who} to {to}", node=name, who=found[BY], to=to_name
        ),
        body={"metadata": {"annotations": changed}},
        requires=(
            Precondition(path=("spec", "unschedulable"), equals=True),
            Precondition(path=("metadata", "annotations", BY), equals=found[BY]),
        ),
        undo={"metadata": {"annotations": {BY: found[BY]}}},
        undo_text=sentence("give the cordon of {node} back to {who}", node=name, who=found[BY]),
    )
    theirs = replace(
        lease, owner=to, owner_name=to_name, teams=teams, reminded_at=None, uid=node.metadata.uid
    )
    is_so, was_so = cordoned(node, {**found, **changed}), cordoned(node, found)
    return [patch, lease_step(theirs, before=lease, is_so=is_so, was_so=was_so)]


def lease_step(
    lease: CordonLease, *, is_so: ObjectState, was_so: ObjectState, before: CordonLease | None = None
) -> Record:
    """Return the step that stores the lease while the node `is_so`; its undo, while it again `was_so`, restores the
    one before, if there was one."""
    assert lease.until is not None
    text = sentence(
        "record the cordon of {node} until {until}, and remind {owner} then",
        node=lease.node,
        until=lease.until,
        owner=lease.owner_name,
    )
    undo_text = sentence("end the lease of {node}", node=lease.node)
    if before is not None and before.until is not None:
        undo_text = sentence("lease {node} until {until}, as before", node=lease.node, until=before.until)
    return record(
        "leases",
        lease,
        text=text,
        before=before,
        undo_text=undo_text,
        about=(is_so,),
        about_undone=(was_so,),
    )


def ended_step(node: Node, lease: CordonLease, *, has_inverse: bool) -> Record:
    """Return the step that ends the lease of a node without a cordon of ours; its undo needs the cordon again."""
    name = lease.node
    return forget(
        "leases",
        lease,
        text=sentence("end the lease of {node}", node=name),
        has_inverse=has_inverse,
        undo_text=sentence("lease {node} again", node=name),
        about=(not_ours(node),),
        about_undone=(cordoned(node, annotations_of(node)),) if has_inverse else (),
    )


def uncordon_step(node: Node) -> Patch:
    """Return the step that lifts our cordon, if it is still the same one."""
    name, found = node.metadata.name, annotations_of(node)
    return Patch(
        ref=ref_of_node(node),
        description=sentence(
            "uncordon {node} (cordoned by {who}: {reason})",
            node=name,
            who=found[BY],
            reason=cordon_reason(node),
        ),
        body={"spec": {"unschedulable": None}, "metadata": {"annotations": dict.fromkeys(OURS)}},
        requires=(
            Precondition(path=("spec", "unschedulable"), equals=True),
            Precondition(path=("metadata", "annotations", BY), equals=found[BY]),
        ),
        undo={
            "spec": {"unschedulable": True},
            "metadata": {"annotations": {key: found.get(key) for key in OURS}},
        },
        undo_text=sentence("cordon {node} again", node=name),
    )


def ended_without_node(lease: CordonLease) -> Record:
    """Return the step that ends the lease of a node that has left the cluster."""
    ref = ObjectRef(api="v1", kind="Node", name=lease.node, uid=lease.uid)
    return forget(
        "leases",
        lease,
        text=sentence("end the lease of {node}", node=lease.node),
        has_inverse=False,
        about=(ObjectState(ref=ref, is_gone=True),),
    )


def forgotten_steps(node: Node, lease: CordonLease | None) -> list[Patch | Record]:
    """Return the steps that clean up after our cordon if someone else lifted it: a later cordon is not ours."""
    name, found = node.metadata.name, annotations_of(node)
    steps: list[Patch | Record] = []
    if BY in found:
        steps.append(
            Patch(
                ref=ref_of_node(node),
                description=sentence(
                    "remove our annotations from {node}, which someone else uncordoned", node=name
                ),
                body={"metadata": {"annotations": dict.fromkeys(OURS)}},
                requires=(
                    Precondition(path=("spec", "unschedulable")),
                    Precondition(path=("metadata", "annotations", BY), equals=found[BY]),
                ),
            )
        )
    if lease is not None:
        # No inverse: there must be no lease without its cordon.
        steps.append(ended_step(node, lease, has_inverse=False))
    return steps
