"""The steps and the lease of a cordon, for all plans that cordon a node: cordon, drain, volume freeze."""

from dataclasses import replace
from datetime import timedelta

from collectors.cluster.objects import Node
from collectors.facts.sentences import moment_words
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import AT, BY, CORDON_INCIDENT, REASON, UNTIL, annotations_of
from commands.execution.object_refs import ObjectRef
from commands.execution.preconditions import Precondition
from commands.execution.record_steps import forget, record
from commands.execution.steps import Patch, Record
from commands.models import CordonLease

CLUSTER = "yardmaster.io/cluster"
OURS = (BY, AT, REASON, UNTIL, CORDON_INCIDENT, CLUSTER)


def cordon_steps(
    node: Node, reason: str, context: CommandContext, lasting: timedelta
) -> list[Patch | Record]:
    """Return the steps that cordon the node if it is not cordoned, and record the lease."""
    name, until = node.metadata.name, context.now + lasting
    incident = f"incident {context.origin.incident}" if context.origin.incident else ""
    reason = reason or incident or "no reason given"
    annotations = {
        BY: context.actor.name,
        AT: f"{context.now:%Y-%m-%dT%H:%M:%SZ}",
        REASON: reason,
        UNTIL: f"{until:%Y-%m-%dT%H:%M:%SZ}",
        CORDON_INCIDENT: context.origin.incident or None,
        CLUSTER: context.cluster.name,
    }
    lease = CordonLease(
        id=f"{context.cluster.name}/{name}",
        cluster=context.cluster.name,
        node=name,
        owner=context.actor.person,
        owner_name=context.actor.name,
        reason=reason,
        since=context.now,
        until=until,
        incident=context.origin.incident,
    )
    patch = Patch(
        ref=ObjectRef(api="v1", kind="Node", name=name, uid=node.metadata.uid),
        description=f"cordon {name}: no new pods are scheduled there ({reason})",
        body={"spec": {"unschedulable": True}, "metadata": {"annotations": annotations}},
        requires=(Precondition(path=("spec", "unschedulable")),),
        undo={"spec": {"unschedulable": None}, "metadata": {"annotations": dict.fromkeys(OURS)}},
        undo_text=f"uncordon {name}",
    )
    return [patch, lease_step(lease)]


def extension_steps(
    node: Node, lease: CordonLease | None, reason: str, context: CommandContext, lasting: timedelta
) -> list[Patch | Record]:
    """Return the steps that give our cordon another end. It stays its owner's; the undo restores the end it had."""
    name, found, until = node.metadata.name, annotations_of(node), context.now + lasting
    changed: dict[str, str | None] = {UNTIL: f"{until:%Y-%m-%dT%H:%M:%SZ}"}
    if reason:
        changed[REASON] = reason
    kept_for = f"cordoned by {found[BY]}: {reason or found.get(REASON, '')}"
    patch = Patch(
        ref=ObjectRef(api="v1", kind="Node", name=name, uid=node.metadata.uid),
        description=f"keep {name} cordoned until {moment_words(until)} ({kept_for})",
        body={"metadata": {"annotations": changed}},
        requires=(
            Precondition(path=("spec", "unschedulable"), equals=True),
            Precondition(path=("metadata", "annotations", BY), equals=found[BY]),
        ),
        undo={"metadata": {"annotations": {key: found.get(key) for key in changed}}},
        undo_text=f"give the cordon of {name} the end that it had",
    )
    kept = lease or CordonLease(
        id=f"{context.cluster.name}/{name}",
        cluster=context.cluster.name,
        node=name,
        owner=context.actor.person,
        owner_name=context.actor.name,
        reason=found.get(REASON, "no reason given"),
        since=context.now,
    )
    longer = replace(kept, until=until, reason=reason or kept.reason, reminded_at=None)
    return [patch, lease_step(longer, before=lease)]


def lease_step(lease: CordonLease, *, before: CordonLease | None = None) -> Record:
    """Return the step that stores the lease; its undo restores the one before, if there was one."""
    assert lease.until is not None
    text = f"lease {lease.node} until {moment_words(lease.until)}: {lease.owner_name} is reminded then"
    undo_text = f"end the lease of {lease.node}"
    if before is not None and before.until is not None:
        undo_text = f"lease {lease.node} until {moment_words(before.until)}, as before"
    return record("leases", lease, text=text, before=before, undo_text=undo_text)


def uncordon_step(node: Node) -> Patch:
    """Return the step that lifts our cordon, if it is still the same one."""
    name, found = node.metadata.name, annotations_of(node)
    return Patch(
        ref=ObjectRef(api="v1", kind="Node", name=name, uid=node.metadata.uid),
        description=f"uncordon {name} (cordoned by {found[BY]}: {found.get(REASON, '')})",
        body={"spec": {"unschedulable": None}, "metadata": {"annotations": dict.fromkeys(OURS)}},
        requires=(
            Precondition(path=("spec", "unschedulable"), equals=True),
            Precondition(path=("metadata", "annotations", BY), equals=found[BY]),
        ),
        undo={
            "spec": {"unschedulable": True},
            "metadata": {"annotations": {key: found.get(key) for key in OURS}},
        },
        undo_text=f"cordon {name} again",
    )


def forgotten_steps(node: Node, lease: CordonLease | None) -> list[Patch | Record]:
    """Return the steps that clean up after our cordon if someone else lifted it: a later cordon is not ours."""
    name, found = node.metadata.name, annotations_of(node)
    steps: list[Patch | Record] = []
    if BY in found:
        steps.append(
            Patch(
                ref=ObjectRef(api="v1", kind="Node", name=name, uid=node.metadata.uid),
                description=f"remove our annotations from {name}, which someone else uncordoned",
                body={"metadata": {"annotations": dict.fromkeys(OURS)}},
                requires=(
                    Precondition(path=("spec", "unschedulable")),
                    Precondition(path=("metadata", "annotations", BY), equals=found[BY]),
                ),
            )
        )
    if lease is not None:
        # No inverse: there must be no lease without its cordon.
        steps.append(forget("leases", lease, text=f"end the lease of {name}", has_inverse=False))
    return steps
