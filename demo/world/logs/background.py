"""Background log lines of a healthy cluster, with its usual harmless errors."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from demo.world.logs.line import Line, klog
from demo.world.state import Host, Role, State

# Per server: lines per hour, unit, level, klog source and text. {n} is a number, {x} hexadecimal.
HOST_LINES: tuple[tuple[float, str, str, str, str], ...] = (
    (60, "kubelet", "info", "kubelet.go:2431", '"SyncLoop (housekeeping)" duration="{n}ms"'),
    (
        40,
        "kubelet",
        "info",
        "reconciler_common.go:251",
        '"operationExecutor.VerifyControllerAttachedVolume started for volume" volumeName="kube-api-access-{x}"',
    ),
    (
        8,
        "kubelet",
        "warning",
        "cacher.go:171",
        "watch chan error: etcdserver: mvcc: required revision has been compacted {n}",
    ),
    (
        2,
        "kubelet",
        "error",
        "cadvisor_stats_provider.go:525",
        '"Partial failure issuing cadvisor.ContainerInfoV2" err="partial failures: [\\"/kubepods/{x}\\"]"',
    ),
    (50, "containerd", "info", "", 'level=info msg="ImageUpdate event name:\\"sha256:{x}\\""'),
    (
        3,
        "containerd",
        "warning",
        "",
        'level=warning msg="cleaning up after shim disconnected" id={x} namespace=k8s.io',
    ),
    (1, "containerd", "error", "", 'level=error msg="ttrpc: received message on inactive stream" stream={n}'),
    (6, "kernel", "info", "", "IPv6: ADDRCONF(NETDEV_CHANGE): cali{x}: link becomes ready"),
    (3, "kernel", "info", "", "nvidia-nvswitch{d}: open (major=510)"),
    (
        0.5,
        "kernel",
        "info",
        "",
        "perf: interrupt took too long ({n} > 2500), lowering kernel.perf_event_max_sample_rate to 79000",
    ),
    (
        1.5,
        "kernel",
        "warning",
        "",
        "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
    ),
    (10, "chronyd", "info", "", "Selected source 10.0.9.{d} (ntp.dc1.example)"),
)

# Per pod, by container name: lines per hour, level and text.
POD_LINES: dict[str, tuple[tuple[float, str, str], ...]] = {
    "coredns": (
        (
            20,
            "info",
            '[INFO] 10.244.{d}.{d}:{n} - {n} "A IN kube-dns.kube-system.svc.cluster.local. udp 61 '
            'false 512" NOERROR qr,aa,rd 106 0.000{d}s',
        ),
        (
            3,
            "warning",
            '[WARNING] plugin/health: Local health request to "http://:8080/health" took more than 1s: 1.0{n}s',
        ),
        (
            1.2,
            "error",
            "[ERROR] plugin/errors: 2 metrics.internal.example. AAAA: read udp "
            "10.244.1.{d}:{n}->10.0.9.2:53: i/o timeout",
        ),
    ),
    "autoscaler": (
        (60, "info", "autoscaler_server.go:153] Cluster status: SchedulableNodes[18], SchedulableCores[272]"),
    ),
    "exporter": ((12, "info", 'time="{t}" level=info msg="Starting webserver"'),),
    "node-exporter": (
        (6, "info", 'ts={t} caller=node_exporter.go:199 level=info msg="scrape done" duration=0.0{n}'),
    ),
    "kube-state-metrics": ((10, "info", 'server.go:380] "Active resources" count={n}'),),
    "mgr": (
        (40, "info", "log_channel(cluster) log [DBG] : pgmap v{n}: 768 pgs: 768 active+clean; 284 TiB data"),
    ),
    "ps": (
        (
            30,
            "info",
            "I tensorflow/core/distributed_runtime/rpc/grpc_server_lib.cc:449] Started server with "
            "target: grpc://localhost:2222 ({n})",
        ),
    ),
}

CONTROL_PLANE: tuple[tuple[float, str, str], ...] = (
    (120, "info", 'httplog.go:134] "HTTP" verb="GET" URI="/api/v1/nodes?limit=500" latency="{n}ms" resp=200'),
    (
        12,
        "warning",
        "reflector.go:569] watch of *v1.Pod ended with: very short watch: Unexpected watch close ({n})",
    ),
    (
        2,
        "error",
        'wrap.go:57] "Timeout or abort while handling" method="GET" URI="/api/v1/pods" auditID="{x}"',
    ),
)


def between(state: State, start: datetime, length: timedelta, rng: Random) -> list[Line]:
    """Return the background lines of `length` from `start`, in time order."""
    lines: list[Line] = []
    hours = length.total_seconds() / 3600
    for host in state.hosts.values():
        for rate, unit, level, source, text in HOST_LINES:
            if unit == "kubelet" and not host.kubelet_alive:
                continue
            lines += [
                _host_line(host, at, unit, level, source, _filled(text, at, rng))
                for at in _moments(rate * hours, start, length, rng)
            ]
    for body in state.bodies.values():
        if body.exit is not None or body.role is Role.WORKER:
            continue
        for rate, level, text in POD_LINES.get(body.container, ()):
            lines += [
                Line(at=at, text=_filled(text, at, rng), level=level, node=body.node, pod=body.key)
                for at in _moments(rate * hours, start, length, rng)
            ]
    for rate, level, text in CONTROL_PLANE:
        lines += [
            Line(
                at=at,
                text=klog(at, level, *_split(_filled(text, at, rng))),
                level=level,
                node="infra-01",
                unit="kube-apiserver",
            )
            for at in _moments(rate * hours, start, length, rng)
        ]
    lines.sort(key=lambda line: line.at)
    return lines


def _split(text: str) -> tuple[str, str]:
    source, _, message = text.partition("] ")
    return source, message


def _host_line(host: Host, at: datetime, unit: str, level: str, source: str, text: str) -> Line:
    shown = klog(at, level, source, text) if source else text
    return Line(at=at, text=shown, level=level, node=host.name, unit=unit)


def _moments(expected: float, start: datetime, length: timedelta, rng: Random) -> list[datetime]:
    """Return the times of a Poisson process with this expected count."""
    if expected < 1e-9:
        return []
    times, at = [], rng.expovariate(expected)
    while at < 1.0:
        times.append(start + length * at)
        at += rng.expovariate(expected)
    return times


def _filled(text: str, at: datetime, rng: Random) -> str:
    if "{" not in text:
        return text
    while "{d}" in text:
        text = text.replace("{d}", str(rng.randrange(1, 9)), 1)
    while "{n}" in text:
        text = text.replace("{n}", str(rng.randrange(100, 9999)), 1)
    while "{x}" in text:
        text = text.replace("{x}", f"{rng.getrandbits(40):010x}", 1)
    return text.replace("{t}", at.strftime("%Y-%m-%dT%H:%M:%SZ"))
