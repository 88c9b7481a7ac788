"""The check of GPUs that nobody measures: what is not seen is unknown, and not healthy."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.objects import Node
from collectors.cluster.resources import gpu_resources_of, gpus_out_of_service, whole_gpus
from collectors.facts.label_mapping import subject_of
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import counted, sentence
from collectors.facts.topology import Topology
from collectors.topology_builder import build_topology

_NAMES = "Hostname, hostname, node, kubernetes_node, nodename, exported_node, instance, job, namespace, pod"
# What every dcgm-exporter has, now and within the last hours: a family that was never there is not missed.
MEASURED = PromQLQuery(
    expr=f"""count by ({_NAMES}) (DCGM_FI_DEV_GPU_TEMP or DCGM_FI_DEV_GPU_UTIL)
      or label_replace(count by ({_NAMES}) (last_over_time(DCGM_FI_DEV_GPU_TEMP[6h])), "seen", "before", "", "")""",
    of_pack=True,
)
# Labels of GPU feature discovery, and the one that gives a node a configuration of the device plugin of its own.
_COUNTED, _PRODUCT, _REPLICAS, _PLUGIN_CONFIG = (
    "nvidia.com/gpu.count",
    "nvidia.com/gpu.product",
    "nvidia.com/gpu.replicas",
    "nvidia.com/device-plugin.config",
)
_ALL = 0.5  # of the GPU nodes, and more than a few: then their exporter is missing, and not that many nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredNodes:
    """What Prometheus measures: how many GPUs of each node each target gives, and what it measured before.

    `unknown` are series that name no node of the cluster: they may be of any.
    """

    now: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    before: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)

    def add(self, sample: Sample, topology: Topology) -> None:
        """Add a sample of the check's query."""
        subject = subject_of(sample.labels)
        node = topology.node_named(subject.node)
        if node not in topology.nodes:  # then the pod may tell
            node = topology.complete(subject).node
        if sample.labels.get("seen"):
            self.before.add(node)
        elif node in topology.nodes:
            target = sample.labels.get("job", ""), sample.labels.get("instance", "")
            self.now.setdefault(node, Counter())[target] += round(sample.value)
        else:
            self.unknown.add(node)

    def knows_none_of(self, nodes: Collection[str]) -> bool:
        """Whether none of the nodes has series, or had some within the last hours."""
        return self.before.isdisjoint(nodes) and self.now.keys().isdisjoint(nodes)


def other_makes(node: Node) -> frozenset[str]:
    """Return who makes the GPUs of a node, by their resources, if they are not NVIDIA's: `amd.com`."""
    makes = {resource.rpartition("/")[0] for resource in gpu_resources_of(node)}
    return frozenset(makes) if whole_gpus(node) else frozenset()


@partial(
    ClusterCheck,
    name="gpus-unmeasured",
    summary="a ready node has GPUs, and Prometheus has no series of them, or of fewer",
    needs={"inventory", "metrics"},
    metrics=MEASURED,
)
def unmeasured(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each ready node with GPUs that Prometheus has no series of: how many GPUs.

    If that is most nodes of a make, it is one sample about its exporter. Series that name no node speak for as many
    nodes. Of NVIDIA's GPUs, the check of metrics that were never there tells where nothing ever measured any.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.metrics, Blind)
    nvidia: dict[str, Node] = {}
    others: dict[str, dict[str, float]] = {}
    for name, node in inputs.inventory.nodes.items():
        yield None
        if not is_node_ready(node):
            continue
        if inputs.inventory.nvidia_gpus_on(name):
            nvidia[name] = node
            continue
        for make in other_makes(node):
            others.setdefault(make, {})[name] = whole_gpus(node)
    series = MeasuredNodes()
    topology = build_topology(inputs.inventory, (), cluster="")
    for sample in inputs.metrics:
        yield None
        series.add(sample, topology)
    for make, nodes in sorted(others.items()):
        yield from _of_other_make(make, nodes, series)
    if inputs.metrics:
        missing = {name: inputs.inventory.nvidia_gpus_on(name) for name in nvidia if name not in series.now}
        # Two targets may give the same GPUs.
        measured = {name: max(of.values()) for name, of in series.now.items() if name in nvidia}
        partly = {} if series.unknown else _partly_measured(nvidia, measured)
        yield from _samples("dcgm-exporter", len(nvidia), _certain(missing, series), partly, measured)


def _of_other_make(make: str, nodes: Mapping[str, float], series: MeasuredNodes) -> Found:
    """Yield one sample where nothing measures the make, and else a sample for each node that was forgotten.

    That takes an exporter that measures GPUs which nobody uses, too: some know only those that a container has.
    """
    if series.knows_none_of(nodes):
        text = sentence(
            "no series of the GPUs of {make}: is there an exporter, and does Prometheus scrape it?", make=make
        )
        yield Sample(labels=Labels({"component": make}), value=len(nodes), texts=(text,))
    elif not series.before.isdisjoint(nodes):
        missing = {name: count for name, count in nodes.items() if name not in series.now}
        yield from _samples(make, len(nodes), _certain(missing, series), {}, {})


def _certain(missing: Mapping[str, float], series: MeasuredNodes) -> Mapping[str, float]:
    """Return the nodes that lack series, unless series that name no node may be theirs."""
    return missing if len(missing) > len(series.unknown) else {}


def _samples(
    exporter: str,
    nodes: int,
    missing: Mapping[str, float],
    partly: Mapping[str, float],
    measured: Mapping[str, int],
) -> Found:
    """Yield a sample for each of these nodes, or one about the exporter of so many nodes if they are most of them."""
    if len(missing) + len(partly) > max(3, _ALL * nodes):
        text = counted(
            "{count} of {nodes} GPU nodes has no series",
            "{count} of {nodes} GPU nodes have no series",
            count=len(missing),
            nodes=nodes,
        )
        if partly:
            text = counted(
                "{text}, and {count} has series of fewer GPUs than Kubernetes knows",
                "{text}, and {count} have series of fewer GPUs than Kubernetes knows",
                text=text,
                count=len(partly),
            )
        labels = Labels({"component": exporter})
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


def _partly_measured(nodes: Mapping[str, Node], measured: Mapping[str, int]) -> dict[str, float]:
    """Return how many GPUs lack series, by node, where others of the node have some. More series than GPUs are fine.

    A GPU that Kubernetes calls out of service may be what lacks them: another alert is about it.

    Where a resource is a share of a GPU, the same number of them comes on each GPU of the cluster.
    """
    known = {name: count for name in measured if (count := _known_gpus(nodes[name]))}
    shares = {
        known[name] / measured[name] for name in known if _COUNTED not in (nodes[name].metadata.labels or {})
    }
    if len(shares) == 1 and (share := shares.pop()) > 1 and share.is_integer():
        known = {name: count for name, count in known.items() if count != share * measured[name]}
    fewer = {name: count - measured[name] for name, count in known.items() if count > measured[name]}
    lacking = {name: count - _out_of_service(nodes[name]) for name, count in fewer.items()}
    return {name: count for name, count in lacking.items() if count > 0}


def _out_of_service(node: Node) -> float:
    """Return how many GPUs are out of service; 0 where its resources are shares of them."""
    is_shared = (node.metadata.labels or {}).get(_REPLICAS, "1") not in ("", "0", "1")
    return 0 if is_shared else sum(counts.unhealthy for counts in gpus_out_of_service(node).values())


def _known_gpus(node: Node) -> int:
    """Return the GPUs that Kubernetes knows of a node; 0 where its resources may be parts of them."""
    labels = node.metadata.labels or {}
    if labels.get(_COUNTED, "").isdigit():
        return 0 if "-MIG-" in labels.get(_PRODUCT, "") else min(int(labels[_COUNTED]), whole_gpus(node))
    return 0 if _PLUGIN_CONFIG in labels else whole_gpus(node)


CHECKS = (unmeasured,)
