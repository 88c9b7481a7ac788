"""Cases of the check rules of DNS: inputs that fire them, inputs that leave them quiet, and why."""

from collections.abc import Mapping, Sequence
from typing import Any

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Deployment, Pod, Service
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import inventory, node, owned, pod, read

_PODS = {"k8s-app": "kube-dns"}


def _cluster_of(count: int, *more: Any, services: int = 3, cordoned: int = 0) -> Inventory:
    nodes = [node(f"gpu-{number:03d}", spec={"unschedulable": number < cordoned}) for number in range(count)]
    found = [
        read(Service, {"metadata": {"name": f"s{number}", "namespace": "default"}})
        for number in range(services)
    ]
    return inventory(*nodes, *found, *more)


def _autoscaler(max: int, **more: object) -> dict[str, dict[str, str]]:
    extra = "".join(f', "{name}": {str(value).lower()}' for name, value in more.items())
    return {
        "kube-system/kube-dns-autoscaler": {
            "linear": f'{{"nodesPerReplica": 10, "min": 1, "max": {max}{extra}}}'
        }
    }


_CAPPED = {
    "component": "dns",
    "namespace": "kube-system",
    "configmap": "kube-dns-autoscaler",
    "severity": "warning",
}


def _config(text: str, **more: str) -> dict[str, dict[str, str]]:
    return {"kube-system/kube-dns-autoscaler": {"linear": text, **more}}


def _dns(
    ready: int, *, replicas: int = 2, name: str = "coredns", labels: Mapping[str, str] = _PODS
) -> Deployment:
    tree = {
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": dict(labels)}},
        "status": {"readyReplicas": ready},
    }
    return read(Deployment, tree)


def _scaler(tag: str = "1.10.3") -> Deployment:
    args = ["--configmap=kube-dns-autoscaler", "--target=deployment/coredns"]
    containers = [{"name": "autoscaler", "image": f"cpa:{tag}", "args": args}]
    tree = {
        "metadata": {"name": "kube-dns-autoscaler", "namespace": "kube-system"},
        "spec": {"template": {"spec": {"containers": containers}}},
    }
    return read(Deployment, tree)


def _replica(number: int, on: str, *, is_ready: bool = True, memory: str = "170Mi") -> Pod:
    """A pod of the DNS Deployment, through a ReplicaSet."""
    conditions = [{"type": "Ready", "status": str(is_ready)}]
    limits = {"limits": {"memory": memory}}
    return pod(
        f"coredns-5d78c9869d-{number:05d}",
        "kube-system",
        ownerReferences=owned("ReplicaSet", "coredns-5d78c9869d"),
        labels={**_PODS, "pod-template-hash": "5d78c9869d"},
        spec={"nodeName": on, "containers": [{"name": "coredns", "resources": limits}]},
        status={"conditions": conditions},
    )


_UNREADY = {"conditions": [{"type": "Ready", "status": "Unknown"}]}
_HALF_LOST = (
    *(node(f"gpu-{number}", status=_UNREADY) for number in range(60)),
    *(node(f"cpu-{number}") for number in range(40)),
)
_TARGET = {"component": "dns", "namespace": "kube-system", "deployment": "coredns"}
_TEN = _autoscaler(50)  # with 100 nodes: 10 replicas

DNS_CHECK_CASES: Sequence[CheckCase] = (
    CheckCase(
        rule="DNSAutoscalerCapped",
        description="61 nodes need seven replicas, but five are allowed",
        inputs=check_input(_cluster_of(61), configs=_autoscaler(5)),
        fired=(
            Fired(
                labels=_CAPPED,
                summary="The DNS autoscaler is at its maximum, but 7 replicas are needed.",
                texts=("61 nodes require 7 replicas, `max` is 5",),
            ),
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerCapped",
        description="few nodes, but 700 Services: names are the load of a name server",
        inputs=check_input(_cluster_of(20, services=700), configs=_autoscaler(2)),
        fired=(
            Fired(
                labels=_CAPPED,
                summary="The DNS autoscaler is at its maximum, but 3 replicas are needed.",
                texts=("700 names require 3 replicas, `max` is 2",),
            ),
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerCapped",
        description="exactly as many replicas are needed as are allowed",
        inputs=check_input(_cluster_of(50), configs=_autoscaler(5)),
    ),
    CheckCase(
        rule="DNSAutoscalerCapped",
        description="the autoscaler does not count cordoned nodes",
        inputs=check_input(_cluster_of(61, cordoned=30), configs=_autoscaler(5)),
    ),
    CheckCase(
        rule="DNSAutoscalerCapped",
        description="a maximum of 0 is no maximum, and an invalid document limits nothing",
        inputs=check_input(
            _cluster_of(61), configs={**_autoscaler(0), "kube-system/dns-autoscaler": {"linear": "{"}}
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerShrunk",
        description="60 of 100 nodes are cordoned: their pods ask on",
        inputs=check_input(_cluster_of(100, cordoned=60), configs=_TEN),
        fired=(
            Fired(
                labels={**_CAPPED, "severity": "warning"},
                summary="The DNS autoscaler sets 4 replicas: it counts no node that is cordoned or not ready.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerShrunk",
        description="seven of ten replicas are less than three quarters",
        inputs=check_input(_cluster_of(100, cordoned=30), configs=_TEN),
        fired=(
            Fired(
                labels={**_CAPPED, "severity": "warning"},
                summary="The DNS autoscaler sets 7 replicas: it counts no node that is cordoned or not ready.",
                texts=("30 of 100 nodes are cordoned or not Ready, so 7 replicas are set, not 10",),
            ),
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerShrunk",
        description="six of eight are three quarters",
        inputs=check_input(_cluster_of(80, cordoned=20), configs=_TEN),
    ),
    CheckCase(
        rule="DNSAutoscalerShrunk",
        description="20 of 100 are cordoned: most replicas are left",
        inputs=check_input(_cluster_of(100, cordoned=20), configs=_TEN),
    ),
    CheckCase(
        rule="DNSAutoscalerShrunk",
        description="cordoned nodes are counted",
        inputs=check_input(
            _cluster_of(100, cordoned=60), configs=_autoscaler(50, includeUnschedulableNodes=True)
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerShrunk",
        description="60 of 100 nodes are not Ready",
        inputs=check_input(inventory(_dns(4), _scaler(), *_HALF_LOST), configs=_TEN),
        fired=(
            Fired(
                labels={**_CAPPED, "severity": "warning"},
                summary="The DNS autoscaler sets 4 replicas: it counts no node that is cordoned or not ready.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerShrunk",
        description="an old autoscaler counts nodes that are not Ready",
        inputs=check_input(inventory(_dns(4), _scaler("1.8.9"), *_HALF_LOST), configs=_TEN),
    ),
    CheckCase(
        rule="DNSAutoscalerConfigRejected",
        description="a maximum below the minimum",
        inputs=check_input(configs=_config('{"nodesPerReplica": 10, "min": 5, "max": 3}')),
        fired=(
            Fired(
                labels={**_CAPPED, "severity": "warning"},
                summary="The DNS autoscaler rejects its ConfigMap kube-dns-autoscaler.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerConfigRejected",
        description="`servicesPerReplica` alone is no document",
        inputs=check_input(configs=_config('{"servicesPerReplica": 300}')),
        fired=(
            Fired(
                labels={**_CAPPED, "severity": "warning"},
                summary="The DNS autoscaler rejects its ConfigMap kube-dns-autoscaler.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerConfigRejected",
        description="a second key beside the document",
        inputs=check_input(configs=_config('{"nodesPerReplica": 10}', note="ours")),
        fired=(
            Fired(
                labels={**_CAPPED, "severity": "warning"},
                summary="The DNS autoscaler rejects its ConfigMap kube-dns-autoscaler.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerConfigIgnored",
        description="`servicesPerReplica` beside a key that is known does nothing",
        inputs=check_input(configs=_autoscaler(50, servicesPerReplica=300)),
        fired=(
            Fired(
                labels={**_CAPPED, "severity": "info"},
                summary="The DNS autoscaler ignores a part of its ConfigMap kube-dns-autoscaler.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerConfigRejected",
        description="a valid document, and one of another mode",
        inputs=check_input(configs={**_TEN, "kube-system/dns-autoscaler": {"ladder": "{}"}}),
    ),
    CheckCase(
        rule="DNSReplicasLow",
        description="9 of 10 that the autoscaler computes",
        inputs=check_input(_cluster_of(100, _dns(9, replicas=10), _scaler()), configs=_TEN),
        fired=(
            Fired(
                labels={**_TARGET, "severity": "warning"},
                summary="Only 9 replicas of the cluster DNS are ready.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSReplicasLow",
        description="the autoscaler has not raised the Deployment to what it computes",
        inputs=check_input(_cluster_of(100, _dns(4, replicas=4), _scaler()), configs=_TEN),
        fired=(
            Fired(
                labels={**_TARGET, "severity": "warning"},
                summary="Only 4 replicas of the cluster DNS are ready.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSReplicasLow",
        description="all 10 are ready",
        inputs=check_input(_cluster_of(100, _dns(10, replicas=10), _scaler()), configs=_TEN),
    ),
    CheckCase(
        rule="DNSReplicasLow",
        description="no autoscaler runs: the Deployment has what it requests",
        inputs=check_input(_cluster_of(100, _dns(4, replicas=4)), configs=_TEN),
    ),
    CheckCase(
        rule="DNSReplicasLow",
        description="the autoscaler rejects its document and leaves the Deployment as it is",
        inputs=check_input(_cluster_of(100, _dns(4, replicas=4), _scaler()), configs=_config("{")),
    ),
    CheckCase(
        rule="DNSReplicasLow",
        description="another Deployment is none of its business",
        inputs=check_input(_cluster_of(100, _dns(0, name="web", labels={"app": "web"}))),
    ),
    CheckCase(
        rule="DNSReplicasCritical",
        description="6 of 13",
        inputs=check_input(_cluster_of(130, _dns(6, replicas=13), _scaler()), configs=_TEN),
        fired=(
            Fired(
                labels={**_TARGET, "severity": "critical"},
                summary="Less than half of the cluster DNS is ready: 6 replicas.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSReplicasCritical",
        description="half of them are ready",
        inputs=check_input(_cluster_of(100, _dns(5, replicas=10), _scaler()), configs=_TEN),
    ),
    CheckCase(
        rule="DNSDown",
        description="none of two is ready",
        inputs=check_input(_cluster_of(2, _dns(0))),
        fired=(
            Fired(
                labels={**_TARGET, "severity": "critical"},
                summary="The cluster has no DNS: no replica is ready.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSDown",
        description="it was scaled to nothing",
        inputs=check_input(_cluster_of(2, _dns(0, replicas=0))),
        fired=(
            Fired(
                labels={**_TARGET, "severity": "critical"},
                summary="The cluster has no DNS: no replica is ready.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSDown",
        description="it was scaled to nothing, as other pods answer",
        inputs=check_input(_cluster_of(2, _dns(0, replicas=0), _replica(1, "gpu-000"))),
    ),
    CheckCase(
        rule="DNSDown",
        description="one of two is ready",
        inputs=check_input(_cluster_of(2, _dns(1))),
    ),
    CheckCase(
        rule="DNSOnOneNode",
        description="both are on one node",
        inputs=check_input(_cluster_of(2, _dns(2), _replica(1, "gpu-000"), _replica(2, "gpu-000"))),
        fired=(
            Fired(
                labels={**_TARGET, "severity": "info"},
                summary="All 2 ready replicas of the cluster DNS are on one node.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSOnOneNode",
        description="they are on two nodes",
        inputs=check_input(_cluster_of(2, _dns(2), _replica(1, "gpu-000"), _replica(2, "gpu-001"))),
    ),
    CheckCase(
        rule="DNSOnOneNode",
        description="a single replica has no other node to be on",
        inputs=check_input(
            _cluster_of(2, _dns(1), _replica(1, "gpu-000"), _replica(2, "gpu-001", is_ready=False))
        ),
    ),
    CheckCase(
        rule="DNSMemoryShort",
        description="40,000 names of Services and the default limit of a small cluster",
        inputs=check_input(_cluster_of(2, _dns(1), _replica(1, "gpu-000", memory="70Mi"), services=40_000)),
        fired=(
            Fired(
                labels={**_TARGET, "severity": "warning"},
                summary="Each replica of the cluster DNS needs 83 MB, more than its memory limit.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSMemoryShort",
        description="a limit that suffices",
        inputs=check_input(_cluster_of(2, _dns(1), _replica(1, "gpu-000"), services=40_000)),
    ),
    CheckCase(
        rule="DNSMemoryShort",
        description="no limit",
        inputs=check_input(
            _cluster_of(
                2,
                _dns(1),
                pod("coredns-1", "kube-system", ownerReferences=owned("ReplicaSet", "coredns-5d78c9869d")),
                services=40_000,
            )
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerConfigIgnored",
        description="every key is known, or the document is rejected as a whole",
        inputs=check_input(
            configs={**_TEN, "kube-system/dns-autoscaler": {"linear": '{"servicesPerReplica": 300}'}}
        ),
    ),
)
