"""Cases of the rules about metrics that rules need: gone, never there though the cluster shows them, and not missed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from collectors.cluster.objects import PersistentVolume, Pod
from collectors.facts.missing_metrics import MissingCause, MissingMetrics
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import inventory, node, pod, read

_GPU_NODE = node("gpu-a01", status={"capacity": {"nvidia.com/gpu": "8"}})
_LINE = "DCGM_FI_DEV_XID_ERRORS, gauge, The last XID error"


def _pod(image: str) -> Pod:
    return pod("one", spec={"containers": [{"name": "main", "image": image}]})


def _volume(driver: str) -> PersistentVolume:
    tree = {"metadata": {"name": "pv1"}, "spec": {"csi": {"driver": driver, "volumeHandle": "h"}}}
    return read(PersistentVolume, tree)


def _missing(
    exporter: str,
    *metrics: str,
    cause: MissingCause = MissingCause.NO_TARGET,
    rules: tuple[str, ...] = ("A", "B"),
    **more: Any,
) -> MissingMetrics:
    return MissingMetrics(exporter=exporter, metrics=metrics, rules=rules, cause=cause, **more)


def _never(exporter: str, count: int) -> tuple[Fired, ...]:
    summary = f"Prometheus never had metrics of {exporter} that {count} rules need, and the cluster should give them."
    return (Fired(labels={"component": exporter, "severity": "warning"}, summary=summary),)


METRICS_CHECK_CASES: Sequence[CheckCase] = (
    CheckCase(
        rule="RuleMetricsLost",
        description="all metrics of an exporter went away, and no target of it is down: one alert for its rules",
        inputs=check_input(missing=[_missing("node_exporter", "node_a", "node_b", lost=("node_a",))]),
        fired=(
            Fired(
                labels={"component": "node_exporter", "extent": "all", "severity": "critical"},
                summary="node_exporter no longer gives metrics that 2 rules need.",
            ),
        ),
    ),
    CheckCase(
        rule="RuleMetricsLost",
        description="a counter was taken out of an exporter's file",
        inputs=check_input(
            missing=[
                _missing("dcgm-exporter", "DCGM_A", cause=MissingCause.NOT_EXPORTED, lost=("DCGM_A",)),
                _missing("Calico", "felix_a", is_optional=True),
            ]
        ),
        fired=(
            Fired(
                labels={"component": "dcgm-exporter", "extent": "some", "severity": "warning"},
                summary="dcgm-exporter no longer gives metrics that 2 rules need.",
            ),
        ),
    ),
    CheckCase(
        rule="RuleMetricsLost",
        description="a target that is down has an alert of its own, and what was never there was not lost",
        inputs=check_input(
            missing=[
                _missing(
                    "node_exporter", "node_a", cause=MissingCause.TARGET_DOWN, lost=("node_a",), jobs=("n",)
                ),
                _missing("dcgm-exporter", "DCGM_A"),
                _missing("", "own_metric"),
            ]
        ),
    ),
    CheckCase(
        rule="RuleMetricsNeverThere",
        description="GPUs, and no dcgm-exporter",
        inputs=check_input(inventory(_GPU_NODE), missing=[_missing("dcgm-exporter", "DCGM_A")]),
        fired=_never("dcgm-exporter", 2),
    ),
    CheckCase(
        rule="RuleMetricsNeverThere",
        description="the stock counters of dcgm-exporter lack one that every GPU has",
        inputs=check_input(
            missing=[
                _missing(
                    "dcgm-exporter",
                    "DCGM_FI_DEV_XID_ERRORS",
                    cause=MissingCause.NOT_EXPORTED,
                    always=("DCGM_FI_DEV_XID_ERRORS",),
                    lines=(_LINE,),
                )
            ],
        ),
        fired=_never("dcgm-exporter", 2),
    ),
    CheckCase(
        rule="RuleMetricsNeverThere",
        description="of what is not exported, only what every exporter gives counts",
        inputs=check_input(
            missing=[
                replace(
                    _missing(
                        "dcgm-exporter",
                        "DCGM_FI_DEV_THERMAL_VIOLATION",
                        "DCGM_FI_DEV_XID_ERRORS",
                        cause=MissingCause.NOT_EXPORTED,
                        always=("DCGM_FI_DEV_XID_ERRORS",),
                    ),
                    needs=(("A", ("DCGM_FI_DEV_THERMAL_VIOLATION",)), ("B", ("DCGM_FI_DEV_XID_ERRORS",))),
                )
            ],
        ),
        fired=_never("dcgm-exporter", 1),
    ),
    CheckCase(
        rule="RuleMetricsNeverThere",
        description="what NVIDIA ships commented out is the doctor's to say",
        inputs=check_input(
            missing=[
                _missing("dcgm-exporter", "DCGM_FI_DEV_THERMAL_VIOLATION", cause=MissingCause.NOT_EXPORTED)
            ],
        ),
    ),
    CheckCase(
        rule="RuleMetricsNeverThere",
        description="CoreDNS runs here, by an image with registry, tag and digest, and is not scraped",
        inputs=check_input(
            inventory(_pod("registry.k8s.io/coredns/coredns:v1.11.1@sha256:abc")),
            missing=[_missing("CoreDNS", "coredns_a")],
        ),
        fired=_never("CoreDNS", 2),
    ),
    CheckCase(
        rule="RuleMetricsNeverThere",
        description="the target of an exporter that runs here never answered",
        inputs=check_input(
            inventory(_pod("quay.io/prometheus/node-exporter:v1.8.0")),
            missing=[_missing("node_exporter", "node_a", cause=MissingCause.TARGET_DOWN, jobs=("node",))],
        ),
        fired=_never("node_exporter", 2),
    ),
    CheckCase(
        rule="RuleMetricsNeverThere",
        description="volumes of Ceph, and no metrics of it",
        inputs=check_input(
            inventory(_volume("rook-ceph.rbd.csi.ceph.com")),
            missing=[_missing("Ceph's manager", "ceph_a", is_optional=True)],
        ),
        fired=_never("Ceph's manager", 2),
    ),
    CheckCase(
        rule="RuleMetricsNeverThere",
        description="a small cluster without GPUs, Ceph, Hadoop, Calico and a control plane that can be scraped",
        inputs=check_input(
            inventory(
                node("a", status={"capacity": {"cpu": "8"}}),
                _volume("ebs.csi.aws.com"),
                _pod("registry:5000/nginx:1"),
            ),
            missing=[
                _missing("dcgm-exporter", "DCGM_A"),
                _missing("Ceph's manager", "ceph_a", is_optional=True),
                _missing("Hadoop's JMX exporter", "hadoop_a", is_optional=True),
                _missing("Calico", "felix_a", is_optional=True),
                _missing("etcd", "etcd_a"),
                _missing(
                    "the scheduler", "scheduler_a", cause=MissingCause.TARGET_DOWN, jobs=("kube-scheduler",)
                ),
            ],
        ),
    ),
    CheckCase(
        rule="RuleMetricsNeverThere",
        description="what was lost has an alert of its own; a counter that only some GPUs have is for the doctor",
        inputs=check_input(
            inventory(_GPU_NODE),
            missing=[
                _missing(
                    "dcgm-exporter", "DCGM_A", cause=MissingCause.NOT_EXPORTED, lines=("DCGM_A, gauge, A",)
                ),
                _missing("dcgm-exporter", "DCGM_B", lost=("DCGM_B",)),
            ],
        ),
    ),
)
