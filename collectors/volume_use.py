"""Volumes and who uses them: the claims that share an image, the pods that mount them, and where it is attached. Pure.

Two volumes may be one image: a data set that several namespaces mount has a volume and a claim in each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from collectors.cluster.base import KubernetesObject
from collectors.cluster.indexes import by_claim, workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import (
    DEPLOYMENTS,
    JOBS,
    JOBSETS,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    REPLICASETS,
    STATEFULSETS,
    VOLUME_ATTACHMENTS,
    ResourceKind,
)
from collectors.cluster.objects import PersistentVolume, Pod, PodSpec
from collectors.cluster.resources import holds_resources

_WITH_TEMPLATE: tuple[ResourceKind[Any], ...] = (DEPLOYMENTS, STATEFULSETS, REPLICASETS)
_KINDS: tuple[ResourceKind[Any], ...] = (
    *(PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS, VOLUME_ATTACHMENTS),
    *(*_WITH_TEMPLATE, JOBS, JOBSETS),
)
READ_ONLY_MANY, MANY_WRITERS = "ReadOnlyMany", "ReadWriteMany"


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeUser:
    """A pod that has not ended and mounts one of the claims."""

    pod: Pod
    claim: str  # namespace/name
    may_write: bool

    @property
    def name(self) -> str:
        return self.pod.key

    @property
    def node(self) -> str:
        return self.pod.spec.node_name


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeUse:
    """One image and its users. `attached` are the nodes to which Kubernetes says that it is attached.

    `templates` are the workloads, `namespace/Kind/name`, whose pods may write to it, whether they have pods or not.
    """

    image: str  # what identifies it; `rbd` has it as the tools of Ceph name it
    rbd: str = ""  # pool/image; empty if it is none, or not known
    claims: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    users: tuple[VolumeUser, ...] = ()
    attached: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    is_shared: bool = False  # a file system for many writers, which nothing formats: CephFS, NFS
    # A device on which the kubelet or its driver makes a file system if it finds none.
    is_formatted: bool = False

    @property
    def writers(self) -> tuple[VolumeUser, ...]:
        return tuple(user for user in self.users if user.may_write)

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes that hold the image: where a pod uses it, and to which it is attached."""
        return frozenset({*(user.node for user in self.users if user.node), *self.attached})

    @property
    def is_used_twice(self) -> bool:
        """Whether one may write while another uses it: on another node, or by another claim."""
        claims = {user.claim for user in self.users}
        return self.is_formatted and bool(self.writers) and (len(self.nodes) > 1 or len(claims) > 1)

    @property
    def readers(self) -> tuple[VolumeUser, ...]:
        return tuple(user for user in self.users if not user.may_write)


def volume_uses(inventory: Inventory) -> Mapping[str, VolumeUse]:
    """Return the images by what identifies them: every one that a volume or a claim names."""
    parts = (inventory.grouped(PODS, by_claim), *(inventory.all(kind) for kind in _KINDS))
    return inventory.memo.get("volume uses", parts, lambda: _uses(inventory))


def _uses(inventory: Inventory) -> Mapping[str, VolumeUse]:
    images = {name: image_of(volume) for name, volume in inventory.all(PERSISTENT_VOLUMES).items()}
    volumes: dict[str, list[PersistentVolume]] = {}
    for name, volume in inventory.all(PERSISTENT_VOLUMES).items():
        volumes.setdefault(images[name], []).append(volume)
    claims: dict[str, set[str]] = {
        image: {
            f"{ref.namespace}/{ref.name}"
            for volume in found
            if (ref := volume.spec.claim_ref) is not None and volume.status.phase != "Released"
        }
        for image, found in volumes.items()
    }
    for name, claim in inventory.all(PERSISTENT_VOLUME_CLAIMS).items():
        bound = claim.spec.volume_name
        claims.setdefault(images.get(bound) or bound or name, set()).add(name)
    users = _users(inventory)
    for used in users.keys() - {name for named in claims.values() for name in named}:
        claims[used] = {used}  # claims cannot be seen, or this one is gone
    templates = _templates(inventory)
    attached = _attached(inventory)
    return {
        image: VolumeUse(
            image=image,
            rbd=next(filter(None, (rbd_of(one) for one in volumes.get(image, ()))), ""),
            claims=tuple(sorted(named)),
            volumes=tuple(sorted(one.metadata.name for one in volumes.get(image, ()))),
            users=tuple(user for claim in sorted(named) for user in users.get(claim, ())),
            attached=tuple(
                sorted(
                    {node for one in volumes.get(image, ()) for node in attached.get(one.metadata.name, ())}
                )
            ),
            templates=tuple(sorted({one for claim in named for one in templates.get(claim, ())})),
            is_shared=any(_is_shared(one) for one in volumes.get(image, ())),
            is_formatted=any(_is_formatted(one) for one in volumes.get(image, ())),
        )
        for image, named in claims.items()
    }


def image_of(volume: PersistentVolume) -> str:
    """Return what identifies the image: two volumes with the same are one. Without a known source it is the name."""
    spec = volume.spec
    if spec.csi is not None and spec.csi.volume_handle:
        attributes = spec.csi.volume_attributes or {}
        place = "/".join(filter(None, (attributes.get("clusterID", ""), attributes.get("pool", ""))))
        return "/".join(filter(None, (spec.csi.driver, place, spec.csi.volume_handle)))
    if spec.rbd is not None:
        return f"{spec.rbd.pool}/{spec.rbd.image}"
    return volume.metadata.name


def rbd_of(volume: PersistentVolume) -> str:
    """Return the image as `pool/image`, empty if it is not an RBD image or its name is not known."""
    spec = volume.spec
    if spec.rbd is not None:
        return f"{spec.rbd.pool}/{spec.rbd.image}"
    if spec.csi is None or "rbd" not in spec.csi.driver:
        return ""
    attributes = spec.csi.volume_attributes or {}
    image = attributes.get("imageName", "")
    if attributes.get("staticVolume") == "true":
        image = spec.csi.volume_handle
    pool = attributes.get("pool", "")
    return f"{pool}/{image}" if pool and image else ""


def _is_shared(volume: PersistentVolume) -> bool:
    return MANY_WRITERS in (volume.spec.access_modes or ()) and volume.spec.volume_mode == "Filesystem"


def _is_formatted(volume: PersistentVolume) -> bool:
    """Whether it is a device with a file system. Drivers of shared file systems name no type."""
    spec = volume.spec
    if spec.volume_mode != "Filesystem" or _is_shared(volume):
        return False
    return spec.rbd is not None or (
        spec.csi is not None and bool(spec.csi.fs_type or "rbd" in spec.csi.driver)
    )


def _is_read_only(inventory: Inventory, claim: str) -> bool:
    """Whether the claim, or the volume that it is bound to, gives nobody the right to write."""
    found = inventory.all(PERSISTENT_VOLUME_CLAIMS).get(claim)
    if found is None:
        return False
    volume = inventory.all(PERSISTENT_VOLUMES).get(found.spec.volume_name)
    sources = (volume.spec.csi, volume.spec.rbd) if volume is not None else ()
    return tuple(found.spec.access_modes or ()) == (READ_ONLY_MANY,) or any(
        source is not None and source.read_only for source in sources
    )


def _claims_of(spec: PodSpec, namespace: str) -> Iterator[tuple[str, bool]]:
    """Yield the claims that a pod mounts, each with whether the pod itself may write to it."""
    for volume in spec.volumes or ():
        if source := volume.persistent_volume_claim:
            yield f"{namespace}/{source.claim_name}", not source.read_only


def _users(inventory: Inventory) -> Mapping[str, Sequence[VolumeUser]]:
    """Return by claim the pods that mount it, by their names."""
    found: dict[str, Sequence[VolumeUser]] = {}
    for claim, pods in inventory.grouped(PODS, by_claim).items():
        is_read_only = _is_read_only(inventory, claim)
        users = inventory.memo.get(
            ("users", claim, is_read_only), (pods,), partial(_users_of, claim, pods, is_read_only)
        )
        if users:
            found[claim] = users
    return found


def _users_of(claim: str, pods: Sequence[Pod], is_read_only: bool) -> Sequence[VolumeUser]:
    users = [
        VolumeUser(pod=pod, claim=claim, may_write=may_write and not is_read_only)
        for pod in pods
        if holds_resources(pod)
        for mounted, may_write in _claims_of(pod.spec, pod.metadata.namespace)
        if mounted == claim
    ]
    return sorted(users, key=lambda user: user.name)


def _templates(inventory: Inventory) -> Mapping[str, set[str]]:
    """Return by claim the workloads whose pods may write to it. What others own is started by its owner."""
    found: dict[str, set[str]] = {}
    for one, spec in _pod_specs(inventory):
        if any(owner.controller for owner in one.metadata.owner_references or ()):
            continue
        for claim, may_write in _claims_of(spec, one.metadata.namespace):
            if may_write and not _is_read_only(inventory, claim):
                found.setdefault(claim, set()).add(workload_of(one))
    return found


def _pod_specs(inventory: Inventory) -> Iterator[tuple[KubernetesObject, PodSpec]]:
    for kind in _WITH_TEMPLATE:
        for workload in inventory.all(kind).values():
            yield workload, workload.spec.template.spec
    for job in inventory.all(JOBS).values():
        yield job, job.spec.template.spec
    for jobset in inventory.all(JOBSETS).values():
        for role in jobset.spec.replicated_jobs or ():
            yield jobset, role.template.spec.template.spec


def _attached(inventory: Inventory) -> Mapping[str, set[str]]:
    """Return by volume the nodes to which it is attached."""
    found: dict[str, set[str]] = {}
    for one in inventory.all(VOLUME_ATTACHMENTS).values():
        if one.status.attached and one.spec.source.persistent_volume_name:
            found.setdefault(one.spec.source.persistent_volume_name, set()).add(one.spec.node_name)
    return found
