"""Ceph: OSDs, the pool and the images behind PersistentVolumeClaims."""

from __future__ import annotations

from demo.world.state import State


def store(state: State, seconds: float) -> None:
    """Advance storage by `seconds`: the pool grows with training output, volumes with their data sets."""
    ceph = state.ceph
    down = sum(not osd.up for osd in ceph.osds)
    ceph.slow_ops = down * 14.0
    for osd in ceph.osds:
        osd.latency_ms = (1.3 if osd.up else 0.0) * (1 + 0.9 * down) * (1 + state.rng.gauss(0, 0.05))
    ceph.pool_stored += 2.4e8 * seconds
    for volume in ceph.volumes.values():
        volume.used = min(volume.capacity, volume.used * (1 + 2e-7 * seconds))


def health(state: State) -> int:
    """The value of ceph_health_status: 0 OK, 1 warning, 2 error."""
    down = sum(not osd.up for osd in state.ceph.osds)
    return 2 if down * 3 > len(state.ceph.osds) else 1 if down else 0
