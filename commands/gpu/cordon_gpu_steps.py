"""The steps and the lease of a cordon of one GPU."""

from dataclasses import dataclass, replace
from datetime import timedelta

from collectors.cluster.gpu_devices import GpuDevice
from collectors.cluster.objects import Node
from collectors.facts.sentences import sentence
from commands.core.command import PlanDraft
from commands.core.context import CommandContext
from commands.core.cordoned_gpus import CORDON_TAINT, GPU, RULE_KIND, CordonedGpu
from commands.core.cordoned_nodes import AT, BY, CORDON_INCIDENT, REASON, UNTIL
from commands.execution.object_state import ObjectState
from commands.execution.plan import in_order
from commands.execution.preconditions import Precondition
from commands.execution.record_steps import record
from commands.execution.steps import Create, Patch, Record
from commands.gpu.gpu_rules import lease_of_gpu, ref_of_rule
from commands.models import GpuLease

_LONGEST_NAME = 253


@dataclass(frozen=True, slots=True, kw_only=True)
class CordonGpu:
    node: str
    gpu: str
    reason: str
    lasting: timedelta | None
    ask_owners: bool = False


def rule_step(
    action: CordonGpu,
    node: Node,
    device: GpuDevice,
    api: str,
    lasting: timedelta,
    context: CommandContext,
) -> Create:
    name = f"yardmaster-{node.metadata.name}-{device.name}"[:_LONGEST_NAME].rstrip("-.")
    annotations = {
        BY: context.actor.name,
        AT: f"{context.now:%Y-%m-%dT%H:%M:%SZ}",
        UNTIL: f"{context.now + lasting:%Y-%m-%dT%H:%M:%SZ}",
        REASON: action.reason,
        CORDON_INCIDENT: context.origin.incident,
        GPU: action.gpu,
    }
    return Create(
        manifest={
            "apiVersion": api,
            "kind": RULE_KIND,
            "metadata": {"name": name, "annotations": {key: one for key, one in annotations.items() if one}},
            "spec": {
                "deviceSelector": {"driver": device.driver, "pool": device.pool, "device": device.name},
                "taint": {"key": CORDON_TAINT, "effect": "NoSchedule"},
            },
        },
        description=sentence(
            "keep new pods off GPU {gpu} of {node}, by a taint of its device `{device}`",
            gpu=action.gpu,
            node=action.node,
            device=device.name,
        ),
    )


def gpu_lease_step(
    action: CordonGpu, device: GpuDevice, create: Create, lasting: timedelta, context: CommandContext
) -> Record:
    lease = GpuLease(
        id=f"{context.cluster.name}/{action.node}/{device.name}",
        cluster=context.cluster.name,
        node=action.node,
        device=device.name,
        gpu=action.gpu,
        rule=create.ref.name,
        owner=context.actor.person,
        owner_name=context.actor.name,
        reason=action.reason,
        since=context.now,
        until=context.now + lasting,
        incident=context.origin.incident,
    )
    by = Precondition(path=("metadata", "annotations", BY), equals=context.actor.name)
    return record(
        "gpu_leases",
        lease,
        text=_lease_text(lease),
        undo_text=sentence("end the lease of GPU {gpu} of {node}", gpu=lease.gpu, node=lease.node),
        about=(ObjectState(ref=create.ref, requires=(by,)),),
        about_undone=(ObjectState(ref=create.ref, is_gone=True),),
    )


def _lease_text(lease: GpuLease) -> str:
    return sentence(
        "record the cordon of GPU {gpu} of {node} until {until}, and remind {owner} then",
        gpu=lease.gpu,
        node=lease.node,
        until=lease.until,
        owner=lease.owner_name,
    )


async def extended_cordon(
    action: CordonGpu,
    device: GpuDevice,
    standing: CordonedGpu,
    api: str,
    lasting: timedelta,
    context: CommandContext,
) -> PlanDraft:
    """Plan another end of our cordon. It stays its owner's; the undo restores the end it had."""
    ref, until = ref_of_rule(standing.rule, api), context.now + lasting
    before = (standing.rule.metadata.annotations or {}).get(UNTIL)
    written = f"{until:%Y-%m-%dT%H:%M:%SZ}"
    patch = Patch(
        ref=ref,
        description=sentence(
            "keep GPU {gpu} of {node} cordoned until {until}", gpu=action.gpu, node=action.node, until=until
        ),
        body={"metadata": {"annotations": {UNTIL: written}}},
        requires=(Precondition(path=("metadata", "annotations", BY), equals=standing.by),),
        undo={"metadata": {"annotations": {UNTIL: before}}},
        undo_text=sentence("let its cordon end when it did before"),
    )
    steps: list[Patch | Record] = [patch]
    if (lease := await lease_of_gpu(device, action.node, context)) is not None:
        longer = replace(lease, until=until, reminded_at=None)
        state = ObjectState(
            ref=ref, requires=(Precondition(path=("metadata", "annotations", UNTIL), equals=written),)
        )
        was = ObjectState(
            ref=ref, requires=(Precondition(path=("metadata", "annotations", UNTIL), equals=before),)
        )
        steps.append(
            record(
                "gpu_leases",
                longer,
                text=_lease_text(longer),
                before=lease,
                undo_text=_lease_text(lease),
                about=(state,),
                about_undone=(was,),
            )
        )
    title = sentence("Extend the cordon of GPU {gpu} of {node}", gpu=action.gpu, node=action.node)
    return PlanDraft(title=title, stages=in_order(*steps))
