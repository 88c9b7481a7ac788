"""Placement: pods find nodes, or a reason in the scheduler's words; sick and cordoned nodes are tainted."""

from __future__ import annotations

from tests.contract.kubernetes.door import Door, Json, pod

PODS = "/api/v1/namespaces/{ns}/pods"
GPU = "nvidia.com/gpu"


async def _bound(door: Door, name: str) -> str:
    async def look() -> str | None:
        node = (await door.get(f"{PODS}/{name}")).body["spec"].get("nodeName")
        return str(node) if node else None

    node: str = await door.until(f"a node for {name}", look)
    return node


async def _why(door: Door, name: str) -> str:
    found = await door.condition(f"{PODS}/{name}", "PodScheduled", "False")
    assert found["reason"] == "Unschedulable"
    return str(found["message"])


async def _taints(door: Door, node: str, wanted: set[tuple[str, str]]) -> list[Json]:
    async def look() -> list[Json] | None:
        taints = (await door.get(f"/api/v1/nodes/{node}")).body["spec"].get("taints") or []
        found = {(t["key"].removeprefix("node.kubernetes.io/"), t["effect"]) for t in taints}
        return [{"taints": taints}] if found == wanted else None

    found: list[Json] = await door.until(f"taints {wanted} on {node}", look)
    return list(found[0]["taints"])


async def test_a_pod_is_bound_to_a_node_that_has_what_it_asks_for(door: Door) -> None:
    await door.ready_node("cpu")
    gpu = await door.ready_node("gpu", resources={GPU: "8"})
    await door.make(PODS, pod("a", requests={GPU: "8"}))
    assert await _bound(door, "a") == gpu
    conditions = {c["type"]: c["status"] for c in (await door.get(f"{PODS}/a")).body["status"]["conditions"]}
    assert conditions["PodScheduled"] == "True"


async def test_a_slice_of_a_gpu_is_a_resource_like_any_other(door: Door) -> None:
    mig = "nvidia.com/mig-3g.40gb"
    node = await door.ready_node("mig", resources={mig: "1"})
    await door.make(PODS, pod("a", requests={mig: "1"}))
    assert await _bound(door, "a") == node
    await door.make(PODS, pod("b", requests={mig: "1"}))
    assert f"1 Insufficient {mig}" in await _why(door, "b")


async def test_a_pod_that_fits_nowhere_says_why_for_every_node(door: Door) -> None:
    await door.ready_node("small", resources={GPU: "4"})
    full = await door.ready_node("full", resources={GPU: "8"})
    cordoned = await door.ready_node("cordoned", resources={GPU: "8"})
    tainted = await door.ready_node("tainted", resources={GPU: "8"})
    await door.make(PODS, pod("hog", requests={GPU: "6"}, nodeName=full))
    await door.change(f"/api/v1/nodes/{cordoned}", {"spec": {"unschedulable": True}})
    await _taints(door, cordoned, {("unschedulable", "NoSchedule")})
    repair = {"key": "yard.test/repair", "value": "yes", "effect": "NoSchedule"}
    await door.change(f"/api/v1/nodes/{tainted}", {"spec": {"taints": [repair]}})
    await door.make(PODS, pod("a", requests={GPU: "8"}))
    text = await _why(door, "a")
    assert text.startswith(
        "0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, "
        f"2 Insufficient {GPU}. "
    )
    assert text.endswith(
        "preemption: 0/4 nodes are available: 1 No preemption victims found for incoming pod, "
        "3 Preemption is not helpful for scheduling."
    )


async def test_a_selector_that_no_node_meets_is_the_reason(door: Door) -> None:
    await door.ready_node("n")
    await door.make(PODS, pod("a", nodeSelector={"gpu": "h200"}))
    assert (await _why(door, "a")) == (
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )


async def test_required_affinity_chooses_by_labels(door: Door) -> None:
    await door.ready_node("old", labels={"gpu": "v100"})
    new = await door.ready_node("new", labels={"gpu": "h200"})
    terms = [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["h100", "h200"]}]}]
    affinity = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    }
    await door.make(PODS, pod("a", affinity=affinity))
    assert await _bound(door, "a") == new


async def test_a_toleration_opens_a_tainted_node(door: Door) -> None:
    node = await door.ready_node("n")
    taint = {"key": "yard.test/repair", "value": "yes", "effect": "NoSchedule"}
    await door.change(f"/api/v1/nodes/{node}", {"spec": {"taints": [taint]}})
    toleration = {"key": "yard.test/repair", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}
    await door.make(PODS, pod("a", tolerations=[toleration]))
    assert await _bound(door, "a") == node


async def test_a_waiting_pod_is_placed_when_room_appears(door: Door) -> None:
    node = await door.ready_node("n", resources={GPU: "1"})
    await door.make(PODS, pod("first", requests={GPU: "1"}))
    await _bound(door, "first")
    await door.make(PODS, pod("second", requests={GPU: "1"}))
    assert f"1 Insufficient {GPU}" in await _why(door, "second")
    await door.call("DELETE", f"{PODS}/first", {"gracePeriodSeconds": 0})
    assert await _bound(door, "second") == node


async def test_without_nodes_the_message_says_so(door: Door) -> None:
    await door.make(PODS, pod("a"))
    assert await _why(door, "a") == "no nodes available to schedule pods"


async def test_a_refusal_is_told_in_an_event(door: Door) -> None:
    await door.ready_node("n")
    await door.make(PODS, pod("a", requests={GPU: "1"}))
    await _why(door, "a")

    async def told() -> Json | None:
        query = "involvedObject.name=a,involvedObject.kind=Pod"
        events = await door.get("/api/v1/namespaces/{ns}/events", fieldSelector=query)
        return next((e for e in events.body["items"] if e["reason"] == "FailedScheduling"), None)

    event = await door.until("an event", told)
    assert event["type"] == "Warning"
    assert event["message"].startswith("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")


async def test_a_cordon_becomes_a_taint_and_an_uncordon_takes_it_away(door: Door) -> None:
    node = await door.ready_node("n")
    await door.change(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    await _taints(door, node, {("unschedulable", "NoSchedule")})
    await door.change(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": None}}, "merge")
    await _taints(door, node, set())


async def test_a_node_that_is_not_ready_is_tainted_twice(door: Door) -> None:
    await door.ready_node("healthy")
    node = await door.ready_node("n")
    sick = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "made by a test"}
    await door.change(f"/api/v1/nodes/{node}/status", {"status": {"conditions": [sick]}})
    taints = await _taints(door, node, {("not-ready", "NoSchedule"), ("not-ready", "NoExecute")})
    assert all(t.get("timeAdded") for t in taints)


async def test_where_no_node_is_ready_nobody_is_put_out(door: Door) -> None:
    nodes = [await door.ready_node(name) for name in ("a", "b")]
    sick = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "made by a test"}
    for node in nodes:
        await door.change(f"/api/v1/nodes/{node}/status", {"status": {"conditions": [sick]}})
    for node in nodes:
        await _taints(door, node, {("not-ready", "NoSchedule")})


async def test_a_silent_node_is_tainted_unreachable(door: Door) -> None:
    await door.ready_node("healthy")
    node = await door.ready_node("n")
    dark = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "made by a test"}
    await door.change(f"/api/v1/nodes/{node}/status", {"status": {"conditions": [dark]}})
    await _taints(door, node, {("unreachable", "NoSchedule"), ("unreachable", "NoExecute")})


async def test_pods_that_do_not_tolerate_a_sick_node_are_put_out(door: Door) -> None:
    await door.ready_node("healthy")
    node = await door.ready_node("n")
    quick = {
        "key": "node.kubernetes.io/not-ready",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 0,
    }
    await door.make(PODS, pod("leaves", nodeName=node, tolerations=[quick]))
    await door.make(PODS, pod("stays", nodeName=node))
    await door.run("leaves")
    await door.run("stays")
    sick = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "made by a test"}
    await door.change(f"/api/v1/nodes/{node}/status", {"status": {"conditions": [sick]}})

    async def going() -> Json | None:
        answer = await door.get(f"{PODS}/leaves")
        return answer.body if "deletionTimestamp" in answer.body["metadata"] else None

    left = await door.until("the pod to be told to leave", going)
    reasons = {c["type"]: c.get("reason") for c in left["status"]["conditions"]}
    assert reasons["DisruptionTarget"] == "DeletionByTaintManager"
    stays = (await door.get(f"{PODS}/stays")).body
    assert "deletionTimestamp" not in stays["metadata"]
