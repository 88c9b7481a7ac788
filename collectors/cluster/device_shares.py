"""The shares of a node's GPUs: how much of each device is free, where pods may take a part of one. Pure.

A request of a whole device needs one of which nobody has a share, and a share needs room on one device: the sum over
the node says neither. Which devices a pod has is written in annotations by the programs that assign them: gpu-manager
and Koordinator. A share whose device is not known is taken to be where it spoils most, so that nothing is promised
wrongly.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from collectors.cluster.objects import Node, Pod
from collectors.cluster.resources import gpu_resource, parse_quantity, requested

Shares = tuple[float, ...]  # the free units of each device

_GPU_MANAGER: Final = "tencent.com/predicate-gpu-idx-"  # and the container's number: "0", or "0,3"
_KOORDINATOR: Final = "scheduling.koordinator.sh/device-allocated"
_EPSILON: Final = 1e-9  # quantities are floats


class _Allocated(msgspec.Struct):
    minor: int


class _DeviceAllocations(msgspec.Struct):
    gpu: tuple[_Allocated, ...] = ()


def free_shares(node: Node, pods: Iterable[Pod], resource: str) -> Shares | None:
    """Return how much of each device the pods leave; None for a resource that is never a part of a device."""
    meaning = gpu_resource(resource)
    allocatable = (node.status.allocatable or {}).get(resource)
    if meaning is None or meaning.units == 1 or allocatable is None:
        return None
    free = [meaning.units] * int(parse_quantity(allocatable) // meaning.units)
    unplaced: list[float] = []
    for pod in pods:
        taken = requested(pod.spec, resource)
        devices = [index for index in _devices(pod) if index < len(free)]
        for index in devices:
            free[index] -= taken / len(devices)
        if not devices and taken:
            unplaced.append(taken)
    for taken in unplaced:
        while taken > _EPSILON and free and max(free) > _EPSILON:
            index = free.index(max(free))
            part = min(taken, free[index], meaning.units)
            free[index] -= part
            taken -= part
    return tuple(max(0.0, one) for one in free)


def times_it_fits(shares: Sequence[float], amount: float, units: float) -> int:
    """Return how many requests of this amount fit; a device has so many units."""
    if amount < units:
        return sum(int((free + _EPSILON) // amount) for free in shares)
    devices, rest = divmod(amount, units)
    whole = sum(free >= units - _EPSILON for free in shares)
    return 0 if rest > _EPSILON else int(whole // devices)


def after(shares: Sequence[float], amount: float, units: float, times: int) -> Shares:
    """Return the shares after so many requests that fit: each on the fullest device that has room."""
    left = list(shares)
    for _ in range(times):
        if amount < units:
            index = min(
                (one for one, free in enumerate(left) if free + _EPSILON >= amount), key=left.__getitem__
            )
            left[index] -= amount
        else:
            whole = [one for one, free in enumerate(left) if free >= units - _EPSILON]
            for index in whole[: int(amount // units)]:
                left[index] = 0.0
    return tuple(left)


def _devices(pod: Pod) -> list[int]:
    """Return the numbers of the devices that were assigned to a pod, as far as they are known."""
    annotations: Mapping[str, str] = pod.metadata.annotations or {}
    if allocated := annotations.get(_KOORDINATOR):
        try:
            return [one.minor for one in msgspec.json.decode(allocated, type=_DeviceAllocations).gpu]
        except msgspec.DecodeError:
            return []
    numbers = [
        number.strip()
        for name, value in annotations.items()
        if name.startswith(_GPU_MANAGER)
        for number in value.split(",")
    ]
    return [int(number) for number in numbers if number.isascii() and number.isdigit()]
