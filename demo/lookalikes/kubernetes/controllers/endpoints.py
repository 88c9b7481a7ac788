"""Endpoints and one EndpointSlice for each Service with a selector."""

from collections.abc import Iterable
from datetime import datetime

from demo.lookalikes.kubernetes.controllers.indexes import own_key, reference_to
from demo.lookalikes.kubernetes.controllers.podmaking import Tools
from demo.lookalikes.kubernetes.eviction import ready
from demo.lookalikes.kubernetes.objects import (
    Json,
    deleting,
    dig,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    stamp,
    suffix,
)
from demo.lookalikes.kubernetes.store import Change, ObjectKey

_TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"


class Endpoints:
    """The Endpoints and EndpointSlice controllers. One slice contains all pods of a service."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        kinds = tools.cluster.kinds
        self._services, self._endpoints = kinds.named("services"), kinds.named("endpoints")
        self._slices, self._nodes = kinds.named("endpointslices"), kinds.named("nodes")
        self._pods = kinds.named("pods")

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        yield from own_key(change, "services")
        if change.kind.listing != "pods" or not _is_relevant(change):
            return
        namespace = namespace_of(change.after.tree)
        seen = [labels_of(stored.tree) for stored in (change.before, change.after) if stored]
        for service in self._tools.cluster.store.all(self._services, namespace):
            selector = dig(service.tree, "spec", "selector")
            if selector and any(selector.items() <= labels.items() for labels in seen):
                yield (namespace, name_of(service.tree))

    def reconcile(self, key: ObjectKey) -> datetime | None:
        service = self._tools.find(self._services, key)
        if service is None:
            if self._tools.cluster.store.get(self._endpoints, *key) is not None:
                self._tools.cluster.delete(self._endpoints, *key)
            return None
        selector = dig(service, "spec", "selector")
        if not selector:
            return None
        pods = [
            stored.tree
            for stored in self._tools.cluster.store.all(self._pods, key[0])
            if selector.items() <= labels_of(stored.tree).items()
            and dig(stored.tree, "status", "podIP")
            and dig(stored.tree, "status", "phase") not in ("Succeeded", "Failed")
        ]
        self._write_endpoints(service, [pod for pod in pods if not deleting(pod)])
        self._write_slice(service, pods)
        return None

    def _write_endpoints(self, service: Json, pods: list[Json]) -> None:
        groups: dict[tuple[tuple[str, int, str], ...], dict[str, list[Json]]] = {}
        publish = bool(dig(service, "spec", "publishNotReadyAddresses"))
        for pod in pods:
            ports = tuple((p.get("name", ""), p["port"], p["protocol"]) for p in _ports(service, pod))
            side = "addresses" if ready(pod) or publish else "notReadyAddresses"
            groups.setdefault(ports, {}).setdefault(side, []).append(_address(service, pod))
        subsets = [
            {
                **sides,
                "ports": [_named(name, {"port": port, "protocol": proto}) for name, port, proto in ports],
            }
            for ports, sides in groups.items()
        ]
        subsets = [{key: value for key, value in subset.items() if value} for subset in subsets]
        labels = {**labels_of(service), "endpoints.kubernetes.io/managed-by": "endpoint-controller"}
        if dig(service, "spec", "clusterIP") == "None":
            labels["service.kubernetes.io/headless"] = ""
        body: Json = {"metadata": {"name": name_of(service), "labels": labels}, "subsets": subsets}
        old = self._tools.cluster.store.get(self._endpoints, namespace_of(service), name_of(service))
        if old is None:
            self._tools.cluster.create(self._endpoints, namespace_of(service), body)
        elif old.tree.get("subsets") != subsets:
            self._tools.cluster.update(old, {**old.tree, "subsets": subsets})

    def _write_slice(self, service: Json, pods: list[Json]) -> None:
        publish = bool(dig(service, "spec", "publishNotReadyAddresses"))
        endpoints = [self._endpoint(service, pod, publish) for pod in pods]
        ports = _ports(service, pods[0]) if pods else []
        ports = [
            {"name": port.get("name", ""), "protocol": port["protocol"], "port": port["port"]}
            for port in ports
        ]
        owned = self._tools.indexes.owned(service, self._slices.listing)
        if owned:
            stored = self._tools.cluster.get(self._slices, namespace_of(service), name_of(owned[0]))
            if stored.tree.get("endpoints") != endpoints or stored.tree.get("ports") != ports:
                self._tools.cluster.update(stored, {**stored.tree, "endpoints": endpoints, "ports": ports})
            return
        labels = {
            **labels_of(service),
            "kubernetes.io/service-name": name_of(service),
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        }
        if dig(service, "spec", "clusterIP") == "None":
            labels["service.kubernetes.io/headless"] = ""
        meta = {
            "name": f"{name_of(service)}-{suffix()}",
            "generateName": f"{name_of(service)}-",
            "labels": labels,
            "annotations": {_TRIGGER_TIME: stamp(self._tools.cluster.clock())},
            "ownerReferences": [reference_to(self._services, service)],
        }
        body = {"metadata": meta, "addressType": "IPv4", "endpoints": endpoints, "ports": ports}
        self._tools.cluster.create(self._slices, namespace_of(service), body)

    def _endpoint(self, service: Json, pod: Json, publish: bool) -> Json:
        node = self._tools.cluster.store.get(self._nodes, "", dig(pod, "spec", "nodeName") or "")
        zone = labels_of(node.tree).get("topology.kubernetes.io/zone") if node else None
        terminating = deleting(pod)
        endpoint = {
            "addresses": [dig(pod, "status", "podIP")],
            "conditions": {"ready": publish or (ready(pod) and not terminating), "serving": publish or ready(pod),
                           "terminating": terminating},
            "targetRef": _target(pod),
            "nodeName": dig(pod, "spec", "nodeName"),
            "hostname": _hostname(service, pod),
            "zone": zone,
        }  # fmt: skip
        return {key: value for key, value in endpoint.items() if value is not None}


def _target(pod: Json) -> Json:
    return {"kind": "Pod", "namespace": namespace_of(pod), "name": name_of(pod), "uid": metadata(pod)["uid"]}


def _hostname(service: Json, pod: Json) -> str | None:
    spec = pod.get("spec") or {}
    return (
        spec.get("hostname") if spec.get("hostname") and spec.get("subdomain") == name_of(service) else None
    )


def _address(service: Json, pod: Json) -> Json:
    address = {"ip": dig(pod, "status", "podIP"), "hostname": _hostname(service, pod),
               "nodeName": dig(pod, "spec", "nodeName"), "targetRef": _target(pod)}  # fmt: skip
    return {key: value for key, value in address.items() if value is not None}


def _named(name: str, port: Json) -> Json:
    return {"name": name, **port} if name else port


def _ports(service: Json, pod: Json) -> list[Json]:
    """Return the service's ports as this pod serves them, without named target ports that the pod lacks."""
    found = []
    for port in dig(service, "spec", "ports") or ():
        target = port.get("targetPort", port["port"])
        if isinstance(target, str):
            served = [p for c in dig(pod, "spec", "containers") or () for p in c.get("ports") or ()]
            target = next((p["containerPort"] for p in served if p.get("name") == target), None)
        if target is not None:
            found.append(
                _named(port.get("name", ""), {"port": target, "protocol": port.get("protocol", "TCP")})
            )
    return found


def _is_relevant(change: Change) -> bool:
    """Whether a pod's change can affect a service."""
    if change.type != "MODIFIED" or change.before is None:
        return True

    def relevant(tree: Json) -> tuple[object, ...]:
        status = tree.get("status") or {}
        return labels_of(tree), status.get("podIP"), status.get("phase"), ready(tree), deleting(tree)

    return relevant(change.before.tree) != relevant(change.after.tree)
