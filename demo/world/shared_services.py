"""The state of cluster-wide services: DNS and Ceph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class PodKey(NamedTuple):
    namespace: str
    name: str


BUCKETS = (
    0.00025,
    0.0005,
    0.001,
    0.002,
    0.004,
    0.008,
    0.016,
    0.032,
    0.064,
    0.128,
    0.256,
    0.512,
    1.024,
    2.048,
    4.096,
    8.192,
)


@dataclass(slots=True, kw_only=True)
class DnsReplica:
    """The counters of one CoreDNS replica."""

    key: PodKey
    requests: float = 0.0
    answered: dict[tuple[str, str], float] = field(default_factory=dict)  # (rcode, plugin) -> answers
    buckets: list[float] = field(default_factory=lambda: [0.0] * (len(BUCKETS) + 1))
    seconds: float = 0.0
    hits: float = 0.0
    misses: float = 0.0
    forwarded: float = 0.0
    panics: float = 0.0


@dataclass(slots=True, kw_only=True)
class ClusterDns:
    """The cluster's DNS as a queue in front of `servers`. `lost` is the share of queries without a valid answer."""

    servers: dict[PodKey, DnsReplica] = field(default_factory=dict)
    capacity: float = 6000.0  # queries/s of one replica
    offered: float = 0.0  # queries/s
    latency: float = 0.0006  # s
    lost: float = 0.0
    upstream_broken: float = 0.0  # share of forwarded queries that fail

    @property
    def load(self) -> float:
        total = self.capacity * len(self.servers)
        return self.offered / total if total else float("inf")


@dataclass(slots=True, kw_only=True)
class Osd:
    number: int
    host: str
    up: bool = True
    used: float = 0.0
    latency_ms: float = 1.4


@dataclass(slots=True, kw_only=True)
class Volume:
    """An RBD image behind a PersistentVolumeClaim. Formatting resets `used`."""

    claim: PodKey
    image: str
    capacity: float
    used: float
    node: str | None = None  # where it is still mapped although no pod there uses it
    busy: bool = False  # a process on `node` still holds the mount


@dataclass(slots=True, kw_only=True)
class Ceph:
    osds: list[Osd]
    volumes: dict[PodKey, Volume]
    pool_capacity: float = 900e12
    pool_stored: float = 312e12
    slow_ops: float = 0.0
