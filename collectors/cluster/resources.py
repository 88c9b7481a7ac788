"""GPU counts, exactly as in the scheduler. Pure.

Source: kubernetes/component-helpers `resource/helpers.go` (PodRequests): the sum over containers and sidecars, or the
peak of the init phase if that is more, plus the pod's overhead.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType

from collectors.cluster.base import Quantities, Quantity
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.objects import Container, Node, Pod
from collectors.cluster.pods import PodSpec
from collectors.facts.sentences import sentence

_NO_DEVICES: Mapping[str, tuple[int, int]] = MappingProxyType({})
_NONE_CORDONED: Mapping[str, int] = MappingProxyType({})
_FINISHED = ("Succeeded", "Failed")
_COVERED_TAINTS = (  # by the cordon and the Ready condition
    "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
)
_SUFFIXES = {
    "": 1.0,
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
    "Pi": 2**50,
    "Ei": 2**60,
}
_QUANTITY = re.compile(r"^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|(n|u|m|k|[MGTPE]i?|Ki))?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuResource:
    """A name, or a pattern of names, of a GPU resource. `units` of it are one device or one slice."""

    pattern: str
    units: float = 1
    is_slice: bool = False  # a part of a device: never added to whole devices


GPU_RESOURCES: tuple[GpuResource, ...] = (
    GpuResource(pattern="nvidia.com/gpu"),
    GpuResource(pattern="nvidia.com/gpu.shared", is_slice=True),
    GpuResource(pattern="nvidia.com/mig-*", is_slice=True),
    GpuResource(pattern="amd.com/gpu"),
    GpuResource(pattern="tencent.com/vcuda-core", units=100),
    GpuResource(pattern="volcano.sh/vgpu-number", is_slice=True),
    GpuResource(pattern="koordinator.sh/gpu", units=100),
)
# Further vendors call a device by one of these words, or by a name with a number: `huawei.com/Ascend910`,
# `gpu.intel.com/i915`, `nvidia.com/gpu-a100` after a renaming. Amounts of memory or of cores are not devices.
_DEVICE = re.compile(r"(?:gpu|npu|dcu|mlu|tpu|xpu|hpu|gcu|gaudi|ascend|neuron|i915|xe)[0-9]*[a-z]?")
_NO_DEVICE = re.compile(r".*(?:mem|core|percent|ratio|monitoring|count|number).*")
_SHARE = frozenset({"shared", "share", "slice", "mig"})


@lru_cache(maxsize=1024)
def parse_quantity(text: Quantity) -> float:
    """Parse a Kubernetes quantity: `2`, `500m`, `64Gi`, `1e3`. Raises ValueError that names the text."""
    if not isinstance(text, str):
        return float(text)
    if shape := _QUANTITY.match(text):
        number, exponent, suffix = shape.groups()
        return float(number + (exponent or "")) * _SUFFIXES[suffix or ""]
    raise ValueError(sentence("`{text}` is not a quantity: write it like 2, 500m or 64Gi", text=text))


def nvidia_gpus(capacity: Mapping[str, Quantity]) -> float:
    """Return a node's NVIDIA GPUs, whole ones and slices."""
    found = (str(count) for name, count in capacity.items() if name.startswith("nvidia.com/"))
    return sum(float(count) for count in found if count.isdigit())


@lru_cache(maxsize=1024)
def gpu_resource(name: str) -> GpuResource | None:
    """Return the GPU resource of a name; None when it is not a GPU resource."""
    return next((one for one in GPU_RESOURCES if fnmatchcase(name, one.pattern)), None) or _foreign_device(
        name
    )


def _foreign_device(name: str) -> GpuResource | None:
    domain, _, resource = name.rpartition("/")
    if not domain:  # what a driver of dynamic resource allocation gives: `gpu.nvidia.com`, `mig.nvidia.com`
        resource, _, domain = name.partition(".")
        if resource in _SHARE and domain:
            return GpuResource(pattern=name, is_slice=True)
    words = re.split(r"[-._]", resource.lower())
    if not domain or domain.endswith("kubernetes.io") or any(map(_NO_DEVICE.fullmatch, words)):
        return None
    if _DEVICE.fullmatch(words[0]) is None:
        return None
    return GpuResource(pattern=name, is_slice=not _SHARE.isdisjoint(words))


def requested(spec: PodSpec, resource: str) -> float:
    """Return how much of a resource a pod with this spec takes from its node, in the resource's own unit."""
    running = sum(_request(one, resource) for one in spec.containers or ())
    sidecars = peak = 0.0
    for one in spec.init_containers or ():
        request = _request(one, resource)
        if one.restart_policy == "Always":  # a sidecar: it keeps running
            running += request
            sidecars += request
            peak = max(peak, sidecars)
        else:
            peak = max(peak, sidecars + request)
    return max(running, peak) + _of(spec.overhead, resource)


def gpus_requested(spec: PodSpec) -> dict[str, float]:
    """Return the GPUs (or slices) that a pod takes, by resource name; empty for a pod without any."""
    names = {
        name
        for one in (*(spec.containers or ()), *(spec.init_containers or ()))
        for quantities in (one.resources.requests, one.resources.limits)
        for name in quantities or ()
    }
    found: dict[str, float] = {}
    for name in sorted(names):
        if (gpu := gpu_resource(name)) and (count := requested(spec, name)):
            found[name] = count / gpu.units
    return found


def holds_resources(pod: Pod) -> bool:
    """Whether the pod holds what it requested. A terminating pod does, until it is gone."""
    return pod.status.phase not in _FINISHED


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuCounts:
    """One GPU resource on one node, in devices or slices."""

    capacity: float
    allocatable: float
    requested: float
    reserved: float  # for pods nominated for this node by preemption
    cordoned: float = 0  # of those that pods cannot get: what somebody keeps them off

    @property
    def free(self) -> float:
        """What a new pod could request: none while pods hold GPUs that are out of service."""
        return max(0.0, _exact(self.allocatable - self.requested))

    @property
    def unhealthy(self) -> float:
        """What the device plugin no longer advertises, or a driver taints."""
        return _exact(self.capacity - self.allocatable - self.cordoned)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGpus:
    """The GPUs of a node by resource name; different resources are never added up."""

    node: str
    counts: Mapping[str, GpuCounts]
    unusable_reason: tuple[str, ...] = ()  # what keeps new pods off this node

    @property
    def usable(self) -> bool:
        return not self.unusable_reason


def gpus_out_of_service(node: Node) -> dict[str, GpuCounts]:
    """Return the counts of the GPU resources whose allocatable is below their capacity. Its pods are not counted."""
    return {name: counts for name, counts in node_gpus(node, (), ()).counts.items() if counts.unhealthy > 0}


def node_gpus(
    node: Node,
    held: Sequence[Mapping[str, float]],
    nominated: Sequence[Mapping[str, float]],
    devices: Mapping[str, tuple[int, int]] = _NO_DEVICES,
    cordoned: Mapping[str, int] = _NONE_CORDONED,
) -> NodeGpus:
    """Count the GPUs of a node. `held` has what each pod there holds, `nominated` what those want that will come.

    `devices` are those of drivers of dynamic resource allocation: how many, and how many of them take pods. They count
    where no device plugin has any. `cordoned` are those of them that somebody keeps pods off.
    """
    counted = {
        name: (_devices(node.status.capacity, name), _devices(node.status.allocatable, name))
        for name in node.status.capacity or {}
        if gpu_resource(name)
    }
    by_drivers = not any(capacity for capacity, _ in counted.values())
    if by_drivers:
        counted.update(devices)
    shares = {
        name: GpuCounts(
            capacity=capacity,
            allocatable=allocatable,
            requested=_exact(sum(one.get(name, 0) for one in held)),
            reserved=_exact(sum(one.get(name, 0) for one in nominated)),
            cordoned=cordoned.get(name, 0) if by_drivers else 0,
        )
        for name, (capacity, allocatable) in counted.items()
    }
    return NodeGpus(node=node.metadata.name, counts=shares, unusable_reason=tuple(_unusable_reasons(node)))


def gpu_resources_of(node: Node) -> tuple[str, ...]:
    """Return the GPU resources of a node that it has some of."""
    return tuple(
        name
        for name in node.status.capacity or {}
        if gpu_resource(name) and _devices(node.status.capacity, name)
    )


def whole_gpus(node: Node) -> int:
    """Return the physical GPUs of a healthy node; with slices or sharing, as labelled by GPU feature discovery."""
    labels = node.metadata.labels or {}
    counted = labels.get("nvidia.com/gpu.count", "")
    names = [name for name in node.status.capacity or {} if gpu_resource(name)]
    is_cut = any((gpu := gpu_resource(name)) and gpu.is_slice for name in names)
    is_shared = labels.get("nvidia.com/gpu.replicas", "1") not in ("", "0", "1")
    if counted.isdigit() and (is_cut or is_shared):
        return int(counted)
    whole = (name for name in names if (gpu := gpu_resource(name)) and not gpu.is_slice)
    return round(sum(_devices(node.status.capacity, name) for name in whole))


def _unusable_reasons(node: Node) -> list[str]:
    reasons: list[str] = []
    if node.spec.unschedulable:
        reasons.append(sentence("cordoned"))
    if is_node_ready(node) is not True:
        reasons.append(sentence("not ready"))
    for taint in node.spec.taints or ():
        is_covered = taint.key in _COVERED_TAINTS
        is_for_gpus = gpu_resource(taint.key) is not None  # trainings tolerate it
        if taint.effect in ("NoSchedule", "NoExecute") and not is_for_gpus and not is_covered:
            reasons.append(sentence("tainted {taint}:{effect}", taint=taint.key, effect=taint.effect))
    return reasons


def _request(one: Container, resource: str) -> float:
    return _of(one.resources.requests, resource) or _of(one.resources.limits, resource)


def _of(quantities: Quantities | None, resource: str) -> float:
    return parse_quantity(quantities[resource]) if quantities and resource in quantities else 0.0


def _exact(count: float) -> float:
    """Return the count without what floats add: shares of devices are hundredths, and 0.04 - 0.03 is not 0.01."""
    return round(count, 6)


def _devices(quantities: Quantities | None, resource: str) -> float:
    gpu = gpu_resource(resource)
    return _of(quantities, resource) / (gpu.units if gpu else 1)
