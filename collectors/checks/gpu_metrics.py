"""The check of GPUs that nobody measures: what is not seen is unknown, and not healthy."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.objects import Node
from collectors.cluster.resources import gpu_resources_of, whole_gpus
from collectors.facts.label_mapping import subject_of
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import counted, sentence
from collectors.topology_builder import build_topology

_NAMES = "Hostname, hostname, node, kubernetes_node, nodename, exported_node, instance, job, namespace, pod"
# What every dcgm-exporter has, now and within the last hours: a family that was never there is not missed.
MEASURED = PromQLQuery(
    expr=f"""count by ({_NAMES}) (DCGM_FI_DEV_GPU_TEMP or DCGM_FI_DEV_GPU_UTIL)
      or label_replace(count by ({_NAMES}) (last_over_time(DCGM_FI_DEV_GPU_TEMP[6h])), "seen", "before", "", "")""",
    of_pack=True,
)
# Labels of GPU feature discovery, and the one that gives a node a configuration of the device plugin of its own.
_COUNTED, _PRODUCT, _PLUGIN_CONFIG = (
    "nvidia.com/gpu.count",
    "nvidia.com/gpu.product",
    "nvidia.com/device-plugin.config",
)
_ALL = 0.5  # of the GPU nodes, and more than a few: then their exporter is missing, and not that many nodes


def unmeasured(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each ready node with NVIDIA GPUs that Prometheus has no series of: how many GPUs.

    Of another make it is one sample where no node of it has any.

    If that is most nodes, it is one sample about dcgm-exporter. Series that name no node speak for as many nodes.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.metrics, Blind)
    yield from _never_measured(inputs)
    if not inputs.metrics:
        return
    nodes = {
        name: node
        for name, node in inputs.inventory.nodes.items()
        if is_node_ready(node) and inputs.inventory.nvidia_gpus_on(name)
    }
    yield None
    topology = build_topology(inputs.inventory, (), cluster="")
    series, unknown = dict[str, Counter[tuple[str, str]]](), set[str]()
    for sample in inputs.metrics:
        yield None
        if sample.labels.get("seen"):
            continue
        subject = subject_of(sample.labels)
        node = topology.node_named(subject.node)
        if node not in inputs.inventory.nodes:  # then the pod may tell
            node = topology.complete(subject).node
        if node in inputs.inventory.nodes:
            target = sample.labels.get("job", ""), sample.labels.get("instance", "")
            series.setdefault(node, Counter())[target] += round(sample.value)
        else:
            unknown.add(node)
    missing = {name: inputs.inventory.nvidia_gpus_on(name) for name in nodes if name not in series}
    if len(missing) <= len(unknown):
        missing = {}
    # Two targets may give the same GPUs.
    measured = {name: max(of.values()) for name, of in series.items() if name in nodes}
    partly = {} if unknown else _partly_measured(nodes, measured)
    if len(missing) + len(partly) > max(3, _ALL * len(nodes)):
        text = counted(
            "{count} of {nodes} GPU nodes has no series",
            "{count} of {nodes} GPU nodes have no series",
            count=len(missing),
            nodes=len(nodes),
        )
        if partly:
            text = counted(
                "{text}, and {count} has series of fewer GPUs than Kubernetes knows",
                "{text}, and {count} have series of fewer GPUs than Kubernetes knows",
                text=text,
                count=len(partly),
            )
        labels = Labels({"component": "dcgm-exporter"})
        yield Sample(labels=labels, value=len(missing) + len(partly), texts=(text,))
        return
    for name, count in sorted({**missing, **partly}.items()):
        texts = (
            (
                counted(
                    "{count} of the {gpus} GPUs has series",
                    "{count} of the {gpus} GPUs have series",
                    count=measured[name],
                    gpus=measured[name] + round(count),
                ),
            )
            if name in partly
            else ()
        )
        yield Sample(labels=Labels({"node": name}), value=count, texts=texts)


def _never_measured(inputs: CheckInput) -> Found:
    """Yield one sample for each other make of GPUs of which no node has a series: how many ready nodes.

    Of NVIDIA's, the check of metrics that were never there tells.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.metrics, Blind)
    makes: dict[str, set[str]] = {}
    for name, node in inputs.inventory.nodes.items():
        yield None
        if is_node_ready(node) and whole_gpus(node) and not inputs.inventory.nvidia_gpus_on(name):
            for resource in gpu_resources_of(node):
                makes.setdefault(resource.rpartition("/")[0], set()).add(name)
    if not makes:
        return
    topology = build_topology(inputs.inventory, (), cluster="")
    measured = set[str]()
    for sample in inputs.metrics:
        yield None
        subject = subject_of(sample.labels)
        measured.add(topology.complete(subject).node or topology.node_named(subject.node))
    for make, nodes in sorted(makes.items()):
        if measured.isdisjoint(nodes):
            text = sentence(
                "no series of the GPUs of {make}: is there an exporter, and does Prometheus scrape it?",
                make=make,
            )
            yield Sample(labels=Labels({"component": make}), value=len(nodes), texts=(text,))


def _partly_measured(nodes: Mapping[str, Node], measured: Mapping[str, int]) -> dict[str, float]:
    """Return how many GPUs lack series, by node, where others of the node have some. More series than GPUs are fine.

    Where a resource is a share of a GPU, the same number of them comes on each GPU of the cluster.
    """
    known = {name: count for name in measured if (count := _known_gpus(nodes[name]))}
    shares = {
        known[name] / measured[name] for name in known if _COUNTED not in (nodes[name].metadata.labels or {})
    }
    if len(shares) == 1 and (share := shares.pop()) > 1 and share.is_integer():
        known = {name: count for name, count in known.items() if count != share * measured[name]}
    return {name: count - measured[name] for name, count in known.items() if count > measured[name]}


def _known_gpus(node: Node) -> int:
    """Return the GPUs that Kubernetes knows of a node; 0 where its resources may be parts of them."""
    labels = node.metadata.labels or {}
    if labels.get(_COUNTED, "").isdigit():
        return 0 if "-MIG-" in labels.get(_PRODUCT, "") else min(int(labels[_COUNTED]), whole_gpus(node))
    return 0 if _PLUGIN_CONFIG in labels else whole_gpus(node)


CHECKS = (
    ClusterCheck(
        name="gpus-unmeasured",
        summary="a ready node has GPUs, and Prometheus has no series of them, or of fewer",
        needs=frozenset({"inventory", "metrics"}),
        run=unmeasured,
        metrics=MEASURED,
    ),
)
