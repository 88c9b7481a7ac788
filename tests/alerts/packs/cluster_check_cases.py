"""Cases of the rules on the network and the control plane, as the API shows them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from collectors.cluster.objects import Deployment, Event, Namespace, Node, Pod, Service
from collectors.trainings.training import Training, TrainingState
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import NOW, inventory, node, owned, pod, read

_NO_BLOCKS = (
    'plugin type="calico" failed (add): failed to request IPv4 addresses: Assigned 0 out of 1 requested IPv4 '
    "addresses; No more free affine blocks and strict affinity enabled"
)
_BGP = "calico/node is not ready: BIRD is not ready: BGP not established with 10.0.0.1"


def _stamp(ago: timedelta) -> str:
    return (NOW - ago).strftime("%Y-%m-%dT%H:%M:%SZ")


def _event(
    name: str, message: str, *, reason: str = "FailedCreatePodSandBox", count: int = 3, ago: float = 1
) -> Event:
    """Return an event that happened `count` times within three minutes, last so many minutes ago."""
    tree = {
        "metadata": {"name": f"{name}.{reason}", "namespace": "kube-system"},
        "involvedObject": {"kind": "Pod", "namespace": "kube-system", "name": name},
        "source": {"component": "kubelet", "host": "gpu-a01"},
        "reason": reason,
        "message": message,
        "count": count,
        "firstTimestamp": _stamp(timedelta(minutes=ago + 3)),
        "lastTimestamp": _stamp(timedelta(minutes=ago)),
    }
    return read(Event, tree)


def _unavailable(name: str, status: str) -> Node:
    return node(
        name,
        status={
            "conditions": [
                {"type": "Ready", "status": "True"},
                {"type": "NetworkUnavailable", "status": status},
            ]
        },
    )


def _agent(daemonset: str, on: str, *, ready: bool, **parts: Any) -> Pod:
    return pod(
        f"{daemonset}-{on}",
        "kube-system",
        ownerReferences=owned("DaemonSet", daemonset),
        spec={"nodeName": on},
        status={"conditions": [{"type": "Ready", "status": str(ready)}]},
        **parts,
    )


def _static(component: str, on: str, *, ready: bool) -> Pod:
    return pod(
        f"{component}-{on}",
        "kube-system",
        labels={"tier": "control-plane", "component": component},
        spec={"nodeName": on},
        status={
            "conditions": [
                {"type": "Ready", "status": str(ready), "message": "containers with unready status"}
            ]
        },
    )


def _deployment(name: str, *, replicas: int | None, ready: int, namespace: str = "kubeflow") -> Deployment:
    spec: dict[str, Any] = {} if replicas is None else {"replicas": replicas}
    tree = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
        "status": {"readyReplicas": ready},
    }
    return read(Deployment, tree)


def _service(name: str, type_: str = "LoadBalancer", *addresses: str) -> Service:
    status = {"loadBalancer": {"ingress": [{"ip": one} for one in addresses]}} if addresses else {}
    return read(
        Service,
        {"metadata": {"name": name, "namespace": "serving"}, "spec": {"type": type_}, "status": status},
    )


def _ended(
    number: int,
    *,
    ago: timedelta,
    state: TrainingState = TrainingState.SUCCEEDED,
    has_namespace: bool = True,
) -> Training:
    name = f"run-{number}"
    return Training(
        id=f"{name}/{name}",
        kind="Job",
        namespace=name,
        name=name,
        state=state,
        has_namespace=has_namespace,
        finished=NOW - ago,
    )


def _ending(name: str, *, ago: float, status: str = "True", **condition: str) -> Namespace:
    meta = {"name": name, "deletionTimestamp": _stamp(timedelta(minutes=ago))}
    conditions = [{"type": "NamespaceContentRemaining", "status": status, **condition}]
    return read(Namespace, {"metadata": meta, "status": {"conditions": conditions}})


def _namespaces(count: int) -> list[Namespace]:
    return [read(Namespace, {"metadata": {"name": f"run-{number}"}}) for number in range(count)]


_NODES = [node(f"gpu-a0{number}") for number in range(1, 6)]

CLUSTER_CHECK_CASES: Sequence[CheckCase] = (
    CheckCase(
        rule="KubeNodeNetworkUnavailable",
        description="the network plugin has not set it up",
        inputs=check_input(inventory(_unavailable("gpu-a01", "True"))),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "condition": "NetworkUnavailable", "severity": "critical"},
                summary="The network of gpu-a01 is not set up.",
            ),
        ),
    ),
    CheckCase(
        rule="KubeNodeNetworkUnavailable",
        description="Calico has set it up, and a node that nobody reports it for",
        inputs=check_input(inventory(_unavailable("gpu-a01", "False"), node("gpu-a02"))),
    ),
    CheckCase(
        rule="NodeCannotAssignAddresses",
        description="Calico has no block left for the node",
        inputs=check_input(inventory(node("gpu-a01"), _event("worker-0", _NO_BLOCKS))),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "severity": "critical"},
                summary="gpu-a01 has no address left for new pods: 3 failures in 5 minutes.",
            ),
        ),
    ),
    CheckCase(
        rule="NodeCannotAssignAddresses",
        description="sandboxes that fail for another reason, two failures only, and others before",
        inputs=check_input(
            inventory(
                node("gpu-a01"),
                _event("worker-0", "failed to reserve sandbox name", count=9),
                _event("worker-1", _NO_BLOCKS, count=2),
                _event("worker-2", _NO_BLOCKS, count=9, ago=5.2),
            )
        ),
    ),
    CheckCase(
        rule="NetworkAgentDown",
        description="one of five; its probe says why",
        inputs=check_input(
            inventory(
                *_NODES,
                *(_agent("calico-node", f"gpu-a0{number}", ready=number > 1) for number in range(1, 6)),
                _event("calico-node-gpu-a01", _BGP, reason="Unhealthy"),
                _event("calico-node-gpu-a01", "Started container calico-node", reason="Started", ago=0),
            )
        ),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "component": "calico-node", "severity": "warning"},
                summary="calico-node on gpu-a01 is not ready.",
                texts=(_BGP,),
            ),
        ),
    ),
    CheckCase(
        rule="NetworkAgentDown",
        description="no probe says why: its container crashes, or its pod says so itself",
        inputs=check_input(
            inventory(
                *_NODES,
                pod(
                    "cilium-1",
                    "kube-system",
                    ownerReferences=owned("DaemonSet", "cilium"),
                    spec={"nodeName": "gpu-a01"},
                    status={
                        "containerStatuses": [
                            {"name": "config", "state": {"terminated": {"reason": "Completed"}}},
                            {"name": "agent", "state": {"waiting": {"reason": "CrashLoopBackOff"}}},
                        ]
                    },
                ),
                pod(
                    "cilium-2",
                    "kube-system",
                    ownerReferences=owned("DaemonSet", "cilium"),
                    spec={"nodeName": "gpu-a02"},
                    status={
                        "phase": "Running",
                        "conditions": [
                            {"type": "PodScheduled", "status": "True"},
                            {"type": "Ready", "status": "False", "reason": "ContainersNotReady"},
                        ],
                    },
                ),
                pod(
                    "cilium-3",
                    "kube-system",
                    ownerReferences=owned("DaemonSet", "cilium"),
                    spec={"nodeName": "gpu-a03"},
                    status={"phase": "Pending"},
                ),
            )
        ),
        fired=tuple(
            Fired(
                labels={"node": node, "component": "cilium", "severity": "warning"},
                summary=f"cilium on {node} is not ready.",
                texts=(text,),
            )
            for node, text in (
                ("gpu-a01", "agent: CrashLoopBackOff"),
                ("gpu-a02", "ContainersNotReady"),
                ("gpu-a03", "Pending"),
            )
        ),
    ),
    CheckCase(
        rule="NetworkAgentDown",
        description="other DaemonSets, pods that are or were replaced, and nodes that are not ready or are gone",
        inputs=check_input(
            inventory(
                *_NODES,
                node("gpu-b01", status={"conditions": [{"type": "Ready", "status": "Unknown"}]}),
                _agent("log-shipper", "gpu-a01", ready=False),
                _agent("calico-node", "gpu-a02", ready=False, deletionTimestamp=_stamp(timedelta(minutes=1))),
                _agent("calico-node", "gpu-b01", ready=False),
                _agent("calico-node", "gpu-gone", ready=False),
                pod(
                    "calico-node-old",
                    "kube-system",
                    ownerReferences=owned("DaemonSet", "calico-node"),
                    spec={"nodeName": "gpu-a03"},
                    status={"phase": "Failed", "reason": "Evicted"},
                ),
            )
        ),
    ),
    CheckCase(
        rule="CSINodePluginDown",
        description="of whichever driver",
        inputs=check_input(
            inventory(
                *_NODES,
                *(
                    _agent(name, f"gpu-a0{number}", ready=False)
                    for number, name in enumerate(
                        ("csi-rbdplugin", "ebs-csi-node", "lustre-csi", "aws-csi-driver"), 1
                    )
                ),
            )
        ),
        fired=tuple(
            Fired(
                labels={"node": f"gpu-a0{number}", "component": name, "severity": "warning"},
                summary=f"{name} on gpu-a0{number} is not ready.",
            )
            for number, name in enumerate(
                ("csi-rbdplugin", "ebs-csi-node", "lustre-csi", "aws-csi-driver"), 1
            )
        ),
    ),
    CheckCase(
        rule="CSINodePluginDown",
        description="it is ready, and other agents are not",
        inputs=check_input(
            inventory(
                *_NODES,
                _agent("csi-rbdplugin", "gpu-a01", ready=True),
                _agent("calico-node", "gpu-a02", ready=False),
            )
        ),
    ),
    CheckCase(
        rule="NetworkAgentsDown",
        description="two of five",
        inputs=check_input(
            inventory(
                *_NODES,
                *(_agent("calico-node", f"gpu-a0{number}", ready=number > 2) for number in range(1, 6)),
            )
        ),
        fired=(
            Fired(
                labels={"component": "calico-node", "severity": "critical"},
                summary="calico-node is not ready on 40% of its nodes.",
                texts=("2 of 5 are not ready, such as on gpu-a01, gpu-a02",),
            ),
        ),
    ),
    *(
        CheckCase(
            rule="NetworkAgentsDown",
            description=f"two of {count}",
            inputs=check_input(
                inventory(
                    *(_agent("kube-proxy", f"gpu-{number}", ready=number > 1) for number in range(count))
                )
            ),
            fired=fired,
        )
        for count, fired in (
            (
                19,
                (
                    Fired(
                        labels={"component": "kube-proxy", "severity": "critical"},
                        summary="kube-proxy is not ready on 10.53% of its nodes.",
                    ),
                ),
            ),
            (20, ()),
        )
    ),
    CheckCase(
        rule="NetworkAgentsDown",
        description="one of five is that node's trouble",
        inputs=check_input(
            inventory(
                *_NODES,
                *(_agent("calico-node", f"gpu-a0{number}", ready=number > 1) for number in range(1, 6)),
            )
        ),
    ),
    CheckCase(
        rule="MetalLBSpeakerDown",
        description="the speaker of one node",
        inputs=check_input(inventory(*_NODES, _agent("speaker", "gpu-a01", ready=False))),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "component": "metallb", "severity": "warning"},
                summary="The load balancer's speaker on gpu-a01 is not ready.",
            ),
        ),
    ),
    CheckCase(
        rule="MetalLBSpeakerDown",
        description="all speakers are ready",
        inputs=check_input(inventory(*_NODES, _agent("speaker", "gpu-a01", ready=True))),
    ),
    CheckCase(
        rule="LoadBalancerPending",
        description="a Service that has no address",
        inputs=check_input(inventory(_service("notebook"))),
        fired=(
            Fired(
                labels={"namespace": "serving", "service": "notebook", "severity": "warning"},
                summary="The Service serving/notebook waits for the address of a load balancer.",
            ),
        ),
    ),
    CheckCase(
        rule="LoadBalancerPending",
        description="one that has an address, and Services of other types",
        inputs=check_input(
            inventory(_service("a", "LoadBalancer", "10.9.0.1"), _service("b", "NodePort"), _service("c", ""))
        ),
    ),
    CheckCase(
        rule="ControlPlaneComponentDown",
        description="the only scheduler is not ready",
        inputs=check_input(
            inventory(
                _static("kube-scheduler", "master-1", ready=False),
                _static("kube-controller-manager", "master-1", ready=True),
            )
        ),
        fired=(
            Fired(
                labels={"component": "kube-scheduler", "severity": "critical"},
                summary="No kube-scheduler is ready.",
                texts=("kube-scheduler-master-1: containers with unready status",),
            ),
        ),
    ),
    CheckCase(
        rule="ControlPlaneComponentDown",
        description="one of three is not ready, and what else runs in the namespace is no part of it",
        inputs=check_input(
            inventory(
                *(_static("etcd", f"master-{number}", ready=number > 1) for number in (1, 2, 3)),
                _agent("kube-proxy", "master-1", ready=False),
            )
        ),
    ),
    CheckCase(
        rule="ControlPlanePodDown",
        description="one of three is not ready",
        inputs=check_input(
            inventory(*(_static("etcd", f"master-{number}", ready=number > 1) for number in (1, 2, 3)))
        ),
        fired=(
            Fired(
                labels={"component": "etcd", "severity": "warning"},
                summary="1 of the pods of etcd are not ready; others are.",
            ),
        ),
    ),
    CheckCase(
        rule="ControlPlanePodDown",
        description="all are ready, or none: that is the other rule's",
        inputs=check_input(
            inventory(
                _static("etcd", "master-1", ready=True), _static("kube-scheduler", "master-1", ready=False)
            )
        ),
    ),
    CheckCase(
        rule="OperatorDown",
        description="the operator of trainings, and one whose replicas are not said",
        inputs=check_input(
            inventory(
                _deployment("training-operator", replicas=1, ready=0),
                _deployment("volcano-controllers", replicas=None, ready=0),
            )
        ),
        fired=tuple(
            Fired(
                labels={"component": name, "namespace": "kubeflow", "severity": "warning"},
                summary=f"kubeflow/{name} has no ready replica.",
            )
            for name in ("training-operator", "volcano-controllers")
        ),
    ),
    CheckCase(
        rule="OperatorDown",
        description="one of two is ready, one is switched off, and an application",
        inputs=check_input(
            inventory(
                _deployment("kueue-controller-manager", replicas=2, ready=1),
                _deployment("mpi-operator", replicas=0, ready=0),
                _deployment("shop", replicas=3, ready=0),
            )
        ),
    ),
    CheckCase(
        rule="TrainingNamespacesLeft",
        description="21 trainings ended over a day ago, and their namespaces are still there",
        inputs=check_input(
            inventory(*_namespaces(21)),
            trainings=tuple(_ended(number, ago=timedelta(hours=25)) for number in range(21)),
        ),
        fired=(
            Fired(
                labels={"component": "apiserver", "severity": "info"},
                summary="21 namespaces of trainings that ended over a day ago are still there.",
                texts=("run-0, run-1, run-10, run-11, run-12",),
            ),
        ),
    ),
    CheckCase(
        rule="TrainingNamespacesLeft",
        description="twenty, those that ended within a day, those where something runs again, and those of teams",
        inputs=check_input(
            inventory(*_namespaces(90)),
            trainings=(
                *(_ended(number, ago=timedelta(days=3)) for number in range(20)),
                *(_ended(number, ago=timedelta(hours=23)) for number in range(20, 50)),
                *(_ended(number, ago=timedelta(days=3)) for number in range(50, 80)),
                *(_ended(number, ago=timedelta(), state=TrainingState.RUNNING) for number in range(50, 80)),
                *(_ended(number, ago=timedelta(days=3), has_namespace=False) for number in range(80, 90)),
            ),
        ),
    ),
    CheckCase(
        rule="NamespaceNotEnding",
        description="an API service does not answer",
        inputs=check_input(
            inventory(
                _ending(
                    "speech",
                    ago=16,
                    type="NamespaceDeletionDiscoveryFailure",
                    message="metrics.k8s.io/v1beta1",
                ),
                _ending(
                    "vision", ago=20, type="NamespaceFinalizersRemaining", status="False", message="none"
                ),
            )
        ),
        fired=(
            Fired(
                labels={"namespace": "speech", "severity": "warning"},
                summary="Namespace speech was deleted 16m 0s ago and is still there.",
                texts=("NamespaceDeletionDiscoveryFailure: metrics.k8s.io/v1beta1",),
            ),
            Fired(
                labels={"namespace": "vision", "severity": "warning"},
                summary="Namespace vision was deleted 20m 0s ago and is still there.",
                texts=(),
            ),
        ),
    ),
    CheckCase(
        rule="NamespaceNotEnding",
        description="it was deleted just now, its pods still run, or it stays",
        inputs=check_input(
            inventory(
                _ending("speech", ago=14), _ending("vision", ago=20), pod("a", "vision"), *_namespaces(2)
            )
        ),
    ),
)
