"""Reasons why a training waits: what kind each is, and its words."""

from dataclasses import dataclass
from enum import StrEnum


class WaitKind(StrEnum):
    """What a training waits for, or what has to be fixed before it can start."""

    QUOTA = "quota"  # its queue's, which others use
    TOO_LARGE = "too large"  # it asks for more than there ever is
    TURN = "turn"  # its queue has not come to it yet
    QUEUE_STOPPED = "queue stopped"
    QUEUE_MISSING = "queue missing"
    NOT_ALLOWED = "not allowed"  # its queue does not take it
    FLAVOR = "flavor"  # none of its queue's fits
    ADMISSION_CHECK = "admission check"
    TOPOLOGY = "topology"
    PREEMPTING = "preempting"  # others are being ended for it
    OTHERS_READY = "pods of others"  # that were admitted before it, and are not ready
    REQUEUED = "requeued"  # it was taken back, and its queue tries again later
    SUSPENDED = "suspended"
    DEACTIVATED = "deactivated"  # its queue has given it up
    OVERUSED = "overused"  # its queue or the cluster has more than its share
    GANG = "gang"  # only a part of its tasks has room
    GPUS = "GPUs"
    RESOURCES = "other resources"  # CPUs, memory, places for pods
    CLAIM = "resource claim"
    CORDONED = "cordoned"
    NODES = "nodes"  # not ready
    TAINT = "taint"
    SELECTOR = "selector"
    AFFINITY = "affinity"
    VOLUME = "volume"
    GATE = "gate"
    NAMESPACE_QUOTA = "namespace quota"
    REFUSED = "refused"  # its pods are not accepted
    CONTROLLER = "no controller"
    IMAGE = "image"
    CONFIG = "configuration"
    NETWORK = "network"
    CRASHING = "crashing"
    STARTING = "starting"
    UNKNOWN = "not known"

    @property
    def is_for_room(self) -> bool:
        """Whether it starts by itself once others have ended."""
        return self in (WaitKind.QUOTA, WaitKind.GANG, WaitKind.GPUS, WaitKind.TURN)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitReason:
    """One reason, in a sentence without a full stop. `resource`: what is lacking, if that is known."""

    kind: WaitKind
    text: str
    resource: str = ""
