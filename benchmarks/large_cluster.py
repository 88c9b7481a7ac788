"""A large cluster in a process of its own: `python -m benchmarks.large_cluster PORT NODES`.

It serves what an API server and a Prometheus answer for NODES nodes of 8 GPUs, each with a rank of a training, four
pods of DaemonSets and five of Deployments. Ranks mount an image of data and one of checkpoints, and one of the
DaemonSets mounts the host's root. Each node has two events, and a gang waits for GPUs. A watch of pods changes one pod
every 10 ms; the other watches are quiet. Every rule's expression has one sample, so that each cycle has all presence
queries too.
"""

import asyncio
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import msgspec
from aiohttp import web

from alerts.rules import Rule
from benchmarks import pods
from benchmarks.local_server import serve_until_cancelled
from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from collectors.facts.clock import SystemClock
from collectors.facts.queries import PromQLQuery
from collectors.sources.prometheus.dialects.families import FAMILIES
from collectors.sources.prometheus.dialects.probing import any_of, signature_query
from collectors.sources.prometheus.dialects.rewriting import AUXILIARY

EVERY = 0.01  # seconds between two changes of pods
PAGE = 500
GPUS, RANKS, PODS_ON_NODE, EVENTS_ON_NODE = 8, 8, 10, 2
DAEMONS = ("calico-node", "kube-proxy", "node-exporter", "dcgm-exporter")
WAITING = 9_999  # the number of a training that has no nodes
PRESENCE = "max by (Hostname, gpu, UUID) (DCGM_FI_DEV_GPU_TEMP)"  # one series per GPU
PATHS_OF_KINDS = {
    "/api/v1/nodes": "node",
    "/api/v1/pods": "pod",
    "/api/v1/namespaces": "namespace",
    "/apis/apps/v1/deployments": "deployment",
    "/apis/apps/v1/replicasets": "replicaset",
    "/apis/batch/v1/jobs": "job",
    "/api/v1/persistentvolumeclaims": "claim",
    "/api/v1/persistentvolumes": "volume",
    "/api/v1/services": "service",
    "/api/v1/events": "event",
}
PATHS = tuple(PATHS_OF_KINDS)
_ANY_OF = re.compile(r'__name__=~"([^"]*)"')
_ALIASES = frozenset(one.name for family in FAMILIES for some in family.aliases.values() for one in some)
_ALIASES -= {name for family in FAMILIES for name in family.aliases}
_BY = re.compile(r"by \(([^)]*)\)")


def objects(kind: str, nodes: int) -> Iterator[dict[str, Any]]:
    """Yield the objects of a kind."""
    match kind:
        case "node":
            yield from (_node(number) for number in range(nodes))
        case "pod":
            yield from (_pod(number) for number in range(nodes * PODS_ON_NODE))
            yield from (_waiting(number) for number in range(RANKS))
        case "claim":
            yield from (_claim(*one) for one in _claims(nodes))
        case "volume":
            yield from (_volume(*one) for one in _claims(nodes))
        case "service":
            yield from ({"metadata": _meta(f"web-{n}", "services")} for n in range(_deployments(nodes)))
        case "event":
            yield from (_event(number) for number in range(nodes * EVENTS_ON_NODE))
        case "namespace":
            yield from ({"metadata": _meta(f"team-{number:02d}")} for number in range(20))
            yield from ({"metadata": _meta(name)} for name in ("services", "monitoring"))
        case "deployment":
            yield from ({"metadata": _meta(f"web-{n}", "services")} for n in range(_deployments(nodes)))
        case "replicaset":
            for number in range(_deployments(nodes)):
                owner = _owner("Deployment", f"web-{number}")
                yield {"metadata": _meta(f"web-{number}-7b6f", "services", ownerReferences=[owner])}
        case "job":
            yield from (_job(number) for number in range(nodes // RANKS))
            yield _job(WAITING) | {"status": {"ready": 0, "startTime": pods.MOMENT.format(1)}}
        case _:
            raise ValueError(kind)


def lists(kind: str, nodes: int) -> dict[str, bytes]:
    """Return the pages of a list by continue token; the first page has the empty one."""
    found, items, start = {}, list(objects(kind, nodes)), 0
    while start == 0 or start < len(items):
        end = start + PAGE
        meta = {"resourceVersion": "900000", **({"continue": str(end)} if end < len(items) else {})}
        listed = {"kind": f"{kind}List", "apiVersion": "v1", "metadata": meta, "items": items[start:end]}
        found[str(start) if start else ""] = msgspec.json.encode(listed)
        start = end
    return found


def _meta(name: str, namespace: str = "", **more: Any) -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    version = {"uid": f"uid-{namespace}-{name}", "resourceVersion": "1000"}
    return {"name": name, **place, **version, "creationTimestamp": pods.MOMENT.format(0), **more}


def _owner(kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}


def _deployments(nodes: int) -> int:
    return nodes * (PODS_ON_NODE - len(DAEMONS) - 1) // 25


def _node(number: int) -> dict[str, Any]:
    amounts = {"cpu": "192", "memory": "2Ti", "pods": "110", "nvidia.com/gpu": str(GPUS)}
    types = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    address = f"10.{number // 250}.{number % 250}.1"
    return {
        "metadata": _meta(_host(number), labels={"topology.kubernetes.io/rack": f"rack-{number // 8}"}),
        "spec": {"podCIDR": f"10.244.{number % 250}.0/24"},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": one, "status": "True" if one == "Ready" else "False"} for one in types],
            "addresses": [{"type": "InternalIP", "address": address}],
            "images": [{"names": [f"registry.example.org/i{n}@sha256:{n:064x}"]} for n in range(30)],
        },
    }


def _host(number: int) -> str:
    return f"gpu-{number:04d}"


def _pod(number: int) -> dict[str, Any]:
    node, slot = divmod(number, PODS_ON_NODE)
    one = pods.pod(node)  # a rank; RANKS nodes in a row belong to one training
    one["spec"]["nodeName"] = _host(node)
    one["status"]["podIP"] = f"10.{100 + node // 250}.{node % 250}.{slot + 2}"
    if slot:
        one["metadata"] |= {"labels": {}, "annotations": {}, "uid": f"uid-{number}"}
        for container in one["spec"]["containers"]:
            container["resources"] = {"requests": {"cpu": "100m", "memory": "128Mi"}}
        for volume in one["spec"]["volumes"]:
            if volume.pop("persistentVolumeClaim", None):
                volume["emptyDir"] = {}
        if slot <= len(DAEMONS):
            daemon = DAEMONS[slot - 1]
            owner, name, namespace = _owner("DaemonSet", daemon), f"{daemon}-{node}", "kube-system"
            if daemon == "node-exporter":
                one["spec"]["volumes"][0] = {"name": "images", "hostPath": {"path": "/"}}
                for container in (*one["spec"]["containers"], *one["spec"]["initContainers"]):
                    for mount in container["volumeMounts"]:
                        mount["mountPropagation"] = "HostToContainer"
        else:
            replica_set = f"web-{number // PODS_ON_NODE * 5 // 25}-7b6f"
            owner, name, namespace = (
                _owner("ReplicaSet", replica_set),
                f"{replica_set}-{number}",
                "services",
            )
        one["metadata"] |= {"name": name, "namespace": namespace, "ownerReferences": [owner]}
    return one


def _waiting(rank: int) -> dict[str, Any]:
    """Return a rank that has no node."""
    one = pods.pod(WAITING * RANKS + rank)
    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    one["status"] = {"phase": "Pending", "conditions": [unscheduled]}
    one["spec"].pop("nodeName", None)
    return one


def _claims(nodes: int) -> Iterator[tuple[str, str]]:
    """Yield the namespace and the name of each claim that ranks mount."""
    found = (pods.pod(node) for node in range(nodes))
    yield from dict.fromkeys(
        (one["metadata"]["namespace"], volume["persistentVolumeClaim"]["claimName"])
        for one in found
        for volume in one["spec"]["volumes"]
        if "persistentVolumeClaim" in volume
    )


def _claim(namespace: str, name: str) -> dict[str, Any]:
    spec = {"volumeName": f"pvc-{namespace}-{name}", "accessModes": [_mode(name)]}
    return {"metadata": _meta(name, namespace), "spec": spec, "status": {"phase": "Bound"}}


def _volume(namespace: str, name: str) -> dict[str, Any]:
    attributes = {"pool": "rbd", "imageName": f"csi-vol-{namespace}-{name}"}
    source = {"driver": "rook-ceph.rbd.csi.ceph.com", "fsType": "ext4", "volumeAttributes": attributes}
    handle = f"0001-0009-rook-ceph-{namespace}-{name}"
    return {
        "metadata": _meta(f"pvc-{namespace}-{name}"),
        "spec": {
            "accessModes": [_mode(name)],
            "volumeMode": "Filesystem",
            "claimRef": {"namespace": namespace, "name": name},
            "csi": {**source, "volumeHandle": handle},
        },
        "status": {"phase": "Bound"},
    }


def _mode(claim: str) -> str:
    return "ReadOnlyMany" if claim.startswith("images") else "ReadWriteMany"


def _event(number: int) -> dict[str, Any]:
    node = number // EVENTS_ON_NODE
    return {
        "metadata": _meta(f"{_host(node)}.{number:x}", "default"),
        "involvedObject": {"kind": "Node", "name": _host(node)},
        "reason": "FreeDiskSpaceFailed",
        "message": "Failed to garbage collect required amount of images",
        "source": {"component": "kubelet", "host": _host(node)},
        "count": 3,
        "firstTimestamp": pods.MOMENT.format(0),
        "lastTimestamp": pods.MOMENT.format(9),
    }


def _job(number: int) -> dict[str, Any]:
    amounts = {"nvidia.com/gpu": str(GPUS)}
    template = {"spec": {"containers": [{"name": "worker", "resources": {"limits": amounts}}]}}
    return {
        "metadata": _meta(f"train-{number:04d}-worker", f"team-{number % 20:02d}"),
        "spec": {"parallelism": RANKS, "completions": RANKS, "template": template},
        "status": {"ready": RANKS, "startTime": pods.MOMENT.format(1)},
    }


class Metrics:
    """The answers of a Prometheus: one sample for each rule's expression, all series for a presence query."""

    def __init__(self, rules: tuple[Rule, ...], nodes: int) -> None:
        self._nodes = nodes
        self._presence = {one.query.presence for one in rules if isinstance(one.query, PromQLQuery)}
        self._made: dict[str, bytes] = {}

    def answer(self, query: str) -> bytes:
        """Return the body for a query."""
        if query not in self._made:
            looked_up = self._looked_up(query)
            found = list(self._series(query)) if looked_up is None else list(looked_up)
            is_whole = looked_up is not None or query in self._presence
            self._made[query] = vector(found if is_whole else found[:1])
        return vector([{}]) if "timestamp(" in query else self._made[query]

    def _looked_up(self, query: str) -> Iterator[dict[str, str]] | None:
        """Return the series of a query that looks up a dialect: all are in that of the packs; None for another."""
        if query.startswith("count by (__name__") and (asked := _ANY_OF.search(query)):
            there = [name for name in asked[1].split("|") if name not in _ALIASES]
            return ({"__name__": name, "job": "exporter"} for name in there)
        for family in FAMILIES:
            if query == signature_query(family):
                names = self._exporter(family.name, 0).keys() - {"job", "instance"}
                return ({"job": family.name, f"{AUXILIARY}label": name} for name in sorted(names))
            if any_of(family.probed) in query and "count by" not in query:
                targets = range(self._nodes if family.is_on_node else 1)
                return (self._exporter(family.name, number) for number in targets)
        return None

    @staticmethod
    def _exporter(family: str, number: int) -> dict[str, str]:
        """Return the labels of one series of an exporter."""
        known = {
            "dcgm-exporter": {"Hostname": _host(number), "gpu": "0", "UUID": f"GPU-{number * GPUS:08x}"},
            "kube-state-metrics": {"node": _host(number), "namespace": "services", "pod": "web-0-7b6f-5"},
        }
        return {"job": family, "instance": f"10.0.{number}:9400", **known.get(family, {})}

    def _series(self, query: str) -> Iterator[dict[str, str]]:
        names = {name.strip() for part in _BY.findall(query) for name in part.split(",")}
        is_summed = query.startswith("sum(")
        for number in range(1 if is_summed else self._nodes):
            host = _host(number)
            known = {
                "Hostname": host,
                "node": host,
                "instance": f"{host}:9100",
                "mountpoint": "/",
                "xid": "79",
            }
            one = {name: known[name] for name in known if name in names}
            if is_summed or one:
                for gpu in range(GPUS if "gpu" in names else 1):
                    uuid = f"GPU-{number * GPUS + gpu:08x}-9c1d-4a6e-9f00-5ad1e0c0ffee"
                    yield one | ({"gpu": str(gpu), "UUID": uuid} if "gpu" in names else {})
            else:
                yield {"instance": known["instance"], "job": "node-exporter"}


def vector(found: list[dict[str, str]]) -> bytes:
    now = SystemClock().now().timestamp()
    result = [{"metric": one, "value": [now, str(now)]} for one in found]
    return msgspec.json.encode({"status": "success", "data": {"resultType": "vector", "result": result}})


async def serve(port: int, nodes: int) -> None:
    """Serve until cancelled."""
    pages = {path: lists(kind, nodes) for path, kind in PATHS_OF_KINDS.items()}
    metrics = Metrics(tuple(read_rulebook(RulesSettings()).rules), nodes)

    async def kubernetes(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            return await watch(request)
        page = pages.get(request.path, {"": b'{"metadata":{"resourceVersion":"900000"},"items":[]}'})
        if (body := page.get(request.query.get("continue", ""))) is None:
            return web.Response(status=410)
        return web.Response(body=body, content_type="application/json")

    async def watch(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with suppress(TimeoutError):  # a watch ends cleanly, and the client watches again
            async with asyncio.timeout(float(request.query.get("timeoutSeconds", "40"))):
                await changes(request, response)
        return response

    async def changes(request: web.Request, response: web.StreamResponse) -> None:
        if request.path == "/api/v1/pods":
            for number in count():
                one = _pod(number * 7919 % (nodes * PODS_ON_NODE))
                one["metadata"]["resourceVersion"] = str(1_000_000 + number)
                await response.write(msgspec.json.encode({"type": "MODIFIED", "object": one}) + b"\n")
                await asyncio.sleep(EVERY)
        await asyncio.Event().wait()

    async def query(request: web.Request) -> web.StreamResponse:
        form = await request.post()
        return web.Response(body=metrics.answer(str(form["query"])), content_type="application/json")

    app = web.Application()
    app.router.add_post("/api/v1/query", query)
    app.router.add_get("/{path:apis?/.*}", kubernetes)
    await serve_until_cancelled(app, port)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2])))
