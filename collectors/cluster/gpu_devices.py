"""GPUs that drivers of dynamic resource allocation list for a node, and the rules that taint them. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from collectors.cluster.devices import Device, DeviceTaintRule, ResourceSlice
from collectors.cluster.resources import gpu_resource

SLICES = frozenset({"mig"})
_WHOLE = "gpu"
_TYPE = "type"  # the attribute by which NVIDIA's driver tells a GPU from a slice of one
_INDEX, _UUID, _MINOR, _PRODUCT = "index", "uuid", "minor", "productName"
_PARENTS = ("parentUUID", "parentIndex", "parentMinor")  # of a slice
_KEEPS_PODS_OFF = ("NoSchedule", "NoExecute")

NO_TAINT_RULES: tuple[DeviceTaintRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuDevice:
    """A whole GPU of a driver. `index` as nvidia-smi counts; None where the driver does not say it.

    NVIDIA's driver names its devices by the minor number since 2025, which may differ from the index.
    """

    driver: str
    pool: str
    device: Device

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def index(self) -> int | None:
        return _number(self.device, _INDEX)

    @property
    def uuid(self) -> str:
        return _text(self.device, _UUID)

    @property
    def product(self) -> str:
        return _text(self.device, _PRODUCT)

    def is_tainted_by(self, rule: DeviceTaintRule) -> bool:
        return taints(rule, self.driver, self.pool, self.name)

    def is_cut(self, others: Iterable["GpuDevice"]) -> bool:
        """Whether one of the listed slices is a part of it: a taint of the whole does not keep pods off that."""
        own = {self.uuid, self.index, _number(self.device, _MINOR)} - {"", None}
        parts = (one.device for one in others if _text(one.device, _TYPE) in SLICES)
        return any(
            own & {_text(part, name), _number(part, name)} for part in parts for name in _PARENTS if own
        )


def listed_devices(slices: Iterable[ResourceSlice]) -> Iterator[GpuDevice]:
    """Yield the devices of GPU drivers, slices of GPUs as well. A pool counts once all of its slices are there."""
    pools: dict[tuple[str, str], list[ResourceSlice]] = defaultdict(list)
    for one in slices:
        if gpu_resource(one.spec.driver) is not None:
            pools[one.spec.driver, one.spec.pool.name].append(one)
    for (driver, pool), every in pools.items():
        newest = max(one.spec.pool.generation for one in every)
        current = [one for one in every if one.spec.pool.generation == newest]
        if len(current) < current[0].spec.pool.resource_slice_count:
            continue
        for device in (device for one in current for device in one.spec.devices or ()):
            yield GpuDevice(driver=driver, pool=pool, device=device)


def whole_gpu_devices(slices: Iterable[ResourceSlice]) -> tuple[GpuDevice, ...]:
    return tuple(one for one in listed_devices(slices) if _resource_of(one.driver, one.device) == one.driver)


def gpu_devices(
    slices: Iterable[ResourceSlice], rules: Collection[DeviceTaintRule] = NO_TAINT_RULES
) -> dict[str, tuple[int, int]]:
    """Return how many devices GPU drivers list for one node, and how many take pods, by resource name.

    A device with a taint takes none, whether its driver set it or a rule.
    """
    found: dict[str, list[GpuDevice]] = defaultdict(list)
    for one in listed_devices(slices):
        if resource := _resource_of(one.driver, one.device):
            found[resource].append(one)
    return {
        resource: (
            len(devices),
            sum(not _is_tainted(one.device) and not _is_kept(one, rules) for one in devices),
        )
        for resource, devices in sorted(found.items())
    }


def cordoned_devices(slices: Iterable[ResourceSlice], rules: Collection[DeviceTaintRule]) -> dict[str, int]:
    """Return how many devices take no pods because of a rule, and would take some without it, by resource name."""
    found: dict[str, int] = defaultdict(int)
    for one in listed_devices(slices) if rules else ():
        resource = _resource_of(one.driver, one.device)
        if resource and not _is_tainted(one.device) and _is_kept(one, rules):
            found[resource] += 1
    return dict(found)


def taints(rule: DeviceTaintRule, driver: str, pool: str, device: str) -> bool:
    """Whether the rule keeps pods off the device."""
    named = rule.spec.device_selector
    return (
        named is not None
        and rule.spec.taint.effect in _KEEPS_PODS_OFF
        and named.driver in ("", driver)
        and named.pool in ("", pool)
        and named.device in ("", device)
    )


def slice_name(driver: str, kind: str) -> str:
    """Return the resource name of a driver's slices: `mig.nvidia.com`."""
    return f"{kind}.{driver.partition('.')[2]}"


def _is_kept(one: GpuDevice, rules: Iterable[DeviceTaintRule]) -> bool:
    return any(one.is_tainted_by(rule) for rule in rules)


def _resource_of(driver: str, device: Device) -> str:
    """Return the name under which a device counts; empty for another view of a GPU that is listed as well."""
    kind = _attribute(driver, device, _TYPE) or _WHOLE
    if kind in SLICES:
        return "" if device.consumes_counters else slice_name(driver, kind)
    return driver if kind == _WHOLE else ""


def _is_tainted(device: Device) -> bool:
    return any(taint.effect in _KEEPS_PODS_OFF for taint in device.taints or ())


def _attribute(driver: str, device: Device, name: str) -> str:
    attributes = device.attributes or {}
    found = attributes.get(name) or attributes.get(f"{driver}/{name}")
    return found.string if found else ""


def _text(device: Device, name: str) -> str:
    return next((one.string for key, one in (device.attributes or {}).items() if _is(key, name)), "")


def _number(device: Device, name: str) -> int | None:
    return next((one.number for key, one in (device.attributes or {}).items() if _is(key, name)), None)


def _is(key: str, name: str) -> bool:
    """Whether a key is this attribute, with the driver's name before it or without."""
    return key.rpartition("/")[2] == name
