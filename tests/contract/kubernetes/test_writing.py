"""Writes: create, replace, dry run, defaults and validation."""

from __future__ import annotations

import pytest

from tests.contract.kubernetes.api import DEPLOYMENTS, JOBS, MAPS, PODS, Api, pod, template, workload

LEASES = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases"


async def test_a_created_object_gets_uid_version_time_and_generation(api: Api) -> None:
    meta = (await api.make(DEPLOYMENTS, workload("Deployment", "srv")))["metadata"]
    assert meta["generation"] == 1
    assert meta["namespace"] == api.space
    assert {"uid", "resourceVersion", "creationTimestamp"} <= set(meta)


async def test_a_second_create_is_409_already_exists(api: Api) -> None:
    await api.make(MAPS, {"metadata": {"name": "a"}})
    answer = await api.call("POST", MAPS, {"metadata": {"name": "a"}})
    assert (answer.code, answer.body["reason"]) == (409, "AlreadyExists")
    assert answer.body["message"] == 'configmaps "a" already exists'


async def test_generate_name_adds_five_characters(api: Api) -> None:
    made = await api.make(MAPS, {"metadata": {"generateName": "run-"}})
    assert made["metadata"]["name"].startswith("run-")
    assert len(made["metadata"]["name"]) == len("run-") + 5


async def test_an_unknown_namespace_is_404(api: Api) -> None:
    answer = await api.call(
        "POST", "/api/v1/namespaces/nowhere-at-all/configmaps", {"metadata": {"name": "a"}}
    )
    assert (answer.code, answer.body["message"]) == (404, 'namespaces "nowhere-at-all" not found')


async def test_a_dry_run_returns_the_object_and_creates_nothing(api: Api) -> None:
    answer = await api.call("POST", PODS, pod("a"), dryRun="All")
    assert answer.code == 201
    assert answer.body["metadata"]["uid"]
    assert (await api.get(f"{PODS}/a")).code == 404


async def test_a_dry_run_patch_returns_the_change_and_stores_nothing(api: Api) -> None:
    node = await api.ready_node("n")
    before = await api.get(f"/api/v1/nodes/{node}")
    query = {"dryRun": "All", "fieldManager": "bot", "fieldValidation": "Strict"}
    shown = await api.change(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}}, **query)
    assert shown["spec"]["unschedulable"] is True
    after = await api.get(f"/api/v1/nodes/{node}")
    assert "unschedulable" not in after.body["spec"]
    assert after.version == before.version


async def test_a_dry_run_delete_deletes_nothing(api: Api) -> None:
    await api.make(MAPS, {"metadata": {"name": "a"}})
    assert (await api.call("DELETE", f"{MAPS}/a", dryRun="All")).code == 200
    assert (await api.get(f"{MAPS}/a")).code == 200


async def test_a_dry_run_with_another_value_is_422(api: Api) -> None:
    answer = await api.call("PATCH", f"{MAPS}/a", {}, patch="merge", dryRun="yes")
    assert answer.code == 422
    assert 'dryRun: Unsupported value: ["yes"]: supported values: "All"' in answer.body["message"]


async def test_an_unknown_field_with_strict_validation_is_400(api: Api) -> None:
    body = {**workload("Deployment", "srv"), "spec": {**workload("Deployment", "srv")["spec"], "bogus": 1}}
    answer = await api.call("POST", DEPLOYMENTS, body, fieldValidation="Strict")
    assert (answer.code, answer.body["reason"]) == (400, "BadRequest")
    assert 'strict decoding error: unknown field "spec.bogus"' in answer.body["message"]


async def test_an_unknown_field_in_a_strict_patch_is_422(api: Api) -> None:
    node = await api.ready_node("n")
    body = {"spec": {"unschedulabel": True}}
    answer = await api.call("PATCH", f"/api/v1/nodes/{node}", body, patch="merge", fieldValidation="Strict")
    assert (answer.code, answer.body["reason"]) == (422, "Invalid")
    assert 'unknown field "spec.unschedulabel"' in answer.body["message"]


async def test_a_put_with_an_old_version_is_409_and_with_the_current_one_200(api: Api) -> None:
    old = await api.make(MAPS, {"metadata": {"name": "a"}, "data": {"k": "1"}})
    fresh = await api.change(f"{MAPS}/a", {"data": {"k": "2"}})
    answer = await api.call("PUT", f"{MAPS}/a", {**old, "data": {"k": "3"}})
    assert (answer.code, answer.body["reason"]) == (409, "Conflict")
    assert answer.body["message"] == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes '
        "to the latest version and try again"
    )
    assert (await api.call("PUT", f"{MAPS}/a", {**fresh, "data": {"k": "3"}})).code == 200


async def test_a_put_of_a_lease_needs_its_version(api: Api) -> None:
    lease = await api.make(LEASES, {"metadata": {"name": "a"}, "spec": {"holderIdentity": "x"}})
    assert (await api.call("PUT", f"{LEASES}/a", lease)).code == 200
    meta = {key: value for key, value in lease["metadata"].items() if key != "resourceVersion"}
    answer = await api.call("PUT", f"{LEASES}/a", {**lease, "metadata": meta})
    assert answer.code == 422
    assert "metadata.resourceVersion" in answer.body["message"]


async def test_a_write_without_a_change_keeps_the_version(api: Api) -> None:
    made = await api.make(MAPS, {"metadata": {"name": "a"}, "data": {"k": "1"}})
    same = await api.change(f"{MAPS}/a", {"data": {"k": "1"}})
    assert same["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_only_spec_changes_increment_the_generation(api: Api) -> None:
    await api.make(DEPLOYMENTS, workload("Deployment", "srv", paused=True, replicas=0))
    labelled = await api.change(f"{DEPLOYMENTS}/srv", {"metadata": {"labels": {"a": "b"}}})
    assert labelled["metadata"]["generation"] == 1
    scaled = await api.change(f"{DEPLOYMENTS}/srv", {"spec": {"minReadySeconds": 3}})
    assert scaled["metadata"]["generation"] == 2


async def test_pods_get_the_defaults_of_the_server(api: Api) -> None:
    spec = (await api.make(PODS, pod("a", requests={"nvidia.com/gpu": "1"})))["spec"]
    assert spec["restartPolicy"] == "Always"
    assert spec["schedulerName"] == "default-scheduler"
    assert spec["terminationGracePeriodSeconds"] == 30
    assert spec["priority"] == 0
    assert {t["key"] for t in spec["tolerations"]} == {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    }
    status = (await api.get(f"{PODS}/a")).body["status"]
    assert (status["phase"], status["qosClass"]) == ("Pending", "BestEffort")


_NO_IMAGE = {"containers": [{"name": "main"}]}


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        pytest.param(PODS, {"metadata": {"name": "a"}, "spec": {"containers": []}},
                     "spec.containers: Required value", id="a pod without containers"),
        pytest.param(PODS, {"metadata": {"name": "a"}, "spec": _NO_IMAGE},
                     "spec.containers[0].image: Required value", id="a container without image"),
        pytest.param(PODS, pod("Bad_Name"), "a lowercase RFC 1123 subdomain must consist of", id="an invalid name"),
        pytest.param(PODS, pod("a", labels={"k": "not a label"}), "metadata.labels: Invalid value",
                     id="an invalid label value"),
        pytest.param(DEPLOYMENTS, workload("Deployment", "srv", replicas=-1),
                     "spec.replicas: Invalid value: -1: must be greater than or equal to 0", id="negative replicas"),
        pytest.param(DEPLOYMENTS, workload("Deployment", "srv", selector={"matchLabels": {"app": "other"}}),
                     "`selector` does not match template `labels`", id="a selector that does not match the template"),
        pytest.param(JOBS, {"metadata": {"name": "j"}, "spec": {"template": template("j", restartPolicy="Always")}},
                     'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
                     id="a job that always restarts"),
        pytest.param("/api/v1/namespaces/{ns}/services", {"metadata": {"name": "s"}, "spec": {}},
                     "spec.ports: Required value", id="a service without ports"),
        pytest.param("/api/v1/nodes",
                     {"metadata": {"name": "n"}, "spec": {"taints": [{"key": "a", "effect": "Nope"}]}},
                     "metadata.taints[0].effect", id="a taint with an unknown effect"),
    ],
)  # fmt: skip
async def test_an_invalid_object_is_422(api: Api, path: str, body: object, message: str) -> None:
    answer = await api.call("POST", path, body)
    assert (answer.code, answer.body["reason"]) == (422, "Invalid")
    assert message in answer.body["message"]


async def test_an_invalid_quantity_is_400(api: Api) -> None:
    answer = await api.call("POST", PODS, pod("a", requests={"cpu": "much"}))
    assert (answer.code, answer.body["reason"]) == (400, "BadRequest")
    assert "quantities must match the regular expression" in answer.body["message"]


async def test_a_headless_service_needs_no_ports(api: Api) -> None:
    spec = {"clusterIP": "None", "selector": {"a": "b"}}
    made = await api.make("/api/v1/namespaces/{ns}/services", {"metadata": {"name": "s"}, "spec": spec})
    assert made["spec"]["clusterIP"] == "None"


async def test_the_fields_of_a_pod_are_immutable(api: Api) -> None:
    await api.make(PODS, pod("a", requests={"cpu": "1"}))
    body = {"spec": {"containers": [{"name": "main", "resources": {"limits": {"cpu": "2"}}}]}}
    answer = await api.call("PATCH", f"{PODS}/a", body, patch="strategic")
    assert answer.code == 422
    assert "pod updates may not change fields other than" in answer.body["message"]


async def test_a_jobs_template_is_immutable(api: Api) -> None:
    await api.make(
        JOBS, {"metadata": {"name": "j"}, "spec": {"template": template("j", restartPolicy="Never")}}
    )
    body = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "other"}]}}}}
    answer = await api.call("PATCH", f"{JOBS}/j", body, patch="strategic")
    assert answer.code == 422
    assert "field is immutable" in answer.body["message"]


async def test_an_unknown_priority_class_is_403(api: Api) -> None:
    answer = await api.call("POST", PODS, pod("a", priorityClassName="nope"))
    assert (answer.code, answer.body["reason"]) == (403, "Forbidden")
    assert "no PriorityClass with name nope was found" in answer.body["message"]


async def test_a_priority_class_gives_its_value_to_the_pod(api: Api) -> None:
    name = f"p-{api.space}"
    api.undo.append(f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}")
    await api.make("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": 777})
    assert (await api.make(PODS, pod("a", priorityClassName=name)))["spec"]["priority"] == 777
