"""Log lines by world event."""

from __future__ import annotations

from collections.abc import Mapping

from demo.world.logs import gpu_lines, host_lines, training_lines
from demo.world.logs.line import Line
from demo.world.logs.writers import Writer
from demo.world.state import State, WorldEvent


def lines_of(event: WorldEvent, state: State) -> list[Line]:
    """Return the log lines of an event; empty when it has no writer."""
    writer = WRITERS.get(event.what)
    return [] if writer is None else writer(event, state)


WRITERS: Mapping[str, Writer] = {
    "xid": gpu_lines.xid,
    "gpu-unhealthy": gpu_lines.unhealthy,
    "gpu-back": gpu_lines.gpu_back,
    "oom": gpu_lines.oom,
    "cuda-error": training_lines.cuda_error,
    "cuda-crash": training_lines.cuda_crash,
    "watchdog": training_lines.watchdog,
    "peer-gone": training_lines.peer_gone,
    "rank-lost": training_lines.rank_lost,
    "lookup-failed": training_lines.lookup_failed,
    "dns-timeout": host_lines.dns_timeout,
    "step": training_lines.step,
    "starting": training_lines.simple("initializing process group with NCCL backend"),
    "session": training_lines.simple("all ranks joined, training starts"),
    "checkpoint": training_lines.simple("checkpoint saved at step {step} to /ckpt/step-{step}"),
    "finished": training_lines.simple("training finished"),
    "pod-started": host_lines.started,
    "pod-stopped": host_lines.stopped,
    "node-condition": host_lines.condition,
    "kubelet-start": host_lines.kubelet_start,
    "component-error": host_lines.component_error,
    "component-log": host_lines.component_log,
    "osd": host_lines.osd,
    "uvm-missing": gpu_lines.uvm,
    "unmap-failed": host_lines.unmap_failed,
    "mount-failed": host_lines.mount_failed,
    "format": host_lines.format,
}
