"""Services: endpoints and endpoint slices of the selected pods."""

from __future__ import annotations

from typing import Any

from tests.contract.kubernetes.api import PODS, Api, Json, pod

SERVICES = "/api/v1/namespaces/{ns}/services"


async def _service(api: Api, **spec: Any) -> None:
    body = {"selector": {"app": "srv"}, "ports": [{"name": "http", "port": 80, "targetPort": "web"}], **spec}
    await api.make(SERVICES, {"metadata": {"name": "srv"}, "spec": body})


async def _pods(api: Api) -> str:
    """Run one ready and one unready pod, and return their node."""
    node = await api.ready_node("n", labels={"topology.kubernetes.io/zone": "z1"})
    for number, ready in enumerate((True, False)):
        body = pod(f"p{number}", labels={"app": "srv"}, nodeName=node)
        body["spec"]["containers"][0]["ports"] = [{"name": "web", "containerPort": 8080}]
        await api.make(PODS, body)
        await api.run(f"p{number}", ip=f"10.9.0.{number + 1}", ready=ready)
    return node


async def _subset(api: Api, **counts: int) -> Json:
    async def check() -> Json | None:
        answer = await api.get("/api/v1/namespaces/{ns}/endpoints/srv")
        subsets = answer.body.get("subsets") or [{}]
        enough = all(len(subsets[0].get(side, [])) == count for side, count in counts.items())
        return dict(subsets[0]) if answer.code == 200 and enough else None

    found: Json = await api.until(f"endpoints {counts}", check)
    return found


async def test_endpoints_separate_ready_and_unready_pods(api: Api) -> None:
    await _service(api)
    node = await _pods(api)
    subset = await _subset(api, addresses=1, notReadyAddresses=1)
    (address,) = subset["addresses"]
    assert (address["ip"], address["nodeName"], address["targetRef"]["name"]) == ("10.9.0.1", node, "p0")
    assert subset["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]


async def test_publish_not_ready_addresses_lists_all_pods_as_ready(api: Api) -> None:
    await _service(api, clusterIP="None", publishNotReadyAddresses=True)
    await _pods(api)
    subset = await _subset(api, addresses=2)
    assert "notReadyAddresses" not in subset


async def test_slices_have_conditions_ports_and_zone(api: Api) -> None:
    await _service(api)
    node = await _pods(api)
    path = "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices"

    async def check() -> Json | None:
        answer = await api.get(path, labelSelector="kubernetes.io/service-name=srv")
        found = [item for item in answer.body["items"] if len(item.get("endpoints") or ()) == 2]
        settled = found and any(e["conditions"]["ready"] for e in found[0]["endpoints"])
        return dict(found[0]) if settled else None

    one = await api.until("a slice of two", check)
    by_name = {e["targetRef"]["name"]: e for e in one["endpoints"]}
    assert by_name["p0"]["conditions"] == {"ready": True, "serving": True, "terminating": False}
    assert by_name["p1"]["conditions"]["ready"] is False
    assert (by_name["p0"]["nodeName"], by_name["p0"]["zone"]) == (node, "z1")
    assert one["ports"] == [{"name": "http", "protocol": "TCP", "port": 8080}]
    assert one["addressType"] == "IPv4"


async def test_a_service_gets_a_cluster_ip(api: Api) -> None:
    await _service(api)
    spec = (await api.get(f"{SERVICES}/srv")).body["spec"]
    assert (spec["type"], spec["clusterIPs"]) == ("ClusterIP", [spec["clusterIP"]])
    assert spec["clusterIP"].startswith("10.0.")
