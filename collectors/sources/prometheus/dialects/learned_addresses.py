"""Addresses that the cluster does not know, from exporters that say the name of their own host.

A host may be scraped by another address than those of its node: through NAT, or on a network of its own.
"""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import datetime

from collectors.facts.results import Blind, Sample
from collectors.facts.topology import host_of
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.other_nodes import INSTANCE
from collectors.sources.prometheus.dialects.scope_watching import RunQuery
from collectors.sources.prometheus.dialects.scoping import Scope

_SAYS = ("nodename", "node")  # of node_uname_info and of kubelet_node_name
ASK_EVERY = 600.0  # seconds
_QUERY = f"count by ({INSTANCE}, {_SAYS[0]}) (node_uname_info) or count by ({INSTANCE}, {_SAYS[1]}) (kubelet_node_name)"


class LearnedAddresses:
    """Learns addresses from time to time."""

    def __init__(self, ask: RunQuery) -> None:
        self._ask = ask
        self._lock = asyncio.Lock()
        self._asked: float | None = None  # by the loop's clock

    async def follow(self, nodes: NodeNames | None, scope: Scope, at: datetime) -> None:
        """Ask if that is due. Without an answer, what was learned stays."""
        if nodes is None or not nodes.is_known:
            return
        async with self._lock:
            now = asyncio.get_running_loop().time()
            if self._asked is not None and now - self._asked < ASK_EVERY:
                return
            found = await self._ask(scope.of(_QUERY), at)
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
