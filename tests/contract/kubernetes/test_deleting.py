"""Deletes: preconditions, grace periods, finalizers, propagation and namespaces."""

from __future__ import annotations

from tests.contract.kubernetes.api import DEPLOYMENTS, JOBS, MAPS, PODS, SETS, Api, pod, template, workload


async def test_a_delete_returns_the_name_and_uid_of_the_object(api: Api) -> None:
    made = await api.make(MAPS, {"metadata": {"name": "a"}})
    answer = await api.call("DELETE", f"{MAPS}/a")
    assert (answer.code, answer.body["kind"], answer.body["status"]) == (200, "Status", "Success")
    assert answer.body["details"] == {"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]}
    assert (await api.call("DELETE", f"{MAPS}/a")).code == 404


async def test_a_failed_precondition_is_409_and_names_both_values(api: Api) -> None:
    meta = (await api.make(MAPS, {"metadata": {"name": "a"}}))["metadata"]
    answer = await api.call("DELETE", f"{MAPS}/a", {"preconditions": {"uid": "other"}})
    assert (answer.code, answer.body["reason"]) == (409, "Conflict")
    assert "other" in answer.body["message"]
    assert meta["uid"] in answer.body["message"]
    answer = await api.call("DELETE", f"{MAPS}/a", {"preconditions": {"resourceVersion": "1"}})
    assert answer.code == 409
    valid = {"preconditions": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}}
    assert (await api.call("DELETE", f"{MAPS}/a", valid)).code == 200


async def test_a_pod_without_a_node_is_deleted_immediately(api: Api) -> None:
    await api.make(PODS, pod("a", schedulerName="nobody"))
    answer = await api.call("DELETE", f"{PODS}/a")
    assert (answer.code, answer.body["kind"]) == (200, "Pod")
    assert (await api.get(f"{PODS}/a")).code == 404


async def test_a_pod_on_a_node_waits_for_its_kubelet(api: Api) -> None:
    node = await api.ready_node("n")
    await api.make(PODS, pod("a", nodeName=node))
    await api.run("a")
    first = await api.call("DELETE", f"{PODS}/a")
    assert first.body["metadata"]["deletionGracePeriodSeconds"] == 30
    still = await api.get(f"{PODS}/a")
    assert still.body["metadata"]["deletionTimestamp"]
    assert still.body["status"]["phase"] == "Running"
    confirmed = await api.call("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 0})
    assert confirmed.code == 200
    assert (await api.get(f"{PODS}/a")).code == 404


async def test_a_finalizer_keeps_an_object_until_it_is_removed(api: Api) -> None:
    await api.make(MAPS, {"metadata": {"name": "a", "finalizers": ["yard.test/hold"]}})
    answer = await api.call("DELETE", f"{MAPS}/a")
    assert answer.body["metadata"]["deletionTimestamp"]
    assert (await api.get(f"{MAPS}/a")).code == 200
    await api.call("PATCH", f"{MAPS}/a", {"metadata": {"finalizers": None}}, patch="merge")
    assert (await api.get(f"{MAPS}/a")).code == 404


async def test_a_collection_is_deleted_by_selector(api: Api) -> None:
    for name, labels in (("a", {"on": "1"}), ("b", {"on": "1"}), ("c", {})):
        await api.make(MAPS, {"metadata": {"name": name, "labels": labels}})
    assert (await api.call("DELETE", MAPS, labelSelector="on=1")).code == 200
    assert "a" not in (names := (await api.get(MAPS)).names)
    assert "b" not in names
    assert "c" in names


async def test_dependents_are_deleted_with_their_owner(api: Api) -> None:
    await api.make(DEPLOYMENTS, workload("Deployment", "srv", replicas=2))
    await api.pods("app=srv", 2)
    await api.call("DELETE", f"{DEPLOYMENTS}/srv")
    await api.pods("app=srv", 0)

    async def no_sets() -> bool:
        return (await api.get(SETS)).names == []

    await api.until("the replica sets to be deleted", no_sets)


async def test_an_orphaning_delete_keeps_the_dependents(api: Api) -> None:
    await api.make(SETS, workload("ReplicaSet", "srv", replicas=1))
    (one,) = await api.pods("app=srv", 1)
    await api.call("DELETE", f"{SETS}/srv", {"propagationPolicy": "Orphan"})
    await api.gone(f"{SETS}/srv")
    orphan = await api.get(f"{PODS}/{one['metadata']['name']}")
    assert "ownerReferences" not in orphan.body["metadata"]


async def test_a_foreground_delete_waits_for_the_dependents(api: Api) -> None:
    await api.make(SETS, workload("ReplicaSet", "srv", replicas=1))
    await api.pods("app=srv", 1)
    answer = await api.call("DELETE", f"{SETS}/srv", {"propagationPolicy": "Foreground"})
    assert answer.body["metadata"]["finalizers"] == ["foregroundDeletion"]
    await api.gone(f"{SETS}/srv")
    await api.pods("app=srv", 0)


async def make_job(api: Api) -> None:
    """Create the Job `j`, and wait for its pod."""
    await api.make(
        JOBS, {"metadata": {"name": "j"}, "spec": {"template": template("j", restartPolicy="Never")}}
    )
    await api.pods("app=j", 1)


async def test_a_delete_of_a_job_without_a_policy_keeps_its_pods(api: Api) -> None:
    await make_job(api)
    await api.call("DELETE", f"{JOBS}/j")
    await api.gone(f"{JOBS}/j")
    await api.pods("app=j", 1)


async def test_a_background_delete_of_a_job_deletes_its_pods(api: Api) -> None:
    await make_job(api)
    await api.call("DELETE", f"{JOBS}/j", {"propagationPolicy": "Background"})
    await api.pods("app=j", 0)


async def test_a_deleted_namespace_is_emptied_accepts_no_objects_and_is_removed(api: Api) -> None:
    node = await api.ready_node("n")
    await api.make(MAPS, {"metadata": {"name": "a"}})
    await api.make(PODS, pod("a", nodeName=node))
    await api.run("a")
    answer = await api.call("DELETE", "/api/v1/namespaces/{ns}")
    assert (answer.code, answer.body["status"]["phase"]) == (200, "Terminating")
    refused = await api.call("POST", MAPS, {"metadata": {"name": "b"}})
    assert (refused.code, refused.body["reason"]) == (403, "Forbidden")
    assert refused.cause["reason"] == "NamespaceTerminating"

    async def terminating() -> bool:
        return "deletionTimestamp" in (await api.get(f"{PODS}/a")).body["metadata"]

    await api.until("the pod to be terminating", terminating)
    await api.call("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 0})
    await api.gone("/api/v1/namespaces/{ns}")
    assert (await api.get(f"{MAPS}/a")).code == 404
