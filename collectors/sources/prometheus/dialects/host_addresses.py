"""The labels that tell hosts apart, for exporters that the packs know by `instance`. Pure."""

from collections.abc import Sequence

from collectors.facts.labels import Labels
from collectors.sources.prometheus.dialects.node_names import NodeNames
from collectors.sources.prometheus.dialects.node_ranks import NodeRanks
from collectors.sources.prometheus.dialects.other_nodes import INSTANCE
from collectors.sources.prometheus.dialects.promql_rewriting import LabelSource

NODE = "node"  # the packs keep it beside the address
PLAIN = tuple(LabelSource(label=label, names=(label,)) for label in (INSTANCE, NODE))


def host_labels(
    series: Sequence[Labels], ranks: NodeRanks, nodes: NodeNames | None
) -> tuple[LabelSource, ...]:
    """Return where the address and the node of these series come from.

    They stay where they lead to the node that the series name, or where nothing names one: the host may be outside of
    the cluster. Elsewhere both become the node, because the packs join by the address too.
    """
    names = ranks.naming(series)
    if nodes is None or _are_right(series, names, nodes):
        return PLAIN
    return tuple(LabelSource(label=label, names=(*names, INSTANCE)) for label in (INSTANCE, NODE))


def _are_right(series: Sequence[Labels], names: Sequence[str], nodes: NodeNames) -> bool:
    """Whether each host has an address of its own, and `node`, or else the address, leads to where the others do."""
    hosts: dict[str, str] = {}
    for labels in series:
        address = labels.get(INSTANCE, "")
        named = next((node for name in (*names, INSTANCE) if (node := nodes.of(labels.get(name, "")))), "")
        found = nodes.of(labels.get(NODE, address))
        if nodes.learned(address) and not nodes.of_host(address):  # nothing else leads there from the address
            return False
        if "/" in address and nodes.of_host(address):  # a URL, which an alert takes for what was probed
            return False
        if named and (found != named or hosts.setdefault(address, named) != named):
            return False
    return True
