"""Scheduling: pods get a node or the scheduler's reason; unhealthy and cordoned nodes are tainted."""

from __future__ import annotations

from tests.contract.kubernetes.api import PODS, Api, Json, pod

GPU = "nvidia.com/gpu"


async def _bound(api: Api, name: str) -> str:
    async def check() -> str | None:
        node = (await api.get(f"{PODS}/{name}")).body["spec"].get("nodeName")
        return str(node) if node else None

    node: str = await api.until(f"a node for {name}", check)
    return node


async def _reason(api: Api, name: str) -> str:
    found = await api.condition(f"{PODS}/{name}", "PodScheduled", "False")
    assert found["reason"] == "Unschedulable"
    return str(found["message"])


async def _refuses(api: Api, node: str, requests: Json | None = None) -> None:
    """Wait until the scheduler refuses a pod for this node, whose label `only` is its name.

    Only then it has seen what was done to the node, and what runs there: it follows the API server by itself, later.
    """

    async def check() -> bool:
        probe = pod("probe", requests=requests, nodeSelector={"only": node})
        await api.make(PODS, probe)

        async def decided() -> Json | None:
            body = (await api.get(f"{PODS}/probe")).body
            found = body["status"].get("conditions") or ()
            return body if any(one["type"] == "PodScheduled" for one in found) else None

        seen = await api.until("a decision about the probe", decided)
        await api.call("DELETE", f"{PODS}/probe", {"gracePeriodSeconds": 0})
        await api.gone(f"{PODS}/probe")
        return "nodeName" not in seen["spec"]

    await api.until(f"a refusal for {node}", check)


async def _taints(api: Api, node: str, wanted: set[tuple[str, str]]) -> list[Json]:
    async def check() -> list[Json] | None:
        taints = (await api.get(f"/api/v1/nodes/{node}")).body["spec"].get("taints") or []
        found = {(t["key"].removeprefix("node.kubernetes.io/"), t["effect"]) for t in taints}
        return [{"taints": taints}] if found == wanted else None

    found: list[Json] = await api.until(f"taints {wanted} on {node}", check)
    return list(found[0]["taints"])


async def test_a_pod_is_bound_to_a_node_with_its_requested_resources(api: Api) -> None:
    await api.ready_node("cpu")
    gpu = await api.ready_node("gpu", resources={GPU: "8"})
    await api.make(PODS, pod("a", requests={GPU: "8"}))
    assert await _bound(api, "a") == gpu
    conditions = {c["type"]: c["status"] for c in (await api.get(f"{PODS}/a")).body["status"]["conditions"]}
    assert conditions["PodScheduled"] == "True"


async def test_a_gpu_slice_is_scheduled_like_any_resource(api: Api) -> None:
    mig = "nvidia.com/mig-3g.40gb"
    node = await api.ready_node("mig", resources={mig: "1"})
    await api.make(PODS, pod("a", requests={mig: "1"}))
    assert await _bound(api, "a") == node
    await api.make(PODS, pod("b", requests={mig: "1"}))
    assert f"1 Insufficient {mig}" in await _reason(api, "b")


async def test_an_unschedulable_pod_has_a_reason_for_every_node(api: Api) -> None:
    await api.ready_node("small", resources={GPU: "4"})
    full, cordoned, tainted = [
        await api.ready_node(name, resources={GPU: "8"}, labels={"only": f"{name}-{api.space}"})
        for name in ("full", "cordoned", "tainted")
    ]
    await api.make(PODS, pod("hog", requests={GPU: "6"}, nodeName=full))
    await api.change(f"/api/v1/nodes/{cordoned}", {"spec": {"unschedulable": True}})
    await _taints(api, cordoned, {("unschedulable", "NoSchedule")})
    repair = {"key": "yard.test/repair", "value": "yes", "effect": "NoSchedule"}
    await api.change(f"/api/v1/nodes/{tainted}", {"spec": {"taints": [repair]}})
    await _refuses(api, full, {GPU: "8"})
    for node in (cordoned, tainted):
        await _refuses(api, node)
    await api.make(PODS, pod("a", requests={GPU: "8"}))
    text = await _reason(api, "a")
    assert text.startswith(
        "0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, "
        f"2 Insufficient {GPU}. "
    )
    assert text.endswith(
        "preemption: 0/4 nodes are available: 1 No preemption victims found for incoming pod, "
        "3 Preemption is not helpful for scheduling."
    )


async def test_a_selector_that_no_node_matches_is_the_reason(api: Api) -> None:
    await api.ready_node("n")
    await api.make(PODS, pod("a", nodeSelector={"gpu": "h200"}))
    assert (await _reason(api, "a")) == (
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )


async def test_required_affinity_selects_by_labels(api: Api) -> None:
    await api.ready_node("old", labels={"gpu": "v100"})
    new = await api.ready_node("new", labels={"gpu": "h200"})
    terms = [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["h100", "h200"]}]}]
    affinity = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    }
    await api.make(PODS, pod("a", affinity=affinity))
    assert await _bound(api, "a") == new


async def test_a_pod_with_a_toleration_runs_on_a_tainted_node(api: Api) -> None:
    node = await api.ready_node("n")
    taint = {"key": "yard.test/repair", "value": "yes", "effect": "NoSchedule"}
    await api.change(f"/api/v1/nodes/{node}", {"spec": {"taints": [taint]}})
    toleration = {"key": "yard.test/repair", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}
    await api.make(PODS, pod("a", tolerations=[toleration]))
    assert await _bound(api, "a") == node


async def test_a_pending_pod_is_bound_when_resources_become_free(api: Api) -> None:
    node = await api.ready_node("n", resources={GPU: "1"})
    await api.make(PODS, pod("first", requests={GPU: "1"}))
    await _bound(api, "first")
    await api.make(PODS, pod("second", requests={GPU: "1"}))
    assert f"1 Insufficient {GPU}" in await _reason(api, "second")
    await api.call("DELETE", f"{PODS}/first", {"gracePeriodSeconds": 0})
    assert await _bound(api, "second") == node


async def test_a_pod_whose_claim_is_not_there_yet_is_not_bound(api: Api) -> None:
    await api.ready_node("n")
    await api.make(PODS, pod("a", resourceClaims=[{"name": "gpu", "resourceClaimName": "later"}]))
    await api.make(PODS, pod("b"))
    await _bound(api, "b")
    assert "nodeName" not in (await api.get(f"{PODS}/a")).body["spec"]


async def test_without_nodes_the_message_says_so(api: Api) -> None:
    await api.make(PODS, pod("a"))
    assert await _reason(api, "a") == "no nodes available to schedule pods"


async def test_failed_scheduling_has_an_event(api: Api) -> None:
    await api.ready_node("n")
    await api.make(PODS, pod("a", requests={GPU: "1"}))
    await _reason(api, "a")

    async def event_of() -> Json | None:
        query = "involvedObject.name=a,involvedObject.kind=Pod"
        events = await api.get("/api/v1/namespaces/{ns}/events", fieldSelector=query)
        return next((e for e in events.body["items"] if e["reason"] == "FailedScheduling"), None)

    event = await api.until("an event", event_of)
    assert event["type"] == "Warning"
    assert event["message"].startswith("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")


async def test_a_cordon_adds_a_taint_and_an_uncordon_removes_it(api: Api) -> None:
    node = await api.ready_node("n")
    await api.change(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    await _taints(api, node, {("unschedulable", "NoSchedule")})
    await api.change(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": None}}, "merge")
    await _taints(api, node, set())


async def test_a_node_that_is_not_ready_has_both_taints(api: Api) -> None:
    await api.ready_node("healthy")
    node = await api.ready_node("n")
    unhealthy = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "set by a test"}
    await api.change(f"/api/v1/nodes/{node}/status", {"status": {"conditions": [unhealthy]}})
    taints = await _taints(api, node, {("not-ready", "NoSchedule"), ("not-ready", "NoExecute")})
    assert all(t.get("timeAdded") for t in taints)


async def test_no_pod_is_evicted_when_no_node_is_ready(api: Api) -> None:
    nodes = [await api.ready_node(name) for name in ("a", "b")]
    unhealthy = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "set by a test"}
    for node in nodes:
        await api.change(f"/api/v1/nodes/{node}/status", {"status": {"conditions": [unhealthy]}})
    for node in nodes:
        await _taints(api, node, {("not-ready", "NoSchedule")})


async def test_a_silent_node_is_tainted_unreachable(api: Api) -> None:
    await api.ready_node("healthy")
    node = await api.ready_node("n")
    silent = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "set by a test"}
    await api.change(f"/api/v1/nodes/{node}/status", {"status": {"conditions": [silent]}})
    await _taints(api, node, {("unreachable", "NoSchedule"), ("unreachable", "NoExecute")})


async def test_pods_that_do_not_tolerate_an_unhealthy_node_are_evicted(api: Api) -> None:
    await api.ready_node("healthy")
    node = await api.ready_node("n")
    quick = {
        "key": "node.kubernetes.io/not-ready",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 0,
    }
    await api.make(PODS, pod("leaves", nodeName=node, tolerations=[quick]))
    await api.make(PODS, pod("stays", nodeName=node))
    await api.run("leaves")
    await api.run("stays")
    unhealthy = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "set by a test"}
    await api.change(f"/api/v1/nodes/{node}/status", {"status": {"conditions": [unhealthy]}})

    async def terminating() -> Json | None:
        answer = await api.get(f"{PODS}/leaves")
        return answer.body if "deletionTimestamp" in answer.body["metadata"] else None

    evicted = await api.until("the pod to be terminating", terminating)
    reasons = {c["type"]: c.get("reason") for c in evicted["status"]["conditions"]}
    assert reasons["DisruptionTarget"] == "DeletionByTaintManager"
    stays = (await api.get(f"{PODS}/stays")).body
    assert "deletionTimestamp" not in stays["metadata"]
