"""One GPU node for each dialect of dcgm-exporter that charts, operators and relabelling give, with its cluster.

Every node has two GPUs. GPU 0 is held by an idle pod and is hot; GPU 1 is held by nobody.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from collectors.facts.topology import NodeFacts, PodFacts, Topology

STEP = timedelta(seconds=30)
HOT, COOL = 95, 45

Own = Mapping[str, str]  # the labels of the target


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuNode:
    """A node and how its exporter's series name it and the pod."""

    name: str
    number: int
    named: Mapping[str, str]  # the labels that name the node
    pod_labels: tuple[str, ...] = ("exported_namespace", "exported_pod", "exported_container")
    is_honoured: bool = False  # the labels of the target that the series have too are the series' own
    is_mig: bool = False
    uuid_label: str = "UUID"
    counts_xids: bool = False  # its exporter has DCGM_EXP_XID_ERRORS_COUNT
    missing: frozenset[str] = frozenset()  # labels that its series lack
    renamed: Mapping[str, str] = field(default_factory=dict)  # labels with another name
    says_pci: bool = False  # as exporters do since 3.3

    @property
    def exporter(self) -> str:
        return f"nvidia-dcgm-exporter-{self.name[-2:]}x{self.number}q"

    @property
    def host(self) -> str:
        return f"10.0.0.{self.number}"

    @property
    def exporter_address(self) -> str:
        return f"10.244.{self.number}.7"

    @property
    def holder(self) -> tuple[str, str, str]:
        return f"team-{self.name}", f"train-{self.name}-0", "main"

    def uuid(self, gpu: int) -> str:
        return f"GPU-0000{self.number:04d}-{gpu}"

    def labels(self, gpu: int, *, job: str) -> dict[str, str]:
        """Return the labels of the series of a GPU."""
        own = {"namespace": "gpu-operator", "pod": self.exporter, "container": "nvidia-dcgm-exporter"}
        found = {
            "job": job,
            "instance": f"{self.exporter_address}:9400",
            "gpu": str(gpu),
            self.uuid_label: self.uuid(gpu),
            "device": f"nvidia{gpu}",
            "modelName": "NVIDIA H100",
            **({} if self.is_honoured else own),
            **self.named,
        }
        if self.says_pci:
            found["pci_bus_id"] = f"00000000:{0x41 + gpu:02X}:00.0"
        if self.is_mig and gpu == 0:
            found |= {"GPU_I_ID": "3", "GPU_I_PROFILE": "1g.10gb"}
        if gpu == 0:
            found |= dict(zip(self.pod_labels, self.holder, strict=False))
        return {
            self.renamed.get(name, name): value for name, value in found.items() if name not in self.missing
        }


HONOURED = ("namespace", "pod", "container")
OLD = ("pod_namespace", "pod_name", "container_name")


_honoured = partial(GpuNode, pod_labels=HONOURED, is_honoured=True)


def _nodes() -> Iterator[GpuNode]:
    yield _honoured(name="gpu-std", number=1, named={"Hostname": "gpu-std"})
    yield GpuNode(name="gpu-op", number=2, named={"Hostname": "gpu-op"}, counts_xids=True)
    yield GpuNode(name="gpu-ipp", number=3, named={})
    yield _honoured(name="gpu-iph", number=4, named={"instance": "10.0.0.4:9400"})
    yield _honoured(
        name="gpu-kn", number=5, named={"kubernetes_node": "gpu-kn", "Hostname": "nvidia-dcgm-exporter-knx5q"}
    )
    yield GpuNode(name="gpu-nl", number=6, named={"node": "gpu-nl"}, says_pci=True)
    yield _honoured(name="gpu-mig", number=7, named={"Hostname": "gpu-mig"}, is_mig=True)
    yield GpuNode(name="gpu-hn", number=8, named={"Hostname": "nvidia-dcgm-exporter-hnx8q"}, counts_xids=True)
    yield _honoured(name="gpu-low", number=9, named={"hostname": "gpu-low"}, uuid_label="uuid")
    yield GpuNode(name="gpu-fqdn", number=10, named={"Hostname": "gpu-fqdn.ml.example.com"}, pod_labels=OLD)


TEN = tuple(_nodes())


def topology_of(nodes: tuple[GpuNode, ...] = TEN) -> Topology:
    """Return the cluster of these nodes: its exporters and the pods that hold GPUs."""
    pods = [
        pod
        for one in nodes
        for pod in (
            PodFacts(
                namespace="gpu-operator", name=one.exporter, node=one.name, address=one.exporter_address
            ),
            PodFacts(namespace=one.holder[0], name=one.holder[1], node=one.name, gpus=1),
        )
    ]
    return Topology(
        cluster="lab",
        nodes={one.name: NodeFacts(name=one.name, addresses=(one.host,), gpus=2) for one in nodes},
        pods={(pod.namespace, pod.name): pod for pod in pods},
        node_of_address={
            **{one.host: one.name for one in nodes},
            **{pod.address: pod.node for pod in pods if pod.address},
        },
    )


def recorded(
    nodes: tuple[GpuNode, ...],
    *,
    end: datetime,
    lasted: timedelta = timedelta(minutes=45),
    job: str = "dcgm-exporter",
    names: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Return lines of OpenMetrics up to `end`; the XID comes 4 minutes before it.

    `job` may have `{node}` for the node's name. `names` are other names of metrics.
    """
    moments = [end - number * STEP for number in range(lasted // STEP, -1, -1)]
    metrics = ("GPU_TEMP", "GPU_UTIL", "XID_ERRORS")
    known = (*(f"DCGM_FI_DEV_{name}" for name in metrics), "DCGM_FI_PROF_GR_ENGINE_ACTIVE")
    for metric in known:
        name = (names or {}).get(metric, metric)
        yield f"# TYPE {name} gauge"
        for one in nodes:
            for gpu in (0, 1):
                if metric == "DCGM_FI_DEV_GPU_UTIL" and one.is_mig:
                    continue
                shown = ",".join(
                    f'{key}="{text}"' for key, text in one.labels(gpu, job=job.format(node=one.name)).items()
                )
                for at in moments:
                    value = _value(metric, gpu, is_late=at > end - timedelta(minutes=4))
                    yield f"{name}{{{shown}}} {value} {at.timestamp():.3f}"


def _value(metric: str, gpu: int, *, is_late: bool) -> int:
    if metric == "DCGM_FI_DEV_GPU_TEMP":
        return HOT if gpu == 0 else COOL
    return 79 if metric == "DCGM_FI_DEV_XID_ERRORS" and gpu == 0 and is_late else 0
