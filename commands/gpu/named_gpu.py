"""The GPU of a node that a line names: which device it is, by what its driver and its exporter say."""

import re

from alerts.cards.message import Button, Buttons
from collectors.cluster.gpu_devices import GpuDevice
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.label_mapping import subject_of
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Seen
from collectors.facts.sentences import as_code, sentence
from commands.core.command import UnusableError
from commands.core.context import CommandContext

_UUIDS = "max by (Hostname, gpu, UUID) (DCGM_FI_DEV_GPU_TEMP)"
_INDEX = re.compile(r"[0-9]{1,3}")
_NAMED = 16


async def named_gpu(gpu: str, node: Node, inventory: Inventory, context: CommandContext) -> GpuDevice:
    """Return the device: by its name, by its UUID, or by its index as nvidia-smi counts.

    A driver that names its devices by their minor numbers says no index: then the exporter's UUID of that index is
    looked up. Raises UnusableError where nothing says for sure which device it is.
    """
    name = node.metadata.name
    devices = inventory.whole_gpus_on(name)
    if not devices:
        raise not_by_claims(node, context)
    exact = [one for one in devices if gpu in (one.name, one.uuid)]
    exact = exact or [one for one in devices if _INDEX.fullmatch(gpu) and one.index == int(gpu)]
    if not exact and _INDEX.fullmatch(gpu) and all(one.index is None for one in devices):
        uuid = await _uuid_of(gpu, name, context)
        exact = [one for one in devices if uuid and one.uuid == uuid]
    if len(exact) == 1:
        return exact[0]
    raise UnusableError(
        sentence(
            "It is not known which device GPU `{gpu}` of {node} is: name one of its devices, {devices}. "
            "`nvidia-smi -L` shows the UUID of each index.",
            gpu=gpu[:60],
            node=name,
            devices=as_code(sorted(one.name for one in devices)[:_NAMED]),
        )
    )


def not_by_claims(node: Node, context: CommandContext) -> UnusableError:
    """Return the answer for a node whose GPUs no driver lists: a device plugin cannot keep one back."""
    return _offering_the_node(
        sentence(
            "No driver of dynamic resource allocation lists the GPUs of {node}, and a device plugin cannot keep one of "
            "them back: `node cordon {node}` keeps pods off all of them, and `node accept {node}` then tests them.",
            node=node.metadata.name,
        ),
        node,
        context,
    )


def no_rules(node: Node, context: CommandContext) -> UnusableError:
    """Return the answer for a cluster that has no rules by which devices are tainted."""
    return _offering_the_node(
        sentence(
            "The API server serves no DeviceTaintRule: it needs the feature gate `DRADeviceTaintRules` and "
            "`resource.k8s.io/v1beta2`. `node cordon {node}` keeps pods off all GPUs of {node}, and "
            "`node accept {node}` then tests them.",
            node=node.metadata.name,
        ),
        node,
        context,
    )


def _offering_the_node(said: str, node: Node, context: CommandContext) -> UnusableError:
    if not context.may.get("node cordon", False) or node.spec.unschedulable:
        return UnusableError(said)
    label = sentence("Cordon {node}", node=node.metadata.name)
    button = Button(label=label, line=f"node cordon {node.metadata.name}")
    return UnusableError(said, blocks=(Buttons(buttons=(button,)),))


async def _uuid_of(gpu: str, node: str, context: CommandContext) -> str:
    """Return the UUID of the GPU with this index, as the exporter says; empty where it does not say one."""
    seen = await context.cluster.query(PromQLQuery(expr=_UUIDS), at=context.now)
    if not isinstance(seen, Seen):
        return ""
    topology = context.cluster.topology()
    subjects = (
        (one.labels.get("UUID", ""), topology.complete(subject_of(one.labels))) for one in seen.samples
    )
    found = {uuid for uuid, subject in subjects if subject.node == node and subject.gpu == gpu}
    return found.pop() if len(found) == 1 else ""
