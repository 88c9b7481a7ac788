"""Mounts of the host that a pod keeps after the host unmounts them: an image that stays busy after its pod is gone.

A container that mounts the host's root has what was mounted there when it started. Unless the mount's propagation lets
the host's unmounts reach it, that stays mounted.
"""

from collectors.cluster.indexes import Keys
from collectors.cluster.pods import Pod
from collectors.cluster.resources import holds_resources

# Whether what the host unmounts stays mounted in the container, by `mountPropagation`; unset is None, which is private.
KEEPS_UNMOUNTED = {"": True, "None": True, "HostToContainer": False, "Bidirectional": False}
HOLDING = frozenset(  # host paths below which the kubelet mounts volumes
    {"", "/var", "/var/lib", "/var/lib/kubelet", "/var/lib/kubelet/pods", "/var/lib/kubelet/plugins"}
)


def by_kept_mount(pod: Pod) -> Keys:
    """Return the host path by which a running pod keeps what the host unmounts; nothing for other pods."""
    if not pod.spec.volumes or not pod.spec.node_name or not holds_resources(pod):
        return ()
    paths = {
        volume.name: volume.host_path.path
        for volume in pod.spec.volumes
        if volume.host_path is not None and volume.host_path.path.rstrip("/") in HOLDING
    }
    if not paths:
        return ()
    sidecars = (one for one in pod.spec.init_containers or () if one.restart_policy == "Always")
    kept = (
        paths[mount.name]
        for container in (*(pod.spec.containers or ()), *sidecars)
        for mount in container.volume_mounts or ()
        if mount.name in paths and KEEPS_UNMOUNTED.get(mount.mount_propagation, False)
    )
    return (path,) if (path := next(kept, None)) is not None else ()
