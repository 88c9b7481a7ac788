"""Workloads: what the controllers create, replace and report."""

from __future__ import annotations

from tests.contract.kubernetes.api import PODS, Api, names_of, workload

APPS = "/apis/apps/v1/namespaces/{ns}"


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
    first, second = names_of(await api.pods("app=srv", 2))
    path = f"{APPS}/deployments/srv"
    assert (await api.condition(path, "Available", "False"))["reason"] == "MinimumReplicasUnavailable"
    await api.run(first)
    await api.status(path, replicas=2, readyReplicas=1, unavailableReplicas=1)
    await api.run(second)
    status = await api.status(path, readyReplicas=2, availableReplicas=2, unavailableReplicas=None)
    assert status["observedGeneration"] == 1
    assert (await api.condition(path, "Available"))["reason"] == "MinimumReplicasAvailable"
    assert (await api.condition(path, "Progressing"))["reason"] == "NewReplicaSetAvailable"


async def test_a_new_template_rolls_out_within_the_limits(api: Api) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    await api.make(f"{APPS}/deployments", workload("Deployment", "srv", replicas=2, strategy=strategy))
    for name in names_of(await api.pods("app=srv", 2)):
        await api.run(name)
    await api.status(f"{APPS}/deployments/srv", availableReplicas=2)
    image = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "registry.test/x:2"}]}}}}
    await api.change(f"{APPS}/deployments/srv", image)
    await api.pods("app=srv", 3)  # one extra while the new one is not ready
    for _ in range(2):
        await _run_new(api)
    await api.status(f"{APPS}/deployments/srv", updatedReplicas=2, replicas=2, availableReplicas=2)
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
    (old,) = names_of(await api.pods("app=srv", 1))
    await api.call("DELETE", f"{PODS}/{old}")

    async def another() -> bool:
        return [n for n in (await api.get(PODS, labelSelector="app=srv")).names if n != old] != []

    await api.until("another pod", another)


async def test_a_stateful_set_starts_its_pods_in_order(api: Api) -> None:
    body = workload("StatefulSet", "db", replicas=2, serviceName="db")
    await api.make(f"{APPS}/statefulsets", body)
    assert names_of(await api.pods("app=db", 1)) == ["db-0"]
    await api.run("db-0")
    second = (await api.pods("app=db", 2))[1]
    assert second["metadata"]["name"] == "db-1"
    assert second["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == "1"
    assert second["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] == "db-1"
    assert (second["spec"]["hostname"], second["spec"]["subdomain"]) == ("db-1", "db")
    await api.run("db-1")
    await api.status(f"{APPS}/statefulsets/db", replicas=2, readyReplicas=2)
    await api.change(f"{APPS}/statefulsets/db/scale", {"spec": {"replicas": 1}}, "merge")
    assert names_of(await api.pods("app=db", 1)) == ["db-0"]


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
    await api.status(
        f"{APPS}/daemonsets/agent", desiredNumberScheduled=2, currentNumberScheduled=2, numberReady=0
    )


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
