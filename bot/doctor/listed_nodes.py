"""The nodes and pods of a cluster, listed once: what the doctor compares the labels of series with."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import msgspec

from bot.settings.source_settings import KubernetesSettings
from collectors.checks.gpu_metrics import other_makes
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.kinds import NODES, PODS
from collectors.cluster.objects import Node, Pod
from collectors.facts.results import SourceError
from collectors.facts.topology import NodeFacts, PodFacts, Topology
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource

_LIMIT = timedelta(seconds=30)


class _Nodes(msgspec.Struct):
    items: list[Node] | None = None


class _Pods(msgspec.Struct):
    items: list[Pod] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCluster:
    """The names, addresses and places of nodes and pods. `makes`: ready nodes by who makes their GPUs, but NVIDIA."""

    topology: Topology
    makes: Mapping[str, frozenset[str]] = field(default_factory=dict)


async def listed_cluster(settings: KubernetesSettings, *, cluster: str) -> ListedCluster:
    """Return the nodes and pods, without those that cannot be listed.

    What cannot be listed, and why, is a finding about the access to Kubernetes.
    """
    found = ListedCluster(topology=Topology(cluster=cluster))
    try:
        options = KubernetesOptions(kubeconfig=settings.kubeconfig, context=settings.context)
        async with asyncio.timeout(_LIMIT.total_seconds()):
            client = await KubernetesClient.connect(options)
            try:
                source = KubernetesSource(client)
                found = await _with_nodes(found, source)
                found = await _with_pods(found, source)
            finally:
                await client.close()
    except (SourceError, TimeoutError, msgspec.DecodeError, OSError, ValueError):
        return found
    return found


async def _with_nodes(listed: ListedCluster, source: KubernetesSource) -> ListedCluster:
    nodes: dict[str, NodeFacts] = {}
    makes: dict[str, frozenset[str]] = {}
    async for page in source.pages(NODES.path):
        for node in msgspec.json.decode(page, type=_Nodes).items or ():
            addresses = tuple(one.address for one in node.status.addresses or ())
            nodes[node.metadata.name] = NodeFacts(name=node.metadata.name, addresses=addresses)
            for make in other_makes(node) if is_node_ready(node) else ():
                makes[make] = makes.get(make, frozenset()) | {node.metadata.name}
    of_address = {address: node.name for node in nodes.values() for address in node.addresses}
    topology = replace(listed.topology, nodes=nodes, node_of_address=of_address)
    return ListedCluster(topology=topology, makes=makes)


async def _with_pods(listed: ListedCluster, source: KubernetesSource) -> ListedCluster:
    pods: dict[tuple[str, str], PodFacts] = {}
    async for page in source.pages(PODS.path):
        for pod in msgspec.json.decode(page, type=_Pods).items or ():
            namespace, name = pod.metadata.namespace, pod.metadata.name
            node, address = pod.spec.node_name, pod.status.pod_ip
            pods[namespace, name] = PodFacts(namespace=namespace, name=name, node=node, address=address)
    of_address = {pod.address: pod.node for pod in pods.values() if pod.address and pod.node}
    topology = listed.topology
    topology = replace(topology, pods=pods, node_of_address={**of_address, **topology.node_of_address})
    return replace(listed, topology=topology)
