"""The check of GPU nodes whose GPUs nobody measures: what is not seen is unknown, and not healthy."""

from collections.abc import Mapping
from typing import Any

from collectors.checks.check import CheckInput, ClusterCheck, Found
from collectors.cluster.resources import is_ready, nvidia_gpus
from collectors.facts.label_mapping import subject_of
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, Sample
from collectors.topology_builder import build_topology

_NAMES = "Hostname, hostname, node, kubernetes_node, nodename, exported_node, instance, job, namespace, pod"
# What every dcgm-exporter has, now and within the last hours: a family that was never there is not missed.
MEASURED = PromQLQuery(
    expr=f"""count by ({_NAMES}) (DCGM_FI_DEV_GPU_TEMP or DCGM_FI_DEV_GPU_UTIL)
      or label_replace(count by ({_NAMES}) (last_over_time(DCGM_FI_DEV_GPU_TEMP[6h])), "seen", "before", "", "")""",
    of_pack=True,
)
_ALL = 0.5  # of the GPU nodes, and more than a few: then their exporter is missing, and not that many nodes


def unmeasured(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each ready node with NVIDIA GPUs of which Prometheus has no series: how many GPUs.

    If most nodes have none, it is one sample about dcgm-exporter. Series that name no node speak for as many nodes.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.metrics, Blind)
    if not inputs.metrics:
        return
    gpus = {
        name: count
        for name, node in inputs.inventory.nodes.items()
        if is_ready(node) and (count := nvidia_gpus(node.status.capacity or {}))
    }
    yield None
    topology = build_topology(inputs.inventory, (), cluster="")
    seen, unknown = set[str](), set[str]()
    for sample in inputs.metrics:
        yield None
        if sample.labels.get("seen"):
            continue
        subject = subject_of(sample.labels)
        node = topology.node_named(subject.node)
        if node not in inputs.inventory.nodes:  # then the pod may tell
            node = topology.complete(subject).node
        if node in inputs.inventory.nodes:
            seen.add(node)
        else:
            unknown.add(node)
    missing = sorted(gpus.keys() - seen)
    if len(missing) <= len(unknown):
        return
    if len(missing) > max(3, _ALL * len(gpus)):
        text = f"{len(missing)} of {len(gpus)} GPU nodes have no series"
        labels = Labels({"component": "dcgm-exporter"})
        yield Sample(labels=labels, value=len(missing), texts=(text,))
        return
    for name in missing:
        yield Sample(labels=Labels({"node": name}), value=gpus[name])


CHECKS = (
    ClusterCheck(
        name="gpus-unmeasured",
        summary="a ready node has NVIDIA GPUs, and Prometheus has no series of them",
        needs=frozenset({"inventory", "metrics"}),
        run=unmeasured,
        metrics=MEASURED,
    ),
)
