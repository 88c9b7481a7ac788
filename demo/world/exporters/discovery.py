"""Prometheus' Kubernetes discovery over HTTP: the meta labels of the roles `endpoints` and `node`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Object = Mapping[str, Any]
Listing = Callable[[str], Iterable[Object]]
Group = dict[str, Any]

META = "__meta_kubernetes_"


def _clean(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)


def _annotated(prefix: str, obj: Object) -> Iterator[tuple[str, str]]:
    meta = obj["metadata"]
    for kind, pairs in (("label", meta.get("labels")), ("annotation", meta.get("annotations"))):
        for key, value in (pairs or {}).items():
            yield f"{META}{prefix}_{kind}_{_clean(key)}", value
            yield f"{META}{prefix}_{kind}present_{_clean(key)}", "true"


def endpoints(listing: Listing) -> list[Group]:
    """Target groups of role `endpoints`: one per address and port of each Service's Endpoints."""
    services = {_key(obj): obj for obj in listing("Service")}
    pods = {_key(obj): obj for obj in listing("Pod")}
    groups: list[Group] = []
    for obj in listing("Endpoints"):
        service = services.get(_key(obj))
        if service is None:
            continue
        common = {
            f"{META}namespace": obj["metadata"]["namespace"],
            f"{META}endpoints_name": obj["metadata"]["name"],
            f"{META}service_name": service["metadata"]["name"],
            f"{META}service_cluster_ip": service["spec"].get("clusterIP", ""),
            f"{META}service_type": service["spec"].get("type", "ClusterIP"),
            **dict(_annotated("service", service)),
        }
        for subset in obj.get("subsets") or []:
            for is_ready, key in (("true", "addresses"), ("false", "notReadyAddresses")):
                for address in subset.get(key) or []:
                    for port in subset.get("ports") or []:
                        labels = common | {f"{META}endpoint_ready": is_ready} | _endpoint(address, port, pods)
                        groups.append({"targets": [f"{address['ip']}:{port['port']}"], "labels": labels})
    return groups


def _endpoint(address: Object, port: Object, pods: Mapping[tuple[str, str], Object]) -> dict[str, str]:
    labels = {
        f"{META}endpoint_port_name": port.get("name", ""),
        f"{META}endpoint_port_protocol": port.get("protocol", "TCP"),
        f"{META}endpoint_node_name": address.get("nodeName", ""),
    }
    target = address.get("targetRef") or {}
    labels |= {
        f"{META}endpoint_address_target_{key}": target[key] for key in ("kind", "name") if key in target
    }
    pod = pods.get((target.get("namespace", ""), target.get("name", "")))
    if target.get("kind") != "Pod" or pod is None:
        return labels
    status = pod.get("status") or {}
    labels |= {
        f"{META}pod_name": pod["metadata"]["name"],
        f"{META}pod_uid": pod["metadata"]["uid"],
        f"{META}pod_ip": status.get("podIP", ""),
        f"{META}pod_host_ip": status.get("hostIP", ""),
        f"{META}pod_phase": status.get("phase", ""),
        f"{META}pod_node_name": pod["spec"].get("nodeName", ""),
    }
    for container in pod["spec"]["containers"]:
        for declared in container.get("ports") or []:
            if declared["containerPort"] == port["port"] and declared.get("protocol", "TCP") == port.get(
                "protocol", "TCP"
            ):
                labels |= {
                    f"{META}pod_container_name": container["name"],
                    f"{META}pod_container_port_name": declared.get("name", ""),
                    f"{META}pod_container_port_number": str(declared["containerPort"]),
                    f"{META}pod_container_port_protocol": declared.get("protocol", "TCP"),
                }
    return labels


def nodes(listing: Listing) -> list[Group]:
    """Target groups of role `node`: one per node, at its kubelet's address."""
    groups: list[Group] = []
    for obj in listing("Node"):
        addresses = {a["type"]: a["address"] for a in (obj.get("status") or {}).get("addresses") or []}
        if "InternalIP" not in addresses:
            continue
        labels = {f"{META}node_name": obj["metadata"]["name"], **dict(_annotated("node", obj))}
        labels |= {f"{META}node_address_{kind}": address for kind, address in addresses.items()}
        groups.append({"targets": [f"{addresses['InternalIP']}:10250"], "labels": labels})
    return groups


ROLES: Mapping[str, Callable[[Listing], list[Group]]] = {"endpoints": endpoints, "node": nodes}


def _key(obj: Object) -> tuple[str, str]:
    return obj["metadata"]["namespace"], obj["metadata"]["name"]
