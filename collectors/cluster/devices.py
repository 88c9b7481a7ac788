"""Devices of dynamic resource allocation: claims, their templates, and the slices in which drivers list what they have.

Source: the Kubernetes API reference 1.36, `resource.k8s.io/v1`.
"""

from typing import ClassVar

import msgspec

from collectors.cluster.base import ApiStruct, KubernetesObject


class DeviceRequest(ApiStruct, frozen=True):
    """What a request of a claim wants; of a list of alternatives each has a name."""

    name: str = ""
    device_class_name: str = ""
    count: int = 0  # 0 is 1
    admin_access: bool = False  # it looks at devices, and does not use them up


class ClaimRequest(ApiStruct, frozen=True):
    name: str
    exactly: DeviceRequest | None = None
    first_available: tuple[DeviceRequest, ...] | None = None


class DeviceClaim(ApiStruct, frozen=True):
    requests: tuple[ClaimRequest, ...] | None = None


class ResourceClaimSpec(ApiStruct, frozen=True):
    devices: DeviceClaim = DeviceClaim()


class AllocatedDevice(ApiStruct, frozen=True):
    """`request` is the request's name, or `request/alternative`."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool = False


class AllocatedDevices(ApiStruct, frozen=True):
    results: tuple[AllocatedDevice, ...] | None = None


class Allocation(ApiStruct, frozen=True):
    devices: AllocatedDevices = AllocatedDevices()


class ClaimConsumer(ApiStruct, frozen=True):
    """What the claim is reserved for; a pod has the resource `pods`."""

    resource: str = ""
    name: str = ""


class ResourceClaimStatus(ApiStruct, frozen=True):
    allocation: Allocation | None = None
    reserved_for: tuple[ClaimConsumer, ...] | None = None


class ResourceClaim(KubernetesObject, frozen=True):
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(ApiStruct, frozen=True):
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(KubernetesObject, frozen=True):
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


class DeviceAttribute(ApiStruct, frozen=True):
    string: str = ""
    number: int | None = msgspec.field(default=None, name="int")


class DeviceTaint(ApiStruct, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""


class CounterConsumption(ApiStruct, frozen=True):
    counter_set: str = ""


class Device(ApiStruct, frozen=True):
    """One device of a slice. One that consumes counters is a way to cut another device, and may not exist."""

    name: str
    attributes: dict[str, DeviceAttribute] | None = None
    taints: tuple[DeviceTaint, ...] | None = None
    consumes_counters: tuple[CounterConsumption, ...] | None = None


class ResourcePool(ApiStruct, frozen=True):
    name: str = ""
    generation: int = 0
    resource_slice_count: int = 1


class ResourceSliceSpec(ApiStruct, frozen=True):
    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str = ""
    devices: tuple[Device, ...] | None = None


class ResourceSlice(KubernetesObject, frozen=True):
    spec: ResourceSliceSpec = ResourceSliceSpec()


class DeviceTaintSelector(ApiStruct, frozen=True):
    """Which devices a rule taints: what it does not name may be anything."""

    driver: str = ""
    pool: str = ""
    device: str = ""


class DeviceTaintRuleSpec(ApiStruct, frozen=True):
    """Without a selector a rule taints no device."""

    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRule(KubernetesObject, frozen=True):
    """A taint that somebody sets on devices: `resource.k8s.io/v1beta2`, and v1alpha3 before it."""

    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()


class OlderDeviceTaintRule(DeviceTaintRule, frozen=True):
    """The same of v1alpha3, for a cluster that serves no newer version."""

    api_kind: ClassVar[str] = "DeviceTaintRule"
