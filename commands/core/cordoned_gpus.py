"""Cordons of single GPUs: rules that taint a device of dynamic resource allocation. Pure.

Source: KEP-5055. A taint with NoSchedule keeps new claims off the device; what uses it goes on.
"""

from dataclasses import dataclass

from collectors.cluster.devices import DeviceTaintRule
from collectors.cluster.gpu_devices import GpuDevice
from collectors.cluster.inventory import Inventory
from collectors.facts.one_line import NAME, one_line
from collectors.facts.sentences import sentence
from commands.core.cordoned_nodes import BY, REASON

CORDON_TAINT = "yardmaster.io/cordoned"
GPU = "yardmaster.io/gpu"  # annotation: the GPU as it was named
VERSIONS = ("resource.k8s.io/v1beta2", "resource.k8s.io/v1alpha3")
RULE_KIND = "DeviceTaintRule"


@dataclass(frozen=True, slots=True, kw_only=True)
class CordonedGpu:
    """A GPU that a rule keeps pods off. `by` is empty where it is not ours."""

    device: GpuDevice
    rule: DeviceTaintRule

    @property
    def by(self) -> str:
        return one_line((self.rule.metadata.annotations or {}).get(BY, ""), NAME)

    @property
    def is_ours(self) -> bool:
        return bool(self.by)

    @property
    def gpu(self) -> str:
        """The GPU as people name it."""
        written = (self.rule.metadata.annotations or {}).get(GPU, "")
        return one_line(written, NAME) or name_of_device(self.device)

    @property
    def text(self) -> str:
        """`GPU 3 cordoned by dana: hot`."""
        who = self.by or sentence("someone else")
        if reason := one_line((self.rule.metadata.annotations or {}).get(REASON, ""), NAME):
            return sentence("GPU {gpu} cordoned by {who}: {reason}", gpu=self.gpu, who=who, reason=reason)
        return sentence("GPU {gpu} cordoned by {who}", gpu=self.gpu, who=who)


def name_of_device(device: GpuDevice) -> str:
    """Return how people name the GPU: by its index, or by its device where its driver gives no index."""
    return str(device.index) if device.index is not None else device.name


def cordoned_gpus(inventory: Inventory, node: str) -> tuple[CordonedGpu, ...]:
    """Return the whole GPUs of a node that rules keep pods off; ours before those of others."""
    rules = inventory.device_taint_rules
    found = [
        CordonedGpu(device=one, rule=rule)
        for one in (inventory.whole_gpus_on(node) if rules else ())
        for rule in rules
        if one.is_tainted_by(rule)
    ]
    return tuple(sorted(found, key=lambda one: (one.device.name, not one.is_ours, one.rule.metadata.name)))
