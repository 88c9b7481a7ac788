"""The names that the cluster's DNS answers for: they are its load, and not nodes."""

from collections import Counter

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import SERVICES
from collectors.dns.autoscaler import Autoscaler
from collectors.facts.dns_load import DnsSize

_FINISHED = ("Succeeded", "Failed")


def count_names(inventory: Inventory) -> int:
    """Return how many names there are: one for each Service, and for a headless one those of its pods.

    An ExternalName is an alias of a foreign name. A pod has a name of its own if it has a hostname and its subdomain
    is a headless Service, as the pods of StatefulSets and of indexed Jobs.
    """
    parts = (inventory.all(SERVICES), inventory.pods)
    return inventory.memo.get("dns-names", parts, lambda: _count(inventory))


def size_of(inventory: Inventory, autoscaler: Autoscaler) -> DnsSize:
    """Return what requires replicas in this cluster."""
    nodes, cores = autoscaler.count_all(inventory.nodes.values())
    return DnsSize(nodes=nodes, cores=cores, names=count_names(inventory))


def _count(inventory: Inventory) -> int:
    named = Counter(
        (pod.metadata.namespace, pod.spec.subdomain)
        for pod in inventory.pods.values()
        if pod.spec.hostname and pod.spec.subdomain and pod.status.phase not in _FINISHED
    )
    total = 0
    for service in inventory.all(SERVICES).values():
        if service.spec.type == "ExternalName":
            continue
        of_pods = named[service.metadata.namespace, service.metadata.name]
        total += max(1, of_pods if service.spec.cluster_ip == "None" else 1)
    return total
