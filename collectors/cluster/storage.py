"""Volumes: claims, the volumes that they are bound to, their classes, and the nodes to which they are attached."""

from collectors.cluster.base import ApiStruct, Explained, KubernetesObject


class PersistentVolumeClaimSpec(ApiStruct, frozen=True):
    volume_name: str = ""
    storage_class_name: str | None = None
    access_modes: tuple[str, ...] | None = None


class PersistentVolumeClaimStatus(ApiStruct, frozen=True):
    phase: str = ""


class PersistentVolumeClaim(KubernetesObject, frozen=True):
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class ClaimReference(ApiStruct, frozen=True):
    namespace: str = ""
    name: str = ""


class CSISource(ApiStruct, frozen=True):
    driver: str
    volume_handle: str = ""
    fs_type: str = ""
    read_only: bool = False
    volume_attributes: dict[str, str] | None = None


class RBDSource(ApiStruct, frozen=True):
    """An RBD image that the kubelet maps itself, without a CSI driver."""

    image: str
    pool: str = "rbd"
    read_only: bool = False


class PersistentVolumeSpec(ApiStruct, frozen=True):
    access_modes: tuple[str, ...] | None = None
    volume_mode: str = "Filesystem"
    claim_ref: ClaimReference | None = None
    csi: CSISource | None = None
    rbd: RBDSource | None = None


class PersistentVolumeStatus(Explained, frozen=True):
    phase: str = ""


class PersistentVolume(KubernetesObject, frozen=True):
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class StorageClass(KubernetesObject, frozen=True):
    volume_binding_mode: str = ""


class AttachedSource(ApiStruct, frozen=True):
    persistent_volume_name: str = ""


class VolumeAttachmentSpec(ApiStruct, frozen=True):
    node_name: str = ""
    source: AttachedSource = AttachedSource()


class VolumeAttachmentStatus(ApiStruct, frozen=True):
    attached: bool = False


class VolumeAttachment(KubernetesObject, frozen=True):
    """That a volume is to be attached to a node; `status.attached` says whether it is."""

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()
