"""Failures of watched objects: which change of an object checks should see at once.

Source: the Kubernetes API reference 1.36; the reasons for which the kubelet lets a container wait.
"""

from collections.abc import Callable, Mapping
from typing import Any

from collectors.cluster.devices import ResourceClaim
from collectors.cluster.kinds import (
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    RESOURCE_CLAIMS,
)
from collectors.cluster.object_store import ObjectChange
from collectors.cluster.objects import Node, PersistentVolume, PersistentVolumeClaim, Pod

_STARTING = frozenset({"", "ContainerCreating", "PodInitializing"})  # any other reason to wait is a failure


def failed_kind(change: ObjectChange) -> str:
    """Return the kind of the object if it fails by this change, else an empty text.

    A node changes its spec or status for few reasons but heartbeats, so any such change counts.
    """
    has_failed = _FAILURES.get(change.kind)
    return change.kind if has_failed is not None and has_failed(change.before, change.after) else ""


def _node_changed(before: Node | None, after: Node | None) -> bool:
    return before is None or after is None or (before.spec, before.status) != (after.spec, after.status)


def _began(is_failing: Callable[[Any], bool]) -> Callable[[Any, Any], bool]:
    """Return whether an object fails that did not fail before: one that goes on failing does so once."""
    return lambda before, after: (
        after is not None and is_failing(after) and (before is None or not is_failing(before))
    )


def _pod_fails(pod: Pod) -> bool:
    """Whether it failed or was refused by its node, or a container cannot be made or ended with an error."""
    if pod.status.phase == "Failed":
        return True
    for status in (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ())):
        if status.state.waiting is not None and status.state.waiting.reason not in _STARTING:
            return True
        for state in (status.state, status.last_state):
            if state.terminated is not None and state.terminated.exit_code:
                return True
    return False


def _claim_is_lost(claim: PersistentVolumeClaim) -> bool:
    return claim.status.phase == "Lost"


def _volume_has_failed(volume: PersistentVolume) -> bool:
    return volume.status.phase == "Failed"


def _devices_lost(before: ResourceClaim | None, after: ResourceClaim | None) -> bool:
    """Whether a claim that pods use loses its devices, or is deleted."""
    if before is None or not before.status.reserved_for or before.status.allocation is None:
        return False
    return after is None or after.status.allocation is None


_FAILURES: Mapping[str, Callable[[Any, Any], bool]] = {
    NODES.name: _node_changed,
    PODS.name: _began(_pod_fails),
    PERSISTENT_VOLUME_CLAIMS.name: _began(_claim_is_lost),
    PERSISTENT_VOLUMES.name: _began(_volume_has_failed),
    RESOURCE_CLAIMS.name: _devices_lost,
}
