"""The nodes that label values name: by name, address or host name, or by an exporter's own pod."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime

from collectors.facts.results import Blind, QueryResult, Sample
from collectors.facts.topology import PodKey, Topology, host_of
from collectors.sources.prometheus.dialects.families import INSTANCE

_SAYS = ("nodename", "node")  # of node_uname_info and of kubelet_node_name
ASK_EVERY = 600.0  # seconds
_QUERY = f"count by ({INSTANCE}, {_SAYS[0]}) (node_uname_info) or count by ({INSTANCE}, {_SAYS[1]}) (kubelet_node_name)"
_REMEMBERED = 50_000  # values

RunQuery = Callable[[str, datetime], Awaitable[QueryResult]]


class NodeNames:
    """Finds the node of a value.

    What was found is kept: the pod of an exporter that was replaced still names its node.
    """

    def __init__(self, topology: Callable[[], Topology]) -> None:
        self._topology = topology
        self._found: dict[str, str] = {}
        self._learned: Mapping[str, str] = {}
        self._pods: tuple[Topology, Mapping[str, PodKey | None]] | None = None

    def as_of_now(self) -> "NodeNames":
        """Return the same with the topology of this moment, for another thread. What it finds is kept here, too."""
        topology = self._topology()
        now = NodeNames(lambda: topology)
        now._found, now._pods, now._learned = self._found, self._pods, self._learned
        return now

    @property
    def is_known(self) -> bool:
        """Whether the nodes of the cluster are known."""
        return bool(self._topology().nodes)

    def some(self, count: int) -> tuple[str, ...]:
        """Return the names of so many nodes, spread over all of them."""
        names = sorted(self._topology().nodes)
        return tuple(names[:: max(1, -(-len(names) // count))])

    def is_node(self, value: str) -> bool:
        """Whether the value is the name of a node itself."""
        return value in self._topology().nodes

    @property
    def cluster(self) -> str:
        """The name of the cluster in the settings."""
        return self._topology().cluster

    def of_host(self, value: str) -> str:
        """Return the node with this name or address, or on which a pod has it; empty if there is none."""
        topology = self._topology()
        node = topology.node_named(value)
        return node if node in topology.nodes else ""

    def of(self, value: str) -> str:
        """Return the name of the node; empty when the value names none."""
        topology = self._topology()
        if value in topology.nodes:
            return value
        node = topology.node_named(value)
        if node not in topology.nodes:
            node = self._node_of_pod(topology, value) or self.learned(value)
        if node:
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            self._found[value] = node
        return node or self._found.get(value, "")

    def learn(self, addresses: Mapping[str, str]) -> None:
        """Take these addresses for those of nodes; the ones of before are forgotten."""
        self._learned = dict(addresses)

    @property
    def all_learned(self) -> Mapping[str, str]:
        """The nodes by the addresses that were learned."""
        return self._learned

    def learned(self, value: str) -> str:
        """Return the node of an address that the cluster does not know; empty if it was not learned."""
        return self._learned.get(host_of(value), "")

    def is_pod(self, namespace: str, pod: str) -> bool:
        """Whether the cluster has this pod."""
        return (namespace, pod) in self._topology().pods

    def of_holder(self, namespace: str, pod: str) -> str:
        """Return the node of a pod that holds GPUs; empty for others."""
        facts = self._topology().pods.get((namespace, pod))
        return facts.node if facts is not None and facts.gpus else ""

    def is_pod_of(self, namespace: str, pod: str, instance: str) -> bool:
        """Whether a target's address is the pod's own: then the pod is the exporter, and not a workload."""
        facts = self._topology().pods.get((namespace, pod))
        return (
            facts is not None
            and bool(facts.address)
            and instance.rpartition(":")[0].strip("[]") == facts.address
        )

    def _node_of_pod(self, topology: Topology, name: str) -> str:
        """Return the node of the pod with this name, if one pod alone has it."""
        if self._pods is None or self._pods[0] is not topology:
            keys: dict[str, PodKey | None] = {}
            for key in topology.pods:
                keys[key[1]] = None if key[1] in keys else key
            self._pods = topology, keys
        found = self._pods[1].get(name)
        return topology.pods[found].node if found is not None and found in topology.pods else ""


class LearnedAddresses:
    """Learns addresses that the cluster does not know from exporters that say the name of their own host.

    A host may be scraped by another address than those of its node: through NAT, or on a network of its own.
    """

    def __init__(self, ask: RunQuery) -> None:
        self._ask = ask
        self._lock = asyncio.Lock()
        self._asked: float | None = None  # by the loop's clock

    async def follow(self, nodes: NodeNames | None, of_cluster: Callable[[str], str], at: datetime) -> None:
        """Ask if that is due. Without an answer, what was learned stays."""
        if nodes is None or not nodes.is_known:
            return
        async with self._lock:
            now = asyncio.get_running_loop().time()
            if self._asked is not None and now - self._asked < ASK_EVERY:
                return
            found = await self._ask(of_cluster(_QUERY), at)
            if not isinstance(found, Blind):
                self._asked = now
                nodes.learn(learned(found.samples, nodes))


def learned(found: Iterable[Sample], nodes: NodeNames) -> Mapping[str, str]:
    """Return the nodes of the unknown addresses: each of one host, and each node with one address."""
    said: dict[str, set[str]] = {}
    for sample in found:
        instance = sample.labels.get(INSTANCE, "")
        name = next((value for label in _SAYS if (value := sample.labels.get(label, ""))), "")
        if instance and name and not nodes.of_host(instance):
            said.setdefault(host_of(instance), set()).add(nodes.of_host(name))
    single = {
        address: next(iter(some)) for address, some in said.items() if len(some) == 1 and "" not in some
    }
    counts: dict[str, int] = {}
    for node in single.values():
        counts[node] = counts.get(node, 0) + 1
    return {address: node for address, node in single.items() if counts[node] == 1}
