"""Deleting: preconditions, grace, finalizers, propagation and namespaces end as on the real server."""

from __future__ import annotations

from tests.contract.kubernetes.door import Door, pod, template, workload

PODS = "/api/v1/namespaces/{ns}/pods"
MAPS = "/api/v1/namespaces/{ns}/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
SETS = "/apis/apps/v1/namespaces/{ns}/replicasets"
JOBS = "/apis/batch/v1/namespaces/{ns}/jobs"


async def test_a_delete_answers_with_the_name_and_uid_of_what_went(door: Door) -> None:
    made = await door.make(MAPS, {"metadata": {"name": "a"}})
    answer = await door.call("DELETE", f"{MAPS}/a")
    assert (answer.code, answer.body["kind"], answer.body["status"]) == (200, "Status", "Success")
    assert answer.body["details"] == {"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]}
    assert (await door.call("DELETE", f"{MAPS}/a")).code == 404


async def test_a_wrong_precondition_is_409_and_names_both_values(door: Door) -> None:
    meta = (await door.make(MAPS, {"metadata": {"name": "a"}}))["metadata"]
    answer = await door.call("DELETE", f"{MAPS}/a", {"preconditions": {"uid": "other"}})
    assert (answer.code, answer.body["reason"]) == (409, "Conflict")
    assert "other" in answer.body["message"]
    assert meta["uid"] in answer.body["message"]
    answer = await door.call("DELETE", f"{MAPS}/a", {"preconditions": {"resourceVersion": "1"}})
    assert answer.code == 409
    right = {"preconditions": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}}
    assert (await door.call("DELETE", f"{MAPS}/a", right)).code == 200


async def test_a_pod_without_node_goes_at_once(door: Door) -> None:
    await door.make(PODS, pod("a", schedulerName="nobody"))
    answer = await door.call("DELETE", f"{PODS}/a")
    assert (answer.code, answer.body["kind"]) == (200, "Pod")
    assert (await door.get(f"{PODS}/a")).code == 404


async def test_a_pod_on_a_node_waits_for_its_kubelet(door: Door) -> None:
    node = await door.ready_node("n")
    await door.make(PODS, pod("a", nodeName=node))
    await door.run("a")
    first = await door.call("DELETE", f"{PODS}/a")
    assert first.body["metadata"]["deletionGracePeriodSeconds"] == 30
    still = await door.get(f"{PODS}/a")
    assert still.body["metadata"]["deletionTimestamp"]
    assert still.body["status"]["phase"] == "Running"
    confirmed = await door.call("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 0})
    assert confirmed.code == 200
    assert (await door.get(f"{PODS}/a")).code == 404


async def test_a_finalizer_holds_an_object_until_it_is_taken_off(door: Door) -> None:
    await door.make(MAPS, {"metadata": {"name": "a", "finalizers": ["yard.test/hold"]}})
    answer = await door.call("DELETE", f"{MAPS}/a")
    assert answer.body["metadata"]["deletionTimestamp"]
    assert (await door.get(f"{MAPS}/a")).code == 200
    await door.call("PATCH", f"{MAPS}/a", {"metadata": {"finalizers": None}}, patch="merge")
    assert (await door.get(f"{MAPS}/a")).code == 404


async def test_a_collection_is_deleted_by_selector(door: Door) -> None:
    for name, labels in (("a", {"on": "1"}), ("b", {"on": "1"}), ("c", {})):
        await door.make(MAPS, {"metadata": {"name": name, "labels": labels}})
    assert (await door.call("DELETE", MAPS, labelSelector="on=1")).code == 200
    assert "a" not in (names := (await door.get(MAPS)).names)
    assert "b" not in names
    assert "c" in names


async def test_what_a_deleted_owner_owned_goes_too(door: Door) -> None:
    await door.make(DEPLOYMENTS, workload("Deployment", "srv", replicas=2))
    await door.pods("app=srv", 2)
    await door.call("DELETE", f"{DEPLOYMENTS}/srv")
    await door.pods("app=srv", 0)

    async def no_sets() -> bool:
        return (await door.get(SETS)).names == []

    await door.until("the end of the replica sets", no_sets)


async def test_an_orphaning_delete_leaves_the_dependents(door: Door) -> None:
    await door.make(SETS, workload("ReplicaSet", "srv", replicas=1))
    (one,) = await door.pods("app=srv", 1)
    await door.call("DELETE", f"{SETS}/srv", {"propagationPolicy": "Orphan"})
    await door.gone(f"{SETS}/srv")
    left = await door.get(f"{PODS}/{one['metadata']['name']}")
    assert "ownerReferences" not in left.body["metadata"]


async def test_a_foreground_delete_waits_for_the_dependents(door: Door) -> None:
    await door.make(SETS, workload("ReplicaSet", "srv", replicas=1))
    await door.pods("app=srv", 1)
    answer = await door.call("DELETE", f"{SETS}/srv", {"propagationPolicy": "Foreground"})
    assert answer.body["metadata"]["finalizers"] == ["foregroundDeletion"]
    await door.gone(f"{SETS}/srv")
    await door.pods("app=srv", 0)


async def test_a_raw_delete_of_a_job_keeps_its_pods(door: Door) -> None:
    await door.make(
        JOBS, {"metadata": {"name": "j"}, "spec": {"template": template("j", restartPolicy="Never")}}
    )
    await door.pods("app=j", 1)
    await door.call("DELETE", f"{JOBS}/j")
    await door.gone(f"{JOBS}/j")
    await door.pods("app=j", 1)


async def test_a_background_delete_of_a_job_takes_its_pods(door: Door) -> None:
    await door.make(
        JOBS, {"metadata": {"name": "j"}, "spec": {"template": template("j", restartPolicy="Never")}}
    )
    await door.pods("app=j", 1)
    await door.call("DELETE", f"{JOBS}/j", {"propagationPolicy": "Background"})
    await door.pods("app=j", 0)


async def test_a_deleted_namespace_is_emptied_takes_nothing_new_and_goes(door: Door) -> None:
    node = await door.ready_node("n")
    await door.make(MAPS, {"metadata": {"name": "a"}})
    await door.make(PODS, pod("a", nodeName=node))
    await door.run("a")
    answer = await door.call("DELETE", "/api/v1/namespaces/{ns}")
    assert (answer.code, answer.body["status"]["phase"]) == (200, "Terminating")
    refused = await door.call("POST", MAPS, {"metadata": {"name": "b"}})
    assert (refused.code, refused.body["reason"]) == (403, "Forbidden")
    assert refused.cause["reason"] == "NamespaceTerminating"

    async def going() -> bool:
        return "deletionTimestamp" in (await door.get(f"{PODS}/a")).body["metadata"]

    await door.until("the pod to be told to end", going)
    await door.call("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 0})
    await door.gone("/api/v1/namespaces/{ns}")
    assert (await door.get(f"{MAPS}/a")).code == 404
