"""Metrics of a kubelet: its own, its volumes', and cAdvisor's of containers."""

from __future__ import annotations

from demo.world.exporters.text import Family, counter, gauge
from demo.world.state import Body, Host, State


def own(state: State, host: Host, bodies: list[Body]) -> list[Family]:
    """The kubelet's /metrics."""
    name = gauge("kubelet_node_name", "The node's name. The count is always 1.")
    name.add(1, node=host.name)
    running = gauge("kubelet_running_pods", "Number of pods that have a running pod sandbox")
    running.add(len(bodies))
    expires = gauge(
        "kubelet_certificate_manager_client_ttl_seconds",
        "Gauge of the TTL (time-to-live) of the Kubelet's client certificate.",
    )
    expires.add(round(200 * 86400 - (state.now - host.booted).total_seconds() % (100 * 86400)))
    volumes = {
        "used_bytes": gauge("kubelet_volume_stats_used_bytes", "Number of used bytes in the volume"),
        "capacity_bytes": gauge("kubelet_volume_stats_capacity_bytes", "Capacity in bytes of the volume"),
        "available_bytes": gauge(
            "kubelet_volume_stats_available_bytes", "Number of available bytes in the volume"
        ),
        "inodes": gauge("kubelet_volume_stats_inodes", "Maximum number of inodes in the volume"),
        "inodes_free": gauge("kubelet_volume_stats_inodes_free", "Number of free inodes in the volume"),
    }
    mounted = {(body.key.namespace, claim) for body in bodies for claim in body.claims}
    for volume in state.ceph.volumes.values():
        if volume.claim not in mounted and volume.node != host.name:
            continue
        labels = {"namespace": volume.claim.namespace, "persistentvolumeclaim": volume.claim.name}
        volumes["used_bytes"].put(labels, round(volume.used))
        volumes["capacity_bytes"].put(labels, round(volume.capacity))
        volumes["available_bytes"].put(labels, round(volume.capacity - volume.used))
        volumes["inodes"].put(labels, 6.5e7)
        volumes["inodes_free"].put(labels, round(6.5e7 - volume.used / 250_000))
    return [name, running, expires, *volumes.values()]


def cadvisor(bodies: list[Body]) -> list[Family]:
    """The kubelet's /metrics/cadvisor: one series per container."""
    memory = gauge("container_memory_working_set_bytes", "Current working set of the container in bytes")
    cpu = counter(
        "container_cpu_usage_seconds_total", "Cumulative cpu time consumed by the container in core-seconds"
    )
    killed = counter("container_oom_events_total", "Count of out of memory events observed for the container")
    for body in bodies:
        labels = {
            "container": body.container,
            "namespace": body.key.namespace,
            "pod": body.key.name,
            "id": f"/kubepods.slice/kubepods-pod{body.uid.replace('-', '_')}.slice",
        }
        memory.put(labels, round(body.memory + body.leak))
        cpu.put(labels | {"cpu": "total"}, round(body.cpu_seconds, 3))
        killed.put(labels, float(body.exit_reason == "OOMKilled"))
    return [memory, cpu, killed]
