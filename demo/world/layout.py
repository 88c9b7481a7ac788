"""The static layout of the simulated cluster: nodes, racks, teams and trainings."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

GIB = 1024**3
MODEL = "NVIDIA H200"
PRODUCT = "NVIDIA-H200"
DRIVER = "580.95.05"
CUDA = "13.0"
GPU_MEMORY_MIB = 143_771
KUBELET = "v1.36.3"
KERNEL = "6.8.0-64-generic"

# PCI addresses of the eight GPUs of an HGX board, in index order.
PCI_BUSES = ("18", "2a", "3a", "5d", "9a", "ab", "ba", "db")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpec:
    """One server. `cpus` is the number of physical cores and the capacity that the kubelet reports."""

    name: str
    rack: str
    row: int = 1  # of racks: they share a switch, cooling and power
    address: str
    pod_net: str  # the first three octets of its pod network, such as 10.244.3
    pool: str  # large, small (GPU servers) or infra
    gpus: int
    cpus: int
    memory: int  # bytes
    disk: int  # bytes of the root file system


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSpec:
    """A training with its own namespace, a worker Job, a parameter server Deployment and headless Services."""

    namespace: str
    name: str
    team: str
    owner: str
    workers: int
    gpus: int  # per worker
    servers: int  # parameter servers
    pool: str
    step_seconds: float
    worker_memory: int = 96 * GIB
    worker_cpus: int = 6

    @property
    def job(self) -> str:
        return f"{self.name}-worker"

    @property
    def server_deployment(self) -> str:
        return f"{self.name}-ps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    name: str
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The whole cluster: nodes, trainings and teams."""

    cluster: str
    nodes: tuple[NodeSpec, ...]
    trainings: tuple[TrainingSpec, ...]
    teams: tuple[Team, ...]

    def node(self, name: str) -> NodeSpec:
        """Return the node of this name. Raises KeyError when there is none."""
        for spec in self.nodes:
            if spec.name == name:
                return spec
        raise KeyError(f"no node {name!r}; choose from {', '.join(n.name for n in self.nodes)}")


def spare_node(layout: Layout) -> str:
    """Return the server of the large pool that its trainings do not need, or "" when they need all of it."""
    large = [node for node in layout.nodes if node.pool == "large"]
    needed = sum(one.workers * one.gpus for one in layout.trainings if one.pool == "large")
    return large[-1].name if large and needed <= sum(node.gpus for node in large[:-1]) else ""


def gpu_uuid(node: str, index: int) -> str:
    """The UUID of a GPU: the same in every run, so that history and live samples share series."""
    return f"GPU-{uuid.uuid5(uuid.NAMESPACE_OID, f'{node}/{index}')}"


def gpu_pci(index: int) -> str:
    """The PCI address as dcgm-exporter prints it, such as 00000000:18:00.0."""
    return f"00000000:{PCI_BUSES[index % len(PCI_BUSES)].upper()}:00.0"


def kernel_pci(index: int) -> str:
    """The PCI address as the kernel prints it, such as 0000:18:00."""
    return f"0000:{PCI_BUSES[index % len(PCI_BUSES)]}:00"


TEAMS = (
    Team(name="vision", people=("ana", "mei")),
    Team(name="speech", people=("bo",)),
    Team(name="reco", people=("chen",)),
    Team(name="sre", people=("dana", "eli")),
)

# Team, name, owner, workers, GPUs of each, parameter servers, pool, seconds of a step.
TRAININGS = tuple(
    TrainingSpec(
        namespace=f"{team}-{name}",
        name=name,
        team=team,
        owner=owner,
        workers=workers,
        gpus=gpus,
        servers=servers,
        pool=pool,
        step_seconds=step_seconds,
    )
    for team, name, owner, workers, gpus, servers, pool, step_seconds in (
        ("vision", "detr", "ana", 4, 8, 2, "large", 0.82),
        ("speech", "asr-large", "bo", 3, 8, 1, "large", 1.15),
        ("vision", "segment", "mei", 2, 8, 1, "large", 0.64),
        ("reco", "ctr", "chen", 2, 8, 2, "large", 0.31),
        ("speech", "tts", "bo", 2, 4, 1, "small", 0.47),
        ("reco", "embed", "chen", 4, 2, 1, "small", 0.22),
    )
)


def demo_layout(*, gpu_nodes: int = 16, racks: int = 4, gpus: int = 8, infra: int = 2) -> Layout:
    """Return the demo's cluster: `gpu-a01` … in racks, the last of each rack in the small pool, and `infra` servers."""
    nodes: list[NodeSpec] = []
    per_rack = -(-gpu_nodes // racks)
    for number in range(gpu_nodes):
        rack, place = "abcdefgh"[number // per_rack], number % per_rack + 1
        nodes.append(
            NodeSpec(
                name=f"gpu-{rack}{place:02d}",
                rack=f"rack-{rack}",
                row=number // per_rack // 2 + 1,
                address=f"10.0.{number // per_rack}.{10 + place}",
                pod_net=f"10.244.{number + 10}",
                pool="small" if place == per_rack else "large",
                gpus=gpus,
                cpus=16,
                memory=1024 * GIB,
                disk=1800 * GIB,
            )
        )
    nodes.extend(
        NodeSpec(
            name=f"infra-{number + 1:02d}",
            rack="rack-a",
            address=f"10.0.9.{11 + number}",
            pod_net=f"10.244.{number + 1}",
            pool="infra",
            gpus=0,
            cpus=8,
            memory=128 * GIB,
            disk=400 * GIB,
        )
        for number in range(infra)
    )
    return Layout(cluster="prod-a", nodes=tuple(nodes), trainings=TRAININGS, teams=TEAMS)
