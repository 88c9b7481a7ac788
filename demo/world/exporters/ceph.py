"""Metrics of the Ceph manager's prometheus module."""

from __future__ import annotations

from demo.world.exporters.text import Family, counter, gauge
from demo.world.physics.storage import health
from demo.world.shared_services import Ceph
from demo.world.state import State

VERSION = "ceph version 19.2.3 (c92aebb279828e9c3c1f5d24613efca272649e62) squid (stable)"


def families(state: State) -> list[Family]:
    """The metrics of the active manager on port 9283."""
    return [*_health(state), *_osds(state.ceph), *_pools(state.ceph)]


def _health(state: State) -> list[Family]:
    status = gauge("ceph_health_status", "Cluster health status")
    status.add(health(state))
    detail = gauge("ceph_health_detail", "healthcheck status by type (0=inactive, 1=active)")
    down = any(not osd.up for osd in state.ceph.osds)
    detail.add(float(down), name="OSD_DOWN", severity="HEALTH_WARN")
    detail.add(float(state.ceph.slow_ops > 0), name="SLOW_OPS", severity="HEALTH_WARN")
    slow = gauge("ceph_healthcheck_slow_ops", "OSD or Monitor requests taking a long time to process")
    slow.add(round(state.ceph.slow_ops))
    quorum = gauge("ceph_mon_quorum_status", "Monitors in quorum")
    metadata = gauge("ceph_mon_metadata", "MON Metadata")
    for name in "abc":
        quorum.add(1, ceph_daemon=f"mon.{name}")
        metadata.add(
            1,
            ceph_daemon=f"mon.{name}",
            hostname=f"ceph-{ord(name) - 96:02d}",
            ceph_version=VERSION,
            rank=str(ord(name) - 97),
        )
    return [status, detail, slow, quorum, metadata]


def _osds(ceph: Ceph) -> list[Family]:
    up = gauge("ceph_osd_up", "OSD status up")
    inside = gauge("ceph_osd_in", "OSD status in")
    metadata = gauge("ceph_osd_metadata", "OSD Metadata")
    apply = gauge("ceph_osd_apply_latency_ms", "OSD stat apply_latency_ms")
    commit = gauge("ceph_osd_commit_latency_ms", "OSD stat commit_latency_ms")
    used = gauge("ceph_osd_stat_bytes_used", "OSD stat bytes used")
    size = gauge("ceph_osd_stat_bytes", "OSD stat bytes")
    for osd in ceph.osds:
        name = f"osd.{osd.number}"
        up.add(float(osd.up), ceph_daemon=name)
        inside.add(1, ceph_daemon=name)
        metadata.add(
            1,
            ceph_daemon=name,
            hostname=osd.host,
            ceph_version=VERSION,
            device_class="nvme",
            objectstore="bluestore",
        )
        apply.add(round(osd.latency_ms), ceph_daemon=name)
        commit.add(round(osd.latency_ms), ceph_daemon=name)
        used.add(round(osd.used), ceph_daemon=name)
        size.add(75e12, ceph_daemon=name)
    return [up, inside, metadata, apply, commit, used, size]


def _pools(ceph: Ceph) -> list[Family]:
    names = gauge("ceph_pool_metadata", "POOL Metadata")
    stored = gauge("ceph_pool_stored", "DF pool stored")
    spare = gauge("ceph_pool_max_avail", "DF pool max_avail")
    total = gauge("ceph_cluster_total_bytes", "DF total_bytes")
    used = gauge("ceph_cluster_total_used_bytes", "DF total_used_bytes")
    groups = gauge("ceph_pg_total", "PG total count per pool")
    active = gauge("ceph_pg_active", "PG active per pool")
    reads = counter("ceph_pool_rd_bytes", "DF pool rd_bytes")
    degraded = sum(not osd.up for osd in ceph.osds) * 21
    for number, name, share in (
        ("1", "rbd-datasets", 0.72),
        ("2", "cephfs-data", 0.26),
        ("3", "cephfs-metadata", 0.02),
    ):
        names.add(1, pool_id=number, name=name, type="replicated")
        stored.add(round(ceph.pool_stored * share), pool_id=number)
        spare.add(round((ceph.pool_capacity - ceph.pool_stored) / 3), pool_id=number)
        groups.add(256, pool_id=number)
        active.add(256 - degraded, pool_id=number)
        reads.add(round(ceph.pool_stored * share * 40), pool_id=number)
    total.add(ceph.pool_capacity)
    used.add(round(ceph.pool_stored))
    return [names, stored, spare, total, used, groups, active, reads]
