"""Workloads: what the controllers create, replace and report."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.kubernetes.api import JOBS, PODS, Api, Json, template, workload

APPS = "/apis/apps/v1/namespaces/{ns}"
ENDS_THE_JOB = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [143]}}


def _job(name: str, **spec: Any) -> Json:
    return {"metadata": {"name": name}, "spec": {"template": template(name, restartPolicy="Never"), **spec}}


def _names(pods: list[Json]) -> list[str]:
    return [str(p["metadata"]["name"]) for p in pods]


async def _status(api: Api, path: str, **wanted: Any) -> Json:
    """Wait until the status has these values; None means that the key is missing."""

    async def check() -> Json | None:
        status = (await api.get(path)).body.get("status") or {}
        return status if all(status.get(key) == value for key, value in wanted.items()) else None

    found: Json = await api.until(f"{wanted} on {path}", check)
    return found


async def test_a_deployment_creates_a_replica_set_that_creates_the_pods(api: Api) -> None:
    await api.make(f"{APPS}/deployments", workload("Deployment", "srv", replicas=2))
    made = await api.pods("app=srv", 2)
    (owner,) = made[0]["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["controller"]) == ("ReplicaSet", True)
    answer = await api.get(f"{APPS}/replicasets", labelSelector="app=srv")
    (one,) = answer.body["items"]
    digest = one["metadata"]["labels"]["pod-template-hash"]
    assert one["metadata"]["name"] == f"srv-{digest}" == owner["name"]
    assert made[0]["metadata"]["labels"]["pod-template-hash"] == digest
    assert made[0]["metadata"]["name"].startswith(f"srv-{digest}-")
    assert one["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"


async def test_a_deployment_reports_ready_replicas(api: Api) -> None:
    await api.make(f"{APPS}/deployments", workload("Deployment", "srv", replicas=2))
    first, second = _names(await api.pods("app=srv", 2))
    path = f"{APPS}/deployments/srv"
    assert (await api.condition(path, "Available", "False"))["reason"] == "MinimumReplicasUnavailable"
    await api.run(first)
    await _status(api, path, replicas=2, readyReplicas=1, unavailableReplicas=1)
    await api.run(second)
    status = await _status(api, path, readyReplicas=2, availableReplicas=2, unavailableReplicas=None)
    assert status["observedGeneration"] == 1
    assert (await api.condition(path, "Available"))["reason"] == "MinimumReplicasAvailable"
    assert (await api.condition(path, "Progressing"))["reason"] == "NewReplicaSetAvailable"


async def test_a_new_template_rolls_out_within_the_limits(api: Api) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    await api.make(f"{APPS}/deployments", workload("Deployment", "srv", replicas=2, strategy=strategy))
    for name in _names(await api.pods("app=srv", 2)):
        await api.run(name)
    await _status(api, f"{APPS}/deployments/srv", availableReplicas=2)
    image = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "registry.test/x:2"}]}}}}
    await api.change(f"{APPS}/deployments/srv", image)
    await api.pods("app=srv", 3)  # one extra while the new one is not ready
    for _ in range(2):
        await _run_new(api)
    await _status(api, f"{APPS}/deployments/srv", updatedReplicas=2, replicas=2, availableReplicas=2)
    staying = await api.pods("app=srv", 2)
    assert {p["spec"]["containers"][0]["image"] for p in staying} == {"registry.test/x:2"}
    annotations = (await api.get(f"{APPS}/deployments/srv")).body["metadata"]["annotations"]
    assert annotations["deployment.kubernetes.io/revision"] == "2"


async def _run_new(api: Api) -> None:
    async def waiting() -> str | None:
        answer = await api.get(PODS, labelSelector="app=srv", fieldSelector="status.phase=Pending")
        fresh = [
            p for p in answer.body["items"] if p["spec"]["containers"][0]["image"] == "registry.test/x:2"
        ]
        return str(fresh[0]["metadata"]["name"]) if fresh else None

    await api.run(await api.until("a new pod", waiting))


async def test_a_deleted_pod_of_a_replica_set_is_replaced(api: Api) -> None:
    await api.make(f"{APPS}/replicasets", workload("ReplicaSet", "srv", replicas=1))
    (old,) = _names(await api.pods("app=srv", 1))
    await api.call("DELETE", f"{PODS}/{old}")

    async def another() -> bool:
        return [n for n in (await api.get(PODS, labelSelector="app=srv")).names if n != old] != []

    await api.until("another pod", another)


async def test_a_stateful_set_starts_its_pods_in_order(api: Api) -> None:
    body = workload("StatefulSet", "db", replicas=2, serviceName="db")
    await api.make(f"{APPS}/statefulsets", body)
    assert _names(await api.pods("app=db", 1)) == ["db-0"]
    await api.run("db-0")
    second = (await api.pods("app=db", 2))[1]
    assert second["metadata"]["name"] == "db-1"
    assert second["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == "1"
    assert second["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] == "db-1"
    assert (second["spec"]["hostname"], second["spec"]["subdomain"]) == ("db-1", "db")
    await api.run("db-1")
    await _status(api, f"{APPS}/statefulsets/db", replicas=2, readyReplicas=2)
    await api.change(f"{APPS}/statefulsets/db/scale", {"spec": {"replicas": 1}}, "merge")
    assert _names(await api.pods("app=db", 1)) == ["db-0"]


async def test_a_daemon_set_has_a_pod_on_each_node_including_cordoned_ones(api: Api) -> None:
    labels = {"pool": api.space}
    nodes = {await api.ready_node(name, labels=labels) for name in ("a", "b")}
    await api.change(f"/api/v1/nodes/{min(nodes)}", {"spec": {"unschedulable": True}})
    body = workload("DaemonSet", "agent")
    body["spec"]["template"]["spec"]["nodeSelector"] = labels
    await api.make(f"{APPS}/daemonsets", body)

    async def placed() -> bool:
        answer = await api.get(PODS, labelSelector="app=agent")
        return {p["spec"].get("nodeName") for p in answer.body["items"]} == nodes

    await api.until("a pod on each node", placed)
    await _status(
        api, f"{APPS}/daemonsets/agent", desiredNumberScheduled=2, currentNumberScheduled=2, numberReady=0
    )


async def test_an_indexed_job_completes_index_by_index(api: Api) -> None:
    await api.make(JOBS, _job("j", completions=2, parallelism=2, completionMode="Indexed"))
    made = await api.pods("batch.kubernetes.io/job-name=j", 2)
    index = "batch.kubernetes.io/job-completion-index"
    by_index = {p["metadata"]["labels"][index]: p for p in made}
    assert set(by_index) == {"0", "1"}
    one = by_index["1"]
    assert one["metadata"]["name"].startswith("j-1-")
    assert one["spec"]["hostname"] == "j-1"
    assert one["metadata"]["annotations"][index] == "1"
    assert [e["name"] for e in one["spec"]["containers"][0]["env"]] == ["JOB_COMPLETION_INDEX"]
    await _status(api, f"{JOBS}/j", active=2, ready=0)
    for each in _names(made):
        await api.run(each)
    await _status(api, f"{JOBS}/j", active=2, ready=2)
    for each in _names(made):
        await api.end(each)
    done = await api.condition(f"{JOBS}/j", "Complete")
    assert (done["reason"], done["message"]) == (
        "CompletionsReached",
        "Reached expected number of succeeded pods",
    )
    await api.condition(f"{JOBS}/j", "SuccessCriteriaMet")
    status = await _status(api, f"{JOBS}/j", succeeded=2, completedIndexes="0,1", active=None)
    assert status["completionTime"]


async def test_an_indexed_job_is_scaled_at_its_end_and_what_it_loses_has_not_failed(api: Api) -> None:
    node = await api.ready_node("a", labels={"pool": api.space})
    job = _job("j", completions=3, parallelism=3, completionMode="Indexed", backoffLimit=0)
    job["spec"]["template"]["spec"] |= {"restartPolicy": "Never", "nodeSelector": {"pool": api.space}}
    await api.make(JOBS, job)
    index = "batch.kubernetes.io/job-completion-index"
    made = {p["metadata"]["labels"][index]: p["metadata"]["name"] for p in await api.pods("job-name=j", 3)}
    for name in made.values():
        await api.bound(name, node)
        await api.run(name)
    await api.change(f"{JOBS}/j", {"spec": {"parallelism": 2, "completions": 2}})
    left = _names(await api.pods("job-name=j", 2))
    assert set(left) == {made["0"], made["1"]}
    await api.end(made["2"], code=143)  # as a kubelet does
    await api.call("DELETE", f"{PODS}/{made['2']}", {"gracePeriodSeconds": 0})
    await api.gone(f"{PODS}/{made['2']}")
    await _status(api, f"{JOBS}/j", active=2, ready=2, failed=None)
    await api.change(f"{JOBS}/j", {"spec": {"parallelism": 3, "completions": 3}})
    again = await api.pods("job-name=j", 3)
    assert {p["metadata"]["labels"][index] for p in again} == {"0", "1", "2"}


async def test_a_job_of_one_completes(api: Api) -> None:
    made = await api.make(JOBS, _job("j"))
    assert (made["spec"]["completions"], made["spec"]["parallelism"], made["spec"]["backoffLimit"]) == (
        1,
        1,
        6,
    )
    (one,) = _names(await api.pods("job-name=j", 1))
    await api.end(one)
    await api.condition(f"{JOBS}/j", "Complete")
    assert (await api.get(f"{PODS}/{one}")).body["status"]["phase"] == "Succeeded"


async def test_a_job_past_its_backoff_limit_fails(api: Api) -> None:
    await api.make(JOBS, _job("j", backoffLimit=0))
    (one,) = _names(await api.pods("job-name=j", 1))
    await api.end(one, code=3)
    failed = await api.condition(f"{JOBS}/j", "Failed")
    assert (failed["reason"], failed["message"]) == (
        "BackoffLimitExceeded",
        "Job has reached the specified backoff limit",
    )
    await api.condition(f"{JOBS}/j", "FailureTarget")
    await _status(api, f"{JOBS}/j", failed=1, active=None)


async def test_a_pod_failure_policy_fails_a_job_at_its_exit_code(api: Api) -> None:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
    await api.make(JOBS, _job("j", podFailurePolicy={"rules": [rule]}))
    (one,) = _names(await api.pods("job-name=j", 1))
    await api.end(one, code=42)
    failed = await api.condition(f"{JOBS}/j", "Failed")
    assert failed["reason"] == "PodFailurePolicy"
    assert failed["message"] == (
        f"Container main for pod {api.space}/{one} failed with exit code 42 matching FailJob rule at index 0"
    )


async def test_a_job_over_its_deadline_fails(api: Api) -> None:
    await api.make(JOBS, _job("j", activeDeadlineSeconds=1))
    failed = await api.condition(f"{JOBS}/j", "Failed")
    assert (failed["reason"], failed["message"]) == (
        "DeadlineExceeded",
        "Job was active longer than specified deadline",
    )
    await api.pods("job-name=j", 0)


async def test_a_suspended_job_has_no_pods_until_it_is_resumed(api: Api) -> None:
    await api.make(JOBS, _job("j"))
    await api.pods("job-name=j", 1)
    await api.change(f"{JOBS}/j", {"spec": {"suspend": True}})
    assert (await api.condition(f"{JOBS}/j", "Suspended"))["reason"] == "JobSuspended"
    await api.pods("job-name=j", 0)
    await _status(api, f"{JOBS}/j", active=None, startTime=None, failed=None)
    await api.change(f"{JOBS}/j", {"spec": {"suspend": False}})
    assert (await api.condition(f"{JOBS}/j", "Suspended", "False"))["reason"] == "JobResumed"
    await api.pods("job-name=j", 1)


@pytest.mark.parametrize(
    ("restart", "spec"),
    [
        pytest.param("Never", {"backoffLimit": 0}, id="no retries"),
        pytest.param("OnFailure", {"backoffLimit": 0}, id="restarted on failure"),
        pytest.param(
            "Never", {"backoffLimit": 0, "podFailurePolicy": {"rules": [ENDS_THE_JOB]}}, id="fails at 143"
        ),
        pytest.param(
            "Never", {"backoffLimit": 0, "podReplacementPolicy": "Failed"}, id="replaced after their end"
        ),
        pytest.param("Never", {"backoffLimit": 0, "activeDeadlineSeconds": 3600}, id="a deadline"),
    ],
)
@pytest.mark.parametrize("is_early", [False, True], ids=["after its pods", "while its pods end"])
async def test_a_suspended_job_comes_back_although_its_pods_ended_with_an_error(
    api: Api, restart: str, spec: Json, is_early: bool
) -> None:
    """The controller lets go of the pods of a suspended Job before it deletes them: how they end does not count."""
    node = await api.ready_node("a", labels={"pool": api.space})
    job = _job("j", completions=2, parallelism=2, completionMode="Indexed", **spec)
    job["spec"]["template"]["spec"] |= {"restartPolicy": restart, "nodeSelector": {"pool": api.space}}
    await api.make(JOBS, job)
    first = _names(await api.pods("job-name=j", 2))
    for name in first:
        await api.bound(name, node)
        await api.run(name)
    await _status(api, f"{JOBS}/j", active=2, ready=2)
    await api.change(f"{JOBS}/j", {"spec": {"suspend": True}})
    await api.pods("job-name=j", 0)  # none that is not terminating
    await api.condition(f"{JOBS}/j", "Suspended")
    if is_early:
        await api.change(f"{JOBS}/j", {"spec": {"suspend": False}})
    for name in first:  # as a kubelet ends a pod whose process does not catch SIGTERM
        await api.end(name, code=143)
        await api.call("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})
        await api.gone(f"{PODS}/{name}")
    if not is_early:
        await _status(api, f"{JOBS}/j", active=None, failed=None, terminating=0)
        await api.change(f"{JOBS}/j", {"spec": {"suspend": False}})
    again = _names(await api.pods("job-name=j", 2))
    assert set(again).isdisjoint(first)
    for name in again:
        await api.run(name)
    status = await _status(api, f"{JOBS}/j", active=2, ready=2, failed=None)
    assert {one["type"] for one in status["conditions"]} == {"Suspended"}


async def test_a_finished_job_and_its_pods_are_deleted_after_the_ttl(api: Api) -> None:
    await api.make(JOBS, _job("j", ttlSecondsAfterFinished=0))
    (one,) = _names(await api.pods("job-name=j", 1))
    await api.end(one)
    await api.gone(f"{JOBS}/j")
    await api.gone(f"{PODS}/{one}")


async def test_a_failed_creation_has_an_event(api: Api) -> None:
    body = workload("ReplicaSet", "srv", replicas=1)
    body["spec"]["template"]["spec"]["priorityClassName"] = "nope"
    await api.make(f"{APPS}/replicasets", body)

    async def event_message() -> str | None:
        events = await api.get("/api/v1/namespaces/{ns}/events", fieldSelector="involvedObject.name=srv")
        found = [e["message"] for e in events.body["items"] if e["reason"] == "FailedCreate"]
        return found[0] if found else None

    text = await api.until("an event", event_message)
    assert text.startswith("Error creating: pods ")
    assert "no PriorityClass with name nope was found" in text


async def test_every_namespace_gets_a_default_service_account_and_the_root_certificate(api: Api) -> None:
    assert (await api.get("/api/v1/namespaces/{ns}/serviceaccounts/default")).code == 200

    async def exists() -> bool:
        return (await api.get("/api/v1/namespaces/{ns}/configmaps/kube-root-ca.crt")).code == 200

    await api.until("the certificate", exists)
