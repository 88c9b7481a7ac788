"""Rules of the packs on exporters of other makes of GPU, whose pages are written as their projects document them.

No such GPU was there to record: ROCm/device-metrics-exporter (docs/configuration/metricslist.md), Ascend's npu-exporter
("Prometheus Metrics API" of MindCluster), tkestack/gpu-manager, telegraf's inputs.nvidia_smi, ACK's labels,
Cambricon/mlu-exporter (examples/metrics.yaml), Hygon's dcu-exporter, intel/xpumanager (rest/prometheus_exporter),
telegraf's inputs.amd_rocm_smi and lablup/all-smi (API.md).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind
from collectors.gpu_activity import IDLE_AFTER, activity
from tests.real.fixtures import StartPrometheus
from tests.support.dialect_rules import END, seen, source_of, subjects
from tests.support.gpu_dialects import STEP, GpuNode, topology_of

A, B = GpuNode(name="gpu-a", number=41, named={}), GpuNode(name="gpu-b", number=42, named={})
WELL, HOT, USE, SICK = "well", "hot", "use", "sick"


@dataclass(frozen=True, slots=True, kw_only=True)
class Make:
    """One exporter: labels with `{node}`, `{host}`, `{gpu}`, and metrics by what they say, with a value.

    `pod`: the labels of namespace, pod and container; empty where the exporter does not say who holds a GPU.
    `grows`: by how much each sample of the faulty GPU is more.
    """

    name: str
    labels: str
    pod: tuple[str, ...] = ("namespace", "pod", "container")
    metrics: Mapping[str, tuple[str, float, float]]  # rule -> metric, value in the fault, value when well
    no_pod: Mapping[str, str] = field(default_factory=dict)
    grows: Mapping[str, float] = field(default_factory=dict)

    def page(self) -> Iterator[str]:
        """Return the samples of two nodes with two GPUs each: GPU 0 of the first is at fault, and its pod idle."""
        for rule, (metric, bad, good) in self.metrics.items():
            yield f"# TYPE {metric} gauge"
            for node in (A, B):
                for gpu in (0, 1):
                    is_bad = node is A and gpu == 0
                    for number in range(90, -1, -1):
                        value = bad + int((90 - number) * self.grows.get(rule, 0)) if is_bad else good
                        yield f"{metric}{{{self.of(node, gpu)}}} {value} {(END - number * STEP).timestamp():.3f}"

    def of(self, node: GpuNode, gpu: int) -> str:
        given = self.labels.format(node=node.name, host=node.host, gpu=gpu, number=node.number)
        held = dict(zip(self.pod, node.holder, strict=False)) if gpu == 0 else self.no_pod
        return ",".join(('job="gpus"', given, *(f'{key}="{value}"' for key, value in held.items())))


_OLD = ("namespace", "pod_name", "container_name")
_AMD = 'instance="{host}:5000",hostname="{node}",gpu_id="{gpu}",serial_number="SN{number}{gpu}",card_model="MI300X"'
MAKES = (
    Make(
        name="AMD",
        labels=_AMD,
        metrics={
            "GPUTemperatureHigh": ("gpu_junction_temperature", 97, 70),
            "GPUReportedUnhealthy": ("gpu_health", 0, 1),
            "GPUThermalResidencyHigh": ("gpu_violation_socket_thermal_residency_percentage", 40, 0),
            "idle": ("gpu_gfx_activity", 0, 90),
        },
    ),
    Make(
        name="AMD with a prefix",
        labels=_AMD,
        metrics={
            "GPUTemperatureHigh": ("amd_gpu_junction_temperature", 97, 70),
            "GPUReportedUnhealthy": ("amd_gpu_health", 0, 1),
            "idle": ("amd_gpu_gfx_activity", 0, 90),
        },
    ),
    Make(
        name="Ascend",
        labels='instance="{host}:8082",id="{gpu}",vdie_id="1850-{number}-{gpu}",'
        'model_name="910B-Ascend-V1",pcie_bus_info="0000:61:00.0"',
        pod=_OLD,
        no_pod=dict.fromkeys(_OLD, ""),
        metrics={
            "GPUTemperatureHigh": ("npu_chip_info_temperature", 91, 50),
            "GPUReportedUnhealthy": ("npu_chip_info_health_status", 0, 1),
            "GPUNetworkOpticsHot": ("npu_chip_optical_temp", 85, 50),
            "GPUNetworkPortFlapping": ("npu_chip_link_up_num", 4, 4),
            "idle": ("npu_chip_info_utilization", 0, 80),
        },
        grows={"GPUNetworkPortFlapping": 0.5},
    ),
    Make(
        name="telegraf",
        labels='instance="{host}:9273",host="{node}",index="{gpu}",uuid="GPU-{number}-{gpu}"',
        metrics={
            "GPUTemperatureHigh": ("nvidia_smi_temperature_gpu", 91, 50),
            "idle": ("nvidia_smi_utilization_gpu", 0, 80),
        },
    ),
    Make(
        name="ACK",
        labels='instance="{host}:9445",NodeName="{node}",gpu="{gpu}",UUID="GPU-{number}-{gpu}"',
        pod=("NamespaceName", "PodName", "ContainerName"),
        metrics={
            "GPUTemperatureHigh": ("DCGM_FI_DEV_GPU_TEMP", 91, 50),
            "idle": ("DCGM_FI_DEV_GPU_UTIL", 0, 80),
        },
    ),
    Make(
        name="gpu-manager",
        labels='instance="{host}:5678",node="{node}",gpu="gpu{gpu}"',
        pod=_OLD,
        metrics={"idle": ("container_gpu_utilization", 0, 80)},
    ),
    Make(
        name="Cambricon",
        labels='instance="{host}:30108",node="{node}",mlu="{gpu}",uuid="MLU-{number}-{gpu}",sn="50{number}{gpu}"',
        pod=(),
        metrics={
            "GPUTemperatureHigh": ("mlu_temperature", 95, 55),
            "GPUMemoryTemperatureHigh": ("mlu_memory_temperature", 99, 55),
            "GPUReportedUnhealthy": ("mlu_health", 0, 1),
            "GPURowRemapFailed": ("mlu_repair_failure", 1, 0),
        },
    ),
    Make(
        name="Hygon",
        labels='instance="{host}:16080",node="{node}",minor_number="{gpu}",device_id="T8R{number}{gpu}"',
        pod=("dcu_pod_namespace", "dcu_pod_name", "container"),
        metrics={
            "GPUTemperatureHigh": ("dcu_temp", 95, 55),
            "idle": ("dcu_utilizationrate", 0, 90),
        },
    ),
    Make(
        name="Intel",
        labels='instance="{host}:29999",node="{node}",dev_file="card{gpu}",uuid="0100-{number}-{gpu}",location="mem"',
        pod=(),
        metrics={"GPUMemoryTemperatureHigh": ("xpum_temperature_celsius", 99, 55)},
    ),
    Make(
        name="telegraf's amd_rocm_smi",
        # `gpu_id` is that of the model.
        labels='instance="{host}:9273",host="{node}",gpu_id="0x74a1",gpu_unique_id="0x9f41{number}{gpu}",name="card{gpu}"',
        metrics={
            "GPUTemperatureHigh": ("amd_rocm_smi_temperature_sensor_junction", 99, 60),
            "GPUMemoryTemperatureHigh": ("amd_rocm_smi_temperature_sensor_memory", 104, 60),
            "idle": ("amd_rocm_smi_utilization_gpu", 0, 90),
        },
    ),
    Make(
        name="all-smi",
        labels='instance="{host}:9090",exported_instance="{node}",gpu="NVIDIA H200 141GB HBM3",'
        'index="{gpu}",uuid="GPU-{number}-{gpu}"',
        metrics={
            "GPUTemperatureHigh": ("all_smi_gpu_temperature_celsius", 95, 60),
            "idle": ("all_smi_gpu_utilization", 0, 90),
        },
    ),
)


@pytest.mark.parametrize("make", MAKES, ids=lambda one: one.name)
async def test_a_fault_names_the_gpu_its_node_and_its_holder(
    start_prometheus: StartPrometheus, make: Make
) -> None:
    server = start_prometheus(samples=make.page())
    async with source_of(server.url, lambda: topology_of((A, B))) as source:
        for rule in make.metrics.keys() - {"idle"}:
            (found,) = subjects(rule, await seen(source, rule))
            assert (found.node, found.gpu) == ("gpu-a", "0"), rule
        if "idle" not in make.metrics:
            return
        query: PromQLQuery = activity(IDLE_AFTER)
        answer = await source.query(query, at=END)
        assert not isinstance(answer, Blind)
        most = [one for one in answer.samples if one.labels["measure"].endswith("/most")]
        by_pod = {held(one.labels): one.value for one in most}
        assert by_pod[A.holder[:2]] == 0
        assert by_pod[B.holder[:2]] > 0


def held(labels: Labels) -> tuple[str, ...]:
    return labels.get("exported_namespace", ""), labels.get("exported_pod", "")
