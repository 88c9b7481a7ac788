"""Refusals of repairs: each is about what must hold on a node first, as the API server has it. Raises UnusableError."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import msgspec

from collectors.cluster.objects import Node, Pod
from collectors.cluster.resources import nvidia_gpus
from collectors.facts.sentences import as_code, listed, sentence
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import reader_of
from commands.core.node_script import Repair
from commands.execution.object_refs import ObjectRef
from commands.node.repair.repair_list import NEEDS_CORDON, NEEDS_IDLE, NEEDS_PAUSE

CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
# DaemonSets that hold a GPU open, and the label by which NVIDIA's GPU operator takes each off a node.
HOLDERS = {
    "*dcgm-exporter*": "nvidia.com/gpu.deploy.dcgm-exporter",
    "*device-plugin*": "nvidia.com/gpu.deploy.device-plugin",
    "*dcgm*": "nvidia.com/gpu.deploy.dcgm",
}
_NVIDIA = "nvidia.com/"
_NAMED = 6
_ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A pod of a node agent that has its GPUs open. `label`: by which the GPU operator takes it off the node."""

    pod: Pod
    label: str = ""


def refuse_node(node: Node, repair: Repair) -> None:
    """Refuse a node on which the repair has no place, or on which no Job starts."""
    name = node.metadata.name
    refuse_control_plane(node)
    ready = next((one for one in node.status.conditions or () if one.type == "Ready"), None)
    if ready is not None and ready.status == "Unknown":
        raise UnusableError(
            sentence(
                "The kubelet of {node} does not answer, so no Job starts there. "
                "`node reboot {node}` asks for a reboot.",
                node=name,
            )
        )
    if repair.is_for_gpus and not _has_nvidia(node):
        raise UnusableError(
            sentence("{node} has no NVIDIA GPUs, which `{repair}` is for.", node=name, repair=repair.name)
        )
    if NEEDS_CORDON in repair.needs and not node.spec.unschedulable:
        raise UnusableError(
            sentence(
                "`{repair}` needs {node} to be cordoned, so that nothing new starts there meanwhile: "
                "`node cordon {node}`.",
                repair=repair.name,
                node=name,
            )
        )


def refuse_control_plane(node: Node) -> None:
    """Refuse a node of the control plane: it is repaired by hand."""
    if any(label in (node.metadata.labels or {}) for label in CONTROL_PLANE):
        raise UnusableError(
            sentence(
                "{node} is a node of the control plane: Yardmaster changes nothing there.",
                node=node.metadata.name,
            )
        )


async def pods_of(node: Node, context: CommandContext) -> list[Pod]:
    """Return the pods on the node that have not ended, as the API server has them. Raises SourceError."""
    fields = f"spec.nodeName={node.metadata.name}"
    found = await reader_of(context).listing(ObjectRef(api="v1", kind="Pod", name=""), fields=fields)
    pods = [msgspec.convert(one, Pod) for one in found]
    return [pod for pod in pods if pod.status.phase not in _ENDED]


def refuse_busy(node: Node, pods: Sequence[Pod], repair: Repair, context: CommandContext) -> None:
    """Refuse a node of which a pod has GPUs, where the repair needs them idle."""
    if NEEDS_IDLE not in repair.needs:
        return
    inventory = context.cluster.inventory()
    busy = [_name(pod) for pod in pods if inventory.gpus_of(pod)]
    if busy:
        raise UnusableError(
            sentence(
                "`{repair}` needs the GPUs of {node} to be idle, and these pods have some: {pods}. "
                "`node drain {node}` evicts them.",
                repair=repair.name,
                node=node.metadata.name,
                pods=listed(busy, most=_NAMED),
            )
        )


def holders(node: Node, pods: Sequence[Pod], repair: Repair) -> list[Holder]:
    """Return the agents that must be stopped first. Raises UnusableError if nothing here can stop one of them."""
    if NEEDS_PAUSE not in repair.needs:
        return []
    labels = node.metadata.labels or {}
    found: list[Holder] = []
    for pod in pods:
        owner = _daemon_set(pod)
        label = next((label for pattern, label in HOLDERS.items() if fnmatchcase(owner, pattern)), "")
        if label:
            found.append(Holder(pod=pod, label=label if labels.get(label) == "true" else ""))
    by_hand = [_name(one.pod) for one in found if not one.label]
    if by_hand:
        raise UnusableError(
            sentence(
                "`{repair}` needs these pods to be stopped first, as they have the GPUs of {node} open: {pods}. "
                "Nothing here can stop them: the node has no label of NVIDIA's GPU operator ({labels}).",
                repair=repair.name,
                node=node.metadata.name,
                pods=listed(by_hand, most=_NAMED),
                labels=as_code(dict.fromkeys(HOLDERS.values())),
            )
        )
    return found


def _has_nvidia(node: Node) -> bool:
    """Whether the node has NVIDIA GPUs, or is said to: a device plugin that is down counts none."""
    if nvidia_gpus(node.status.capacity or {}):
        return True
    names = (*(node.metadata.labels or {}), *(node.status.capacity or {}))
    return any(name.startswith(_NVIDIA) for name in names)


def _daemon_set(pod: Pod) -> str:
    owners = pod.metadata.owner_references or ()
    return next((one.name for one in owners if one.controller and one.kind == "DaemonSet"), "")


def _name(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"
