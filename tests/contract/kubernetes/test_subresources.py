"""Subresources: scale, eviction, resize, binding and logs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.kubernetes.api import DEPLOYMENTS, PODS, Api, pod, workload

BUDGETS = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets"


async def _budget(api: Api, count: int, least: int | str) -> list[str]:
    """Run this many pods with a disruption budget of `least` available, and return their names."""
    node = await api.ready_node("n")
    await api.make(DEPLOYMENTS, workload("Deployment", "srv", replicas=count))
    budget = {
        "metadata": {"name": "srv"},
        "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": "srv"}}},
    }
    await api.make(BUDGETS, budget)

    async def bound() -> list[str] | None:
        answer = await api.get(PODS, fieldSelector=f"spec.nodeName={node}", labelSelector="app=srv")
        return answer.names if len(answer.names) == count else None

    names: list[str] = await api.until("bound pods", bound)
    for name in names:
        await api.run(name)

    async def counted() -> bool:
        status = (await api.get(f"{BUDGETS}/srv")).body.get("status", {})
        return bool(status.get("currentHealthy") == count)

    await api.until("the budget to count the pods", counted)
    return names


def _eviction(name: str, **options: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    return {**body, "deleteOptions": options} if options else body


@pytest.mark.parametrize("options", [{}, {"dryRun": ["All"]}], ids=["for real", "as a dry run"])
async def test_an_eviction_that_the_budget_forbids_is_429(api: Api, options: dict[str, Any]) -> None:
    name = (await _budget(api, 2, 2))[0]
    answer = await api.call("POST", f"{PODS}/{name}/eviction", _eviction(name, **options))
    assert (answer.code, answer.body["reason"]) == (429, "TooManyRequests")
    assert answer.body["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
    assert answer.cause == {
        "reason": "DisruptionBudget",
        "message": "The disruption budget srv needs 2 healthy pods and has 2 currently",
    }
    assert "Retry-After" not in answer.headers


async def test_an_eviction_within_the_budget_deletes_the_pod_and_the_next_is_429(api: Api) -> None:
    first, second = await _budget(api, 2, 1)
    dry = await api.call("POST", f"{PODS}/{first}/eviction", _eviction(first, dryRun=["All"]))
    assert (dry.code, dry.body["status"]) == (201, "Success")
    assert "deletionTimestamp" not in (await api.get(f"{PODS}/{first}")).body["metadata"]
    assert (await api.call("POST", f"{PODS}/{first}/eviction", _eviction(first))).code == 201
    evicted = (await api.get(f"{PODS}/{first}")).body
    assert evicted["metadata"]["deletionTimestamp"]
    reasons = {c["type"]: c.get("reason") for c in evicted["status"]["conditions"]}
    assert reasons["DisruptionTarget"] == "EvictionByEvictionAPI"
    assert (await api.call("POST", f"{PODS}/{second}/eviction", _eviction(second))).code == 429


async def test_the_status_of_a_budget_has_its_numbers(api: Api) -> None:
    await _budget(api, 3, "50%")
    status = (await api.get(f"{BUDGETS}/srv")).body["status"]
    numbers = {
        key: status[key] for key in ("currentHealthy", "desiredHealthy", "expectedPods", "disruptionsAllowed")
    }
    assert numbers == {"currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3, "disruptionsAllowed": 1}


async def test_a_pod_that_is_not_running_is_evicted_in_spite_of_the_budget(api: Api) -> None:
    await api.make(PODS, pod("a", schedulerName="nobody"))
    body = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}}
    await api.make(BUDGETS, body)
    assert (await api.call("POST", f"{PODS}/a/eviction", _eviction("a"))).code == 201
    await api.gone(f"{PODS}/a")


async def test_an_eviction_of_a_missing_pod_is_404(api: Api) -> None:
    answer = await api.call("POST", f"{PODS}/nope/eviction", _eviction("nope"))
    assert answer.code == 404


async def test_scale_has_the_selector_and_can_be_patched(api: Api) -> None:
    await api.make(DEPLOYMENTS, workload("Deployment", "srv", replicas=1))
    scale = await api.get(f"{DEPLOYMENTS}/srv/scale")
    assert (scale.body["kind"], scale.body["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale.body["spec"] == {"replicas": 1}
    assert scale.body["status"]["selector"] == "app=srv"
    changed = await api.change(f"{DEPLOYMENTS}/srv/scale", {"spec": {"replicas": 3}}, "merge")
    assert changed["spec"]["replicas"] == 3
    await api.pods("app=srv", 3)


async def test_scale_by_dry_run_changes_nothing(api: Api) -> None:
    await api.make(DEPLOYMENTS, workload("Deployment", "srv", replicas=1))
    shown = await api.change(f"{DEPLOYMENTS}/srv/scale", {"spec": {"replicas": 3}}, "merge", dryRun="All")
    assert shown["spec"]["replicas"] == 3
    assert (await api.get(f"{DEPLOYMENTS}/srv")).body["spec"]["replicas"] == 1


async def test_a_stale_scale_is_409_and_a_negative_one_422(api: Api) -> None:
    await api.make(DEPLOYMENTS, workload("Deployment", "srv", replicas=0))
    old = (await api.get(f"{DEPLOYMENTS}/srv/scale")).body
    await api.change(f"{DEPLOYMENTS}/srv", {"metadata": {"labels": {"a": "b"}}})
    stale = await api.call("PUT", f"{DEPLOYMENTS}/srv/scale", {**old, "spec": {"replicas": 2}})
    assert (stale.code, stale.body["reason"]) == (409, "Conflict")
    negative = await api.call("PATCH", f"{DEPLOYMENTS}/srv/scale", {"spec": {"replicas": -1}}, patch="merge")
    assert (negative.code, negative.body["reason"]) == (422, "Invalid")
    assert "must be greater than or equal to 0" in negative.body["message"]


async def _running(api: Api) -> None:
    """Run a pod whose kubelet reports its resources, as a resize requires."""
    node = await api.ready_node("n")
    body = pod("a", nodeName=node)
    resources = {"requests": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"},
                 "limits": {"cpu": "2", "memory": "2Gi", "nvidia.com/gpu": "1"}}  # fmt: skip
    body["spec"]["containers"][0]["resources"] = resources
    await api.make(PODS, body)
    status = {"name": "main", "image": "x", "imageID": "", "ready": True, "restartCount": 0, "resources": resources,
              "allocatedResources": resources["requests"],
              "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}  # fmt: skip
    await api.run("a")
    await api.change(f"{PODS}/a/status", {"status": {"containerStatuses": [status]}})


def _resources(**resources: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main", "resources": resources}]}}


async def test_a_resize_changes_cpu_and_increments_the_generation(api: Api) -> None:
    await _running(api)
    before = (await api.get(f"{PODS}/a")).body
    changed = await api.change(f"{PODS}/a/resize", _resources(limits={"cpu": "4"}))
    assert changed["spec"]["containers"][0]["resources"]["limits"]["cpu"] == "4"
    assert changed["spec"]["containers"][0]["image"] == "registry.test/x:1"
    assert changed["metadata"]["generation"] == before["metadata"]["generation"] + 1


async def test_a_resize_by_dry_run_changes_nothing(api: Api) -> None:
    await _running(api)
    await api.change(f"{PODS}/a/resize", _resources(limits={"cpu": "4"}), dryRun="All")
    assert (await api.get(f"{PODS}/a")).body["spec"]["containers"][0]["resources"]["limits"]["cpu"] == "2"


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        pytest.param({"limits": {"nvidia.com/gpu": "2"}, "requests": {"nvidia.com/gpu": "2"}},
                     "only cpu and memory resources are mutable", id="of a GPU"),
        pytest.param({"limits": {"cpu": None}}, "resource limits cannot be removed", id="that removes a limit"),
        pytest.param({"limits": {"cpu": "500m"}}, "must be less than or equal to cpu limit of 500m",
                     id="below the request"),
        pytest.param({"limits": {"cpu": "1", "memory": "1Gi"}}, "Pod QOS Class may not change as a result of resizing",
                     id="that changes the QoS class"),
    ],
)  # fmt: skip
async def test_a_forbidden_resize_is_422(api: Api, resources: dict[str, Any], message: str) -> None:
    await _running(api)
    answer = await api.call("PATCH", f"{PODS}/a/resize", _resources(**resources), patch="strategic")
    assert answer.code == 422
    assert message in answer.body["message"]


async def test_a_pod_can_be_bound_only_once(api: Api) -> None:
    node = await api.ready_node("n")
    await api.make(PODS, pod("a", schedulerName="nobody"))
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a"},
               "target": {"apiVersion": "v1", "kind": "Node", "name": node}}  # fmt: skip
    assert (await api.call("POST", f"{PODS}/a/binding", binding)).code == 201
    bound = (await api.get(f"{PODS}/a")).body
    assert bound["spec"]["nodeName"] == node
    assert {c["type"]: c["status"] for c in bound["status"]["conditions"]}["PodScheduled"] == "True"
    assert (await api.call("POST", f"{PODS}/a/binding", binding)).code == 409


async def test_logs_of_a_missing_pod_are_404_and_of_a_wrong_container_400(api: Api) -> None:
    node = await api.ready_node("n")
    assert (await api.get(f"{PODS}/nope/log")).code == 404
    await api.make(PODS, pod("a", nodeName=node))
    answer = await api.get(f"{PODS}/a/log", container="other")
    assert answer.code == 400
    assert "container other is not valid for pod a" in answer.body["message"]


async def test_logs_of_a_pod_with_two_containers_need_a_container_name(api: Api) -> None:
    node = await api.ready_node("n")
    body = pod("a", nodeName=node)
    body["spec"]["containers"].append({"name": "side", "image": "x:1"})
    await api.make(PODS, body)
    answer = await api.get(f"{PODS}/a/log")
    assert answer.code == 400
    assert (
        "a container name must be specified for pod a, choose one of: [main side]" in answer.body["message"]
    )
