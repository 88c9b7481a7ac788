"""Patches: strategic merge, merge and JSON patches change what they should and nothing else."""

from __future__ import annotations

from tests.contract.kubernetes.api import DEPLOYMENTS, MAPS, PODS, Api, pod, workload


async def test_a_strategic_merge_replaces_the_list_of_taints(api: Api) -> None:
    node = await api.ready_node("n")
    path = f"/api/v1/nodes/{node}"
    one, two = ({"key": key, "value": "x", "effect": "PreferNoSchedule"} for key in ("one", "two"))
    await api.change(path, {"spec": {"taints": [one]}})
    changed = await api.change(path, {"spec": {"taints": [two]}})
    assert changed["spec"]["taints"] == [two]


async def test_a_strategic_merge_merges_conditions_by_type(api: Api) -> None:
    node = await api.ready_node("n")
    fault = {"type": "GpuHealthy", "status": "False", "reason": "Xid79"}
    changed = await api.change(f"/api/v1/nodes/{node}/status", {"status": {"conditions": [fault]}})
    kinds = {c["type"]: c["status"] for c in changed["status"]["conditions"]}
    assert kinds == {"Ready": "True", "GpuHealthy": "False"}


async def test_a_strategic_merge_merges_containers_and_their_env_by_name(api: Api) -> None:
    spec = workload("Deployment", "srv", replicas=0)
    spec["spec"]["template"]["spec"]["containers"] = [
        {"name": "main", "image": "a:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
        {"name": "side", "image": "b:1", "args": ["x", "y"]},
    ]
    await api.make(DEPLOYMENTS, spec)
    containers = [
        {"name": "main", "image": "a:2", "env": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}]},
        {"name": "side", "args": ["z"]},
    ]
    changed = await api.change(
        f"{DEPLOYMENTS}/srv", {"spec": {"template": {"spec": {"containers": containers}}}}
    )
    main, side = sorted(changed["spec"]["template"]["spec"]["containers"], key=lambda c: str(c["name"]))
    assert main["image"] == "a:2"
    assert {e["name"]: e["value"] for e in main["env"]} == {"A": "1", "B": "3", "C": "4"}
    assert (side["image"], side["args"]) == ("b:1", ["z"])


async def test_a_strategic_merge_can_delete_one_element(api: Api) -> None:
    node = await api.ready_node("n")
    path = f"/api/v1/nodes/{node}/status"
    await api.change(path, {"status": {"conditions": [{"type": "Odd", "status": "True"}]}})
    changed = await api.change(path, {"status": {"conditions": [{"type": "Odd", "$patch": "delete"}]}})
    assert [c["type"] for c in changed["status"]["conditions"]] == ["Ready"]


async def test_a_merge_patch_removes_with_null_and_replaces_lists(api: Api) -> None:
    await api.make(
        MAPS, {"metadata": {"name": "a", "labels": {"x": "1", "y": "2"}}, "data": {"k": "1", "l": "2"}}
    )
    changed = await api.change(
        f"{MAPS}/a", {"metadata": {"labels": {"x": None}}, "data": {"k": None}}, "merge"
    )
    assert changed["metadata"]["labels"] == {"y": "2"}
    assert changed["data"] == {"l": "2"}


async def test_an_uncordon_by_null_removes_the_field(api: Api) -> None:
    node = await api.ready_node("n")
    await api.change(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    changed = await api.change(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": None}}, "merge")
    assert "unschedulable" not in changed["spec"]


async def test_a_json_patch_tests_adds_replaces_and_removes(api: Api) -> None:
    await api.make(MAPS, {"metadata": {"name": "a", "annotations": {"x/y": "1"}}, "data": {"k": "1"}})
    operations = [
        {"op": "test", "path": "/data/k", "value": "1"},
        {"op": "replace", "path": "/data/k", "value": "2"},
        {"op": "add", "path": "/data/l", "value": "3"},
        {"op": "remove", "path": "/metadata/annotations/x~1y"},
    ]
    changed = await api.change(f"{MAPS}/a", operations, "json")
    assert changed["data"] == {"k": "2", "l": "3"}
    assert "annotations" not in changed["metadata"]


async def test_a_json_patch_with_a_failing_test_is_422(api: Api) -> None:
    await api.make(MAPS, {"metadata": {"name": "a"}, "data": {"k": "1"}})
    operations = [{"op": "test", "path": "/data/k", "value": "2"}, {"op": "remove", "path": "/data/k"}]
    answer = await api.call("PATCH", f"{MAPS}/a", operations, patch="json")
    assert (answer.code, answer.body["reason"]) == (422, "Invalid")
    assert answer.body["message"] == "the server rejected our request due to an error in our request"
    assert (await api.get(f"{MAPS}/a")).body["data"] == {"k": "1"}


async def test_a_patch_with_an_old_version_is_409(api: Api) -> None:
    old = await api.make(MAPS, {"metadata": {"name": "a"}})
    fresh = await api.change(f"{MAPS}/a", {"data": {"k": "1"}}, "merge")
    stale = {"metadata": {"resourceVersion": old["metadata"]["resourceVersion"]}, "data": {"k": "2"}}
    answer = await api.call("PATCH", f"{MAPS}/a", stale, patch="merge")
    assert (answer.code, answer.body["reason"]) == (409, "Conflict")
    current = {"metadata": {"resourceVersion": fresh["metadata"]["resourceVersion"]}, "data": {"k": "2"}}
    await api.change(f"{MAPS}/a", current, "merge")


async def test_a_patch_with_an_unknown_content_type_is_415(api: Api) -> None:
    await api.make(MAPS, {"metadata": {"name": "a"}})
    answer = await api.call("PATCH", f"{MAPS}/a", {"data": {}}, headers={"Content-Type": "application/json"})
    assert (answer.code, answer.body["reason"]) == (415, "UnsupportedMediaType")


async def test_a_write_to_the_object_keeps_the_status_and_one_to_the_status_keeps_the_spec(
    api: Api,
) -> None:
    await api.make(PODS, pod("a", schedulerName="nobody"))
    body = {"metadata": {"labels": {"new": "1"}}, "status": {"phase": "Failed"}}
    assert (await api.change(f"{PODS}/a", body, "merge"))["status"]["phase"] == "Pending"
    body = {"spec": {"activeDeadlineSeconds": 5}, "status": {"phase": "Running"}}
    changed = await api.change(f"{PODS}/a/status", body, "merge")
    assert changed["status"]["phase"] == "Running"
    assert "activeDeadlineSeconds" not in changed["spec"]
