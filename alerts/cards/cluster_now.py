"""The state of a cluster as far as it decides what a card may suggest: what stands already, and what is there."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNow:
    """What is known of the objects that suggested actions name. What is in none of these is not known.

    Trainings and claims are as people type them.
    """

    cordoned: frozenset[str] = frozenset()  # nodes, by anybody
    with_devices: frozenset[str] = frozenset()  # nodes of which one GPU can be cordoned
    cordoned_gpus: frozenset[tuple[str, str]] = frozenset()  # node and GPU, as people name it
    frozen: frozenset[str] = frozenset()  # claims with nothing left that could be held
    writers: Mapping[str, frozenset[str]] = field(
        default_factory=dict
    )  # claim -> trainings that may write to it
    idle: frozenset[str] = frozenset()  # trainings that hold no GPUs
    over: frozenset[str] = frozenset()  # trainings that have ended
    missing: frozenset[str] = frozenset()  # nodes, claims and trainings that the cluster does not have
