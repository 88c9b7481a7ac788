"""`gpu cordon`: one GPU is kept from pods by a rule that taints its device, as a lease."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from collectors.cluster.gpu_devices import GpuDevice, listed_devices
from collectors.cluster.indexes import by_node_of_slice
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import RESOURCE_SLICES
from collectors.cluster.objects import Node
from collectors.facts.sentences import counted, listed, sentence
from commands.core.command import Command, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.drain_pods import AT_ONCE, disruptions_of, eviction_of, pod_name, why_stays
from commands.core.lookups import read_node
from commands.core.parameters import (
    GPU_ARGUMENT,
    NODE_ARGUMENT,
    ask_owners_option,
    lasting_option,
    reason_option,
)
from commands.core.pricing import stakes_of
from commands.execution.plan import Stage, in_order
from commands.execution.rights import Right
from commands.execution.steps import Create, Delete, Evict, Patch
from commands.gpu.cordon_gpu_steps import CordonGpu, extended_cordon, gpu_lease_step, rule_step
from commands.gpu.device_pods import pods_of_device
from commands.gpu.gpu_rules import rules_of, standing_rule
from commands.gpu.named_gpu import named_gpu

_NAMED = 8


async def cordon_one(action: CordonGpu, context: CommandContext) -> PlanDraft:
    """Plan a rule that keeps new pods off the GPU, and the eviction of the pods that have it now."""
    node, inventory = await read_node(action.node, context), context.cluster.inventory()
    device = await named_gpu(action.gpu, node, inventory, context)
    api, rules = await rules_of(node, context)
    _refuse_slices(device, node, inventory)
    lasting = action.lasting if action.lasting is not None else context.defaults.cordon_for
    standing = standing_rule(device, rules)
    if standing is not None and (not standing.is_ours or action.lasting is None):
        said = sentence(
            "GPU {gpu} of {node} is already cordoned, by the DeviceTaintRule `{rule}` of {who}.",
            gpu=action.gpu,
            node=action.node,
            rule=standing.rule.metadata.name,
            who=standing.by or sentence("someone else"),
        )
        return PlanDraft.nothing(said)
    if standing is not None:
        return await extended_cordon(action, device, standing, api, lasting, context)
    pods = [pod for pod in await pods_of_device(device, inventory, context) if not why_stays(pod)]
    disrupts = disruptions_of(pods, context.cluster.topology())
    create = rule_step(action, node, device, api, lasting, context)
    evictions = (Stage(steps=tuple(map(eviction_of, pods)), at_once=AT_ONCE),) if pods else ()
    return PlanDraft(
        title=sentence("Cordon GPU {gpu} of {node}", gpu=action.gpu, node=action.node),
        stages=(*in_order(create, gpu_lease_step(action, device, create, lasting, context)), *evictions),
        disrupts=disrupts,
        stakes=await stakes_of(disrupts, context),
        ask_owners=action.ask_owners,
        decided=(
            sentence(
                "device {device} of pool {pool}, on node {node} with uid {uid}",
                device=device.name,
                pool=device.pool,
                node=action.node,
                uid=node.metadata.uid,
            ),
        ),
        notes=tuple(_notes(device, pods, lasting)),
    )


def _refuse_slices(device: GpuDevice, node: Node, inventory: Inventory) -> None:
    slices = inventory.select(RESOURCE_SLICES, by_node_of_slice, node.metadata.name)
    if device.is_cut(listed_devices(slices)):
        raise UnusableError(
            sentence(
                "GPU {gpu} of {node} is cut into slices, and a taint of the GPU does not keep pods off them: "
                "`node cordon {node}` does.",
                gpu=device.name,
                node=node.metadata.name,
            )
        )


def _notes(device: GpuDevice, pods: Sequence[Mapping[str, Any]], lasting: timedelta) -> list[str]:
    notes: list[str] = []
    if pods:
        notes.append(
            counted(
                "{count} pod has it and is evicted: {pods}.",
                "{count} pods have it and are evicted: {pods}.",
                count=len(pods),
                pods=listed(map(pod_name, pods), most=_NAMED),
            )
        )
    if device.device.taints:
        notes.append(
            sentence(
                "Its driver taints it as well: {taints}.",
                taints=listed(f"{one.key}:{one.effect}" for one in device.device.taints),
            )
        )
    notes.append(sentence("The other GPUs of the node take pods."))
    notes.append(
        sentence(
            "The lease ends in {lasting} with a reminder; only `gpu uncordon` lifts the cordon.",
            lasting=lasting,
        )
    )
    return notes


_GROUP, _PLURAL = "resource.k8s.io", "devicetaintrules"

CORDON = Command(
    noun="gpu",
    verb="cordon",
    summary="Keep pods off one GPU of a node, where GPUs are given by dynamic resource allocation.",
    action=CordonGpu,
    parameters=(
        NODE_ARGUMENT,
        GPU_ARGUMENT,
        reason_option("why, shown with the cordon"),
        lasting_option("how long the lease lasts; default: 4h, or the settings"),
        ask_owners_option(),
    ),
    plan=cordon_one,
    rights=(
        *Create.rights(_GROUP, _PLURAL),
        *Patch.rights(_GROUP, _PLURAL),
        *Delete.rights(_GROUP, _PLURAL),  # of an undo
        *Evict.rights("", "pods"),
        Right(group=_GROUP, resources=(_PLURAL,), verbs=("list",)),
    ),
    example='gpu cordon gpu-a04 3 --reason "throttles"',
    details=(
        "GPU is the index that nvidia-smi shows, the UUID, or the device name. A DeviceTaintRule keeps new pods off "
        "the GPU, and pods that hold it are evicted as their disruption budgets allow. The other GPUs of the node are "
        "not affected. Where a device plugin provides the GPUs, a single one cannot be taken out: `node cordon` is "
        "suggested instead."
    ),
)
