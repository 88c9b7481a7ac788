"""The Deployment of the cluster's DNS: it is called coredns, kube-dns, rke2-coredns, …

It is found by its selector, which is the same in most distributions, or else by the Service through which it answers.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from collectors.cluster.conditions import is_pod_ready
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEPLOYMENTS, SERVICES
from collectors.cluster.objects import Deployment, Pod

_PORT = 53
_SERVERS = re.compile(r"(^|/)[^/]*(coredns|kube-?dns)[^/]*$")  # images
NAMESPACE = "kube-system"
SELECTOR: Mapping[str, str] = MappingProxyType({"k8s-app": "kube-dns"})  # also of CoreDNS


def dns_deployment(
    inventory: Inventory, *, namespace: str = NAMESPACE, selector: Mapping[str, str] = SELECTOR
) -> Deployment | None:
    """Return the Deployment whose pods the DNS Service selects, the largest of several.

    None where DNS is not a Deployment, or where Deployments cannot be seen, or where it is not clear which it is.
    """
    found = [
        deployment
        for deployment in inventory.all(DEPLOYMENTS).values()
        if deployment.metadata.namespace == namespace
        and _has(deployment.spec.selector.match_labels or {}, selector)
    ]
    return max(found, key=wanted_replicas, default=None) or _behind_a_service(inventory)


def _behind_a_service(inventory: Inventory) -> Deployment | None:
    """Return the only Deployment of a DNS server for Kubernetes that a Service on the port of DNS selects."""
    selectors = [
        (service.metadata.namespace, service.spec.selector)
        for service in inventory.all(SERVICES).values()
        if service.spec.selector and any(one.port == _PORT for one in service.spec.ports or ())
    ]
    found = [
        deployment
        for deployment in inventory.all(DEPLOYMENTS).values()
        if any(
            namespace == deployment.metadata.namespace
            and _has(deployment.spec.selector.match_labels or {}, selector)
            for namespace, selector in selectors
        )
        and any(_SERVERS.search(one.image) for one in deployment.spec.template.spec.containers or ())
    ]
    return found[0] if len(found) == 1 else None


def wanted_replicas(deployment: Deployment) -> int:
    """Return `spec.replicas`, which is 1 where it is absent."""
    return 1 if deployment.spec.replicas is None else deployment.spec.replicas


def dns_pods(inventory: Inventory, deployment: Deployment) -> tuple[Pod, ...]:
    """Return the pods of the Deployment that are not being deleted."""
    meta = deployment.metadata
    found = inventory.pods_of(f"{meta.namespace}/Deployment/{meta.name}")
    return tuple(pod for pod in found if pod.metadata.deletion_timestamp is None)


def answers_elsewhere(inventory: Inventory, *, namespace: str = NAMESPACE) -> bool:
    """Whether some ready pod, such as one of a DaemonSet, has the labels that the DNS Service selects."""
    pods = (pod for key, pod in inventory.pods.items() if key.startswith(f"{namespace}/"))
    return any(_has(pod.metadata.labels or {}, SELECTOR) and is_pod_ready(pod) for pod in pods)


def _has(labels: Mapping[str, str], selector: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in selector.items())
