"""Rules that taint GPUs, as the API server has them, and their leases."""

from collections.abc import Sequence

import msgspec

from collectors.cluster.devices import DeviceTaintRule
from collectors.cluster.gpu_devices import GpuDevice
from collectors.cluster.objects import Node
from collectors.facts.results import SourceError
from commands.core.context import CommandContext
from commands.core.cordoned_gpus import RULE_KIND, VERSIONS, CordonedGpu
from commands.core.lookups import reader_of
from commands.execution.object_refs import ObjectRef, ref_of
from commands.gpu.named_gpu import no_rules
from commands.models import GpuLease


async def rules_of(node: Node, context: CommandContext) -> tuple[str, Sequence[DeviceTaintRule]]:
    """Return the rules as the API server has them, and the newest version in which it serves them."""
    reader = reader_of(context)
    for api in VERSIONS:
        try:
            found = await reader.listing(ObjectRef(api=api, kind=RULE_KIND, name=""))
        except SourceError as error:
            if error.status != 404:
                raise
            continue
        return api, [msgspec.convert(one, DeviceTaintRule) for one in found]
    raise no_rules(node, context)


def standing_rule(device: GpuDevice, rules: Sequence[DeviceTaintRule]) -> CordonedGpu | None:
    """Return the rule that keeps pods off the device: ours, if there is one."""
    found = [CordonedGpu(device=device, rule=rule) for rule in rules if device.is_tainted_by(rule)]
    return min(found, key=lambda one: not one.is_ours, default=None)


def ref_of_rule(rule: DeviceTaintRule, api: str) -> ObjectRef:
    found = ref_of({"apiVersion": api, "kind": RULE_KIND, "metadata": {"name": rule.metadata.name}})
    return msgspec.structs.replace(found, uid=rule.metadata.uid)


async def lease_of_gpu(device: GpuDevice, node: str, context: CommandContext) -> GpuLease | None:
    async with context.store.read() as snapshot:
        return await snapshot.rows(GpuLease).get(f"{context.cluster.name}/{node}/{device.name}")


async def lease_named(node: str, gpu: str, context: CommandContext) -> GpuLease | None:
    """Return the lease that names the GPU as the line does: it is there also when its device is not listed."""
    async with context.store.read() as snapshot:
        found = await snapshot.rows(GpuLease).find(cluster=context.cluster.name, node=node)
    return next((one for one in found if gpu in (one.gpu, one.device)), None)
