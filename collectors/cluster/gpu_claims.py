"""GPUs that pods request and hold: by resources of containers, and by claims of dynamic resource allocation. Pure.

A device of a claim counts under its driver's name, such as `gpu.nvidia.com`; a slice of one, under `mig.nvidia.com`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from collectors.cluster.devices import (
    AllocatedDevice,
    ClaimRequest,
    DeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from collectors.cluster.gpu_devices import SLICES, slice_name
from collectors.cluster.objects import Pod
from collectors.cluster.pods import PodResourceClaim, PodSpec
from collectors.cluster.resources import gpu_resource, gpus_requested, holds_resources


@dataclass(frozen=True)  # not slots: what is looked up is kept
class GpuClaims:
    """The GPUs of the pods of one namespace, with its claims."""

    claims: tuple[ResourceClaim, ...] = ()
    templates: tuple[ResourceClaimTemplate, ...] = ()

    def of_spec(self, spec: PodSpec) -> dict[str, float]:
        """Return the GPUs that a pod made from this spec requests, by resource name. Raises ValueError (a quantity)."""
        found = gpus_requested(spec)
        for one in spec.resource_claims or ():
            _add(found, self._asked(one))
        return found

    def of_pod(self, pod: Pod) -> dict[str, float]:
        """Return the GPUs that the pod requests, or that its claims were given. Raises ValueError (a quantity).

        Pods that share a claim have equal parts of its devices.
        """
        found = gpus_requested(pod.spec)
        if (extended := pod.status.extended_resource_claim_status) is not None:
            given = self._given(extended.resource_claim_name)
            for mapping in extended.request_mappings or () if given else ():
                found.pop(mapping.resource_name, None)  # the claim is how this request is met
            _add(found, given or {})
        generated = {one.name: one.resource_claim_name for one in pod.status.resource_claim_statuses or ()}
        for one in pod.spec.resource_claims or ():
            given = self._given(one.resource_claim_name or generated.get(one.name, ""))
            _add(found, self._asked(one) if given is None else given)
        return found

    def held(self, pod: Pod) -> float:
        """Return the GPUs that the pod holds, of any resource: none before it is bound, and none after its end."""
        return sum(self.of_pod(pod).values()) if pod.spec.node_name and holds_resources(pod) else 0

    @cached_property
    def _by_name(self) -> Mapping[str, ResourceClaim]:
        return {one.metadata.name: one for one in self.claims}

    @cached_property
    def _wanted_by_template(self) -> Mapping[str, Mapping[str, float]]:
        return {one.metadata.name: _wanted(one.spec.spec) for one in self.templates}

    def _asked(self, one: PodResourceClaim) -> Mapping[str, float]:
        if one.resource_claim_name:
            return self._given(one.resource_claim_name) or {}
        return self._wanted_by_template.get(one.resource_claim_template_name, {})

    def _given(self, name: str) -> Mapping[str, float] | None:
        """Return a pod's part of a claim: of its devices, or of what it wants until it has any; None for no claim."""
        if (claim := self._by_name.get(name)) is None:
            return None
        allocation = claim.status.allocation
        whole = _wanted(claim.spec) if allocation is None else _held(claim, allocation.devices.results or ())
        consumers = sum(one.resource == "pods" for one in claim.status.reserved_for or ())
        return {resource: count / max(1, consumers) for resource, count in whole.items()}


NO_CLAIMS = GpuClaims()  # one object, so that what is derived from it is kept


def _held(claim: ResourceClaim, results: Iterable[AllocatedDevice]) -> Mapping[str, float]:
    classes = dict(_classes(claim.spec.devices.requests or ()))
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for one in results:
        if not one.admin_access and gpu_resource(one.driver) is not None:
            words = _words(one.device) | _words(classes.get(one.request, ""))
            kind = next(iter(words & SLICES), "")
            found[slice_name(one.driver, kind) if kind else one.driver].add((one.pool, one.device))
    return {resource: len(devices) for resource, devices in sorted(found.items())}


def _classes(requests: Iterable[ClaimRequest]) -> Iterator[tuple[str, str]]:
    for one in requests:
        if one.exactly is not None:
            yield one.name, one.exactly.device_class_name
        for alternative in one.first_available or ():
            yield f"{one.name}/{alternative.name}", alternative.device_class_name


def _wanted(spec: ResourceClaimSpec) -> Mapping[str, float]:
    """Return what a claim asks for, by its classes: those of GPUs are named like one. Of alternatives, the first."""
    found: dict[str, float] = {}
    for one in spec.devices.requests or ():
        request: DeviceRequest | None = one.exactly or next(iter(one.first_available or ()), None)
        if request is None or request.admin_access or gpu_resource(request.device_class_name) is None:
            continue
        _add(found, {request.device_class_name: max(1, request.count)})
    return found


def _add(found: dict[str, float], more: Mapping[str, float]) -> None:
    for resource, count in more.items():
        found[resource] = found.get(resource, 0) + count


def _words(name: str) -> set[str]:
    return set(re.split(r"[-._]", name.lower()))
