"""The state of the simulated cluster: every GPU, host, pod, training and DNS replica now."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum

from demo.world.layout import GIB, GPU_MEMORY_MIB, Layout, NodeSpec, gpu_uuid
from demo.world.shared_services import Ceph, ClusterDns, Osd, PodKey

CLOCK_MAX = 1980.0  # MHz, H200
CLOCK_IDLE = 345.0  # MHz, without a process
# XIDs after which a GPU cannot work until it is reset or replaced.
ENDS_GPU = frozenset({46, 48, 54, 62, 64, 74, 79, 95, 110, 119, 120, 136, 140, 143, 156, 158})
POWER_IDLE = 76.0  # W
POWER_MAX = 700.0  # W
LONG_AGO = datetime.min.replace(tzinfo=UTC)
INLET = 24.0  # °C, air into a healthy rack

CPU_MODES = ("idle", "iowait", "irq", "nice", "softirq", "steal", "system", "user")


class Role(Enum):
    WORKER = "worker"  # a rank of a training, or any other pod with GPUs
    SERVER = "ps"
    DNS = "dns"
    SYSTEM = "system"


class Phase(Enum):
    WAITING = "waiting"  # for missing ranks
    STARTING = "starting"  # ranks resolve each other's names
    RUNNING = "running"
    STALLED = "stalled"  # a rank is stuck and the others spin in a collective
    IDLE = "idle"  # holds GPUs without computing
    FAILED = "failed"
    FINISHED = "finished"


@dataclass(slots=True, kw_only=True)
class Gpu:
    """One GPU. Counters only grow; `dead` means fallen off the bus."""

    node: str
    index: int
    uuid: str
    pod: PodKey | None = None
    temperature: float = 31.0  # °C
    clock: float = CLOCK_IDLE  # MHz
    throttle: float = 1.0  # share of the full clock that temperature allows
    power: float = POWER_IDLE  # W
    utilisation: float = 0.0  # 0..100
    tensor: float = 0.0  # 0..1
    memory_used: float = 4.0  # MiB
    energy: float = 0.0  # mJ
    thermal_violation: float = 0.0  # ns
    power_violation: float = 0.0  # ns
    pcie_replays: float = 0.0
    nvlink_bytes: float = 0.0
    double_bit: float = 0.0
    xid: int = 0
    xids: deque[tuple[datetime, int]] = field(default_factory=deque)
    clock_events: deque[tuple[datetime, str]] = field(default_factory=deque)
    dead: bool = False
    window: timedelta = timedelta(minutes=5)  # over which the exporter counts XIDs and clock events

    @property
    def is_usable(self) -> bool:
        """Whether the device plugin advertises it. A GPU that needs a reset is not advertised."""
        return not self.dead and self.xid not in ENDS_GPU

    @property
    def memory_total(self) -> float:
        return float(GPU_MEMORY_MIB)


@dataclass(slots=True, kw_only=True)
class Host:
    """One server. Shares are 0..1, sizes bytes, counters seconds or bytes since boot."""

    spec: NodeSpec
    gpus: list[Gpu]
    booted: datetime
    inlet: float = INLET
    fans: float = 1.0  # share of the airflow of a healthy server
    burn: float = 0.0  # share of all cores used outside pods
    fill_rate: float = 0.0  # bytes/s written to the root file system by a fault
    busy: float = 0.05
    cpu_demand: float = 0.05  # requested over available cores; above 1, processes wait
    iowait: float = 0.004
    load: float = 1.0
    cpu_seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(CPU_MODES, 0.0))
    memory_used: float = 0.0
    disk_used: float = 0.0
    read_bytes: float = 0.0
    written_bytes: float = 0.0
    io_seconds: float = 0.0
    received: float = 0.0
    sent: float = 0.0
    page_faults: float = 0.0
    oom_kills: float = 0.0
    context_switches: float = 0.0
    clock_offset: float = 1.2e-5  # s
    kubelet_alive: bool = True
    powered: bool = True
    cordoned: bool = False

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def disk_share_used(self) -> float:
        return self.disk_used / self.spec.disk

    @property
    def memory_available(self) -> float:
        return max(0.0, self.spec.memory - self.memory_used)


@dataclass(slots=True, kw_only=True)
class Body:
    """A pod's process and its resource use. Physics sets `exit` when it ends; the kubelet then reports it."""

    key: PodKey
    uid: str
    node: str
    role: Role
    container: str
    training: PodKey | None = None  # (namespace, job name)
    rank: int = 0
    gpus: tuple[int, ...] = ()
    cpus: float = 0.05  # used cores
    cpu_seconds: float = 0.0
    memory: float = 0.1 * GIB  # bytes of its working set
    leak: float = 0.0  # bytes on top of `memory`
    leak_rate: float = 0.0  # bytes/s
    leak_limit: float = math.inf  # bytes at which the leak stops
    address: str = ""
    started: datetime | None = None
    labels: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)  # training, role, owner, team
    metrics_port: int = 0  # where it exposes metrics; 0: nowhere
    claims: tuple[str, ...] = ()  # names of mounted PersistentVolumeClaims
    exit: int | None = None
    exit_reason: str = ""


@dataclass(slots=True, kw_only=True)
class Training:
    """A job that holds GPUs. Synchronous: the slowest rank sets the step time. `key` is (namespace, job name)."""

    key: PodKey
    team: str = ""
    owner: str = ""
    ranks: int = 1  # required workers
    tasks: int = 1  # workers and parameter servers, which resolve each other's names
    step_base: float = 0.5  # s per step at full clock
    phase: Phase = Phase.WAITING
    since: datetime = LONG_AGO
    lasted: float = 0.0  # simulated s in this phase
    unsaved: float = 0.0  # simulated s since the last checkpoint
    steps: float = 0.0
    step_seconds: float = 0.0
    loss: float = 7.0
    run_for: timedelta | None = None  # None: never ends
    ran: float = 0.0  # s of useful work
    checkpoint_at: datetime | None = None
    checkpoint_steps: float = 0.0
    culprit: PodKey | None = None
    asleep: bool = False  # its code is stuck and all ranks idle
    logged_at: datetime = LONG_AGO  # of its last progress line
    lookups_left: float = 0.0  # DNS lookups left before it can start

    def enter(self, phase: Phase, now: datetime) -> None:
        self.phase, self.since, self.lasted = phase, now, 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldEvent:
    """An event that writes log lines or a Kubernetes Event: `what` is its name, `facts` fill the texts."""

    at: datetime
    what: str
    node: str | None = None
    pod: PodKey | None = None
    gpu: int | None = None
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class State:
    """The whole state. One owner advances it; others read it."""

    now: datetime
    layout: Layout
    hosts: dict[str, Host]
    ceph: Ceph
    rng: random.Random
    bodies: dict[PodKey, Body] = field(default_factory=dict)
    trainings: dict[PodKey, Training] = field(default_factory=dict)
    dns: ClusterDns = field(default_factory=ClusterDns)
    watchdog: timedelta = timedelta(seconds=60)  # NCCL's timeout for a collective
    extra_tasks: int = 0  # tasks of a training that is simulated only by its DNS lookups

    def gpus(self) -> Iterator[Gpu]:
        for host in self.hosts.values():
            yield from host.gpus

    def gpus_of(self, body: Body) -> list[Gpu]:
        host = self.hosts[body.node]
        return [host.gpus[index] for index in body.gpus]

    def ranks_of(self, training: PodKey) -> list[Body]:
        """Return the running workers of a training, by rank."""
        running = (
            b
            for b in self.bodies.values()
            if b.training == training and b.role is Role.WORKER and b.exit is None
        )
        return sorted(running, key=lambda body: (body.rank, body.key))


def initial_state(layout: Layout, now: datetime, *, seed: int = 1) -> State:
    """Return the cluster without pods."""
    rng = random.Random(seed)
    hosts = {
        spec.name: Host(
            spec=spec,
            gpus=[
                Gpu(node=spec.name, index=i, uuid=gpu_uuid(spec.name, i), temperature=30 + rng.random() * 3)
                for i in range(spec.gpus)
            ],
            booted=now - timedelta(days=11 + rng.randrange(40), seconds=rng.randrange(80_000)),
            disk_used=spec.disk * (0.34 + 0.1 * rng.random()),
            clock_offset=rng.uniform(-4e-5, 4e-5),
        )
        for spec in layout.nodes
    }
    for host in hosts.values():
        up = (now - host.booted).total_seconds()
        host.cpu_seconds.update(idle=up * 0.72, user=up * 0.22, system=up * 0.05, iowait=up * 0.01)
        host.received, host.sent = up * 4e7, up * 3e7
        host.read_bytes, host.written_bytes, host.io_seconds = up * 8e6, up * 5e6, up * 0.04
        host.context_switches = up * 90_000
    osds = [Osd(number=n, host=f"ceph-{n // 4 + 1:02d}", used=26e12 + rng.random() * 3e12) for n in range(12)]
    return State(now=now, layout=layout, hosts=hosts, ceph=Ceph(osds=osds, volumes={}), rng=rng)
