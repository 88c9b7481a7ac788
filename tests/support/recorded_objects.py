"""The Kubernetes objects of a recorded cluster at a moment, as a cache would hold them."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

from collectors.cluster.cache import ClusterCache
from collectors.cluster.kinds import DEFAULT_KINDS, ResourceKind
from collectors.cluster.object_store import Snapshot
from collectors.cluster.objects import Deployment, Job, KubernetesObject, Service, StatefulSet
from collectors.facts.workload_keys import kind_with_group, workload_key
from tests.support.gpu_dialects import GpuNode
from tests.support.objects import gpus, node, owned, pod, read, snapshot_of
from tests.support.recorded_cluster import FaultKind, RecordedCluster

ObjectsAt = Callable[[datetime], Sequence[KubernetesObject]]
OWNER = "mei"
HELD_BEFORE = timedelta(hours=1)  # for so long the pods have held their GPUs when the recording begins
_DNS = {"k8s-app": "kube-dns"}
# The kinds that pods with GPUs come from, one node after the other; "" is a bare pod.
_KINDS = ("Job", "StatefulSet", "", "PyTorchJob")


def holder_kind(one: GpuNode) -> str:
    """Return the kind of the workload that holds GPU 0 of this node; empty for a bare pod."""
    return _KINDS[one.number % len(_KINDS)]


def holder_id(one: GpuNode) -> str:
    """Return the key of the training or workload that holds GPU 0 of this node."""
    namespace, name, _ = one.holder
    kind, base = holder_kind(one), name.removesuffix("-0")
    if not kind:
        return workload_key(namespace, "Pod", name)
    (owner,) = owned(kind, base)
    group = owner["apiVersion"].rpartition("/")[0]
    return workload_key(namespace, kind_with_group(kind, group), base)


def objects_at(cluster: RecordedCluster, at: datetime, *more: KubernetesObject) -> list[KubernetesObject]:
    """Return the objects of the cluster then."""
    found: list[KubernetesObject] = [*more]
    for one in cluster.nodes:
        found += _of_node(cluster, one, at)
    found += _dns()
    return found


def _of_node(cluster: RecordedCluster, one: GpuNode, at: datetime) -> Iterator[KubernetesObject]:
    def has(*kinds: FaultKind) -> bool:
        return any(cluster.has(kind, at, one.name) for kind in kinds)

    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    if has(FaultKind.NOT_READY):
        ready = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110"}
    registered = str(cluster.units * cluster.registered(at, one.name))
    offered = str(cluster.units * cluster.offered(at, one.name))
    yield node(
        one.name,
        status={
            "addresses": [
                {"type": "InternalIP", "address": one.host},
                {"type": "Hostname", "address": one.name},
            ],
            "capacity": {**amounts, cluster.resource: registered},
            "allocatable": {**amounts, cluster.resource: offered},
            "conditions": [ready],
            "nodeInfo": {"bootID": f"boot-{one.number}"},
        },
    )
    own = {"nodeName": one.name}
    yield pod(
        one.exporter,
        "gpu-operator",
        ownerReferences=owned("DaemonSet", "nvidia-dcgm-exporter"),
        spec=own,
        status={
            "podIP": one.exporter_address,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    )
    asks = gpus(cluster.units, resource=cluster.resource)
    yield from _holder(one, asks, begun=_written(cluster.start - HELD_BEFORE))


def _holder(one: GpuNode, asks: dict[str, Any], *, begun: str) -> Iterator[KubernetesObject]:
    namespace, name, _ = one.holder
    kind, base = holder_kind(one), name.removesuffix("-0")
    notes = {"yardmaster.io/owner": OWNER}
    owner = {"ownerReferences": owned(kind, base)} if kind else {}
    yield pod(
        name,
        namespace,
        annotations=notes,
        creationTimestamp=begun,
        spec={"nodeName": one.name, "containers": [asks]},
        status={"podIP": f"10.244.{one.number}.20", "startTime": begun},
        **owner,
    )
    template = {"spec": {"containers": [asks]}}
    meta = {"name": base, "namespace": namespace, "uid": "u", "annotations": notes}
    if kind == "Job":
        spec = {"parallelism": 1, "completions": 1, "template": template}
        meta["creationTimestamp"] = begun
        yield read(Job, {"metadata": meta, "spec": spec, "status": {"active": 1}})
    elif kind == "StatefulSet":
        yield read(StatefulSet, {"metadata": meta, "spec": {"replicas": 1, "template": template}})


def neighbour(node: str, *, owner: str) -> list[KubernetesObject]:
    """Return a Job of another owner that holds the other GPU of a node, which its series do not say."""
    meta: dict[str, Any] = {"annotations": {"yardmaster.io/owner": owner}}
    spec = {"parallelism": 1, "completions": 1, "template": {"spec": {"containers": [gpus(1)]}}}
    name = f"next-{node}"
    place = {"nodeName": node, "containers": [gpus(1)]}
    return [
        pod(f"{name}-0", "vision", spec=place, ownerReferences=owned("Job", name), **meta),
        read(
            Job,
            {
                "metadata": {"name": name, "namespace": "vision", **meta},
                "spec": spec,
                "status": {"active": 1},
            },
        ),
    ]


def _dns() -> Iterator[KubernetesObject]:
    meta: dict[str, Any] = {"namespace": "kube-system", "labels": _DNS}
    yield read(
        Deployment,
        {
            "metadata": {"name": "coredns", **meta},
            "spec": {"replicas": 2, "selector": {"matchLabels": _DNS}},
            "status": {"replicas": 2, "readyReplicas": 2, "availableReplicas": 2},
        },
    )
    yield read(
        Service,
        {"metadata": {"name": "kube-dns", **meta}, "spec": {"selector": _DNS, "clusterIP": "10.96.0.10"}},
    )
    for number, place in enumerate(("gpu-a", "gpu-b")):
        yield pod(
            f"coredns-7c65d6cfc9-{place}",
            "kube-system",
            labels=_DNS,
            ownerReferences=owned("ReplicaSet", "coredns-7c65d6cfc9"),
            spec={"nodeName": f"control-{number}"},
            status={"podIP": f"10.244.0.{4 + number}", "conditions": [{"type": "Ready", "status": "True"}]},
        )


def _written(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


class RecordedCache:
    """A look-alike of the cluster's cache, which always has the objects of the clock's moment."""

    kinds: tuple[ResourceKind[Any], ...] = ()
    left_out: frozenset[str] = frozenset()

    def __init__(self, objects: ObjectsAt, now: Callable[[], datetime]) -> None:
        self._objects = objects
        self._now = now
        self._built: tuple[datetime, dict[str, Snapshot[Any]]] | None = None

    @property
    def version(self) -> int:
        """Another one at each moment."""
        return int(self._now().timestamp())

    def blind_kinds(self) -> frozenset[str]:
        """None."""
        return frozenset()

    def status(self) -> tuple[()]:
        """Nothing that a metric would show."""
        return ()

    def snapshot(self, kind: ResourceKind[Any]) -> Snapshot[Any]:
        """Return the objects of a kind at the clock's moment."""
        now = self._now()
        if self._built is None or self._built[0] != now:
            found = self._objects(now)
            kinds = {one.name: one for one in DEFAULT_KINDS}
            self._built = (
                now,
                {
                    name: snapshot_of(one, (thing for thing in found if type(thing) is one.type), at=now)
                    for name, one in kinds.items()
                },
            )
        return self._built[1][kind.name]

    async def synced(self, _within: object) -> None:
        """It always is."""

    def as_cache(self) -> ClusterCache:
        """Return it as what a LiveCluster takes."""
        return cast(ClusterCache, self)
