"""The pods that have a device, as the API server has them."""

from collections.abc import Mapping
from typing import Any

from collectors.cluster.gpu_devices import GpuDevice
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import RESOURCE_CLAIMS
from commands.core.context import CommandContext
from commands.core.lookups import reader_of
from commands.execution.object_refs import ObjectRef


async def pods_of_device(
    device: GpuDevice, inventory: Inventory, context: CommandContext
) -> list[Mapping[str, Any]]:
    """Return the pods whose claims were given the device, as the API server has them."""
    names = {
        (claim.metadata.namespace, user.name)
        for claim in inventory.all(RESOURCE_CLAIMS).values()
        if claim.status.allocation is not None
        for one in claim.status.allocation.devices.results or ()
        if (one.driver, one.pool, one.device) == (device.driver, device.pool, device.name)
        and not one.admin_access
        for user in claim.status.reserved_for or ()
        if user.resource == "pods"
    }
    reader = reader_of(context)
    found = [
        await reader.read(ObjectRef(api="v1", kind="Pod", namespace=namespace, name=name))
        for namespace, name in sorted(names)
    ]
    return [pod for pod in found if pod is not None]
