"""Custom kinds: a definition makes its kind served, with the subresources it declares."""

from __future__ import annotations

import asyncio

from tests.contract.kubernetes.api import Api, Json

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def _define(api: Api) -> str:
    """Define `trainings` in a group of the test's own, and return the path of its objects."""
    group = f"{api.space}.yard.test"
    schema: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}  # fmt: skip
    scale = {"specReplicasPath": ".spec.workers", "statusReplicasPath": ".status.workers"}
    version: Json = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
                     "subresources": {"status": {}, "scale": scale}}  # fmt: skip
    names = {"plural": "trainings", "singular": "training", "kind": "Training", "shortNames": ["tr"]}
    body = {"metadata": {"name": f"trainings.{group}"}, "spec": {"group": group, "scope": "Namespaced", "names": names,
                                                                "versions": [version]}}  # fmt: skip
    api.undo.append(f"{DEFINITIONS}/trainings.{group}")
    await api.make(DEFINITIONS, body)
    await api.condition(f"{DEFINITIONS}/trainings.{group}", "Established")
    path = f"/apis/{group}/v1/namespaces/{{ns}}/trainings"

    async def served() -> bool:
        await asyncio.sleep(0)
        return (await api.get(path)).code == 200

    await api.until("the kind to be served", served)
    return path


def _training(api: Api, **spec: object) -> Json:
    return {
        "apiVersion": f"{api.space}.yard.test/v1",
        "kind": "Training",
        "metadata": {"name": "t"},
        "spec": spec,
    }


async def test_objects_of_a_custom_kind_work_like_any_other(api: Api) -> None:
    path = await _define(api)
    made = await api.make(path, _training(api, image="x"))
    assert made["metadata"]["generation"] == 1
    listed = await api.get(path)
    assert listed.body["kind"] == "TrainingList"
    assert listed.body["items"][0]["kind"] == "Training"
    changed = await api.change(f"{path}/t", {"spec": {"image": "y"}}, "merge")
    assert changed["metadata"]["generation"] == 2
    assert (await api.call("DELETE", f"{path}/t")).code == 200


async def test_a_strategic_merge_on_a_custom_kind_is_415(api: Api) -> None:
    path = await _define(api)
    await api.make(path, _training(api))
    answer = await api.call("PATCH", f"{path}/t", {"spec": {"a": 1}}, patch="strategic")
    assert (answer.code, answer.body["reason"]) == (415, "UnsupportedMediaType")


async def test_the_status_of_a_custom_kind_is_a_subresource(api: Api) -> None:
    path = await _define(api)
    await api.make(path, {**_training(api, image="x"), "status": {"phase": "Early"}})
    assert "status" not in (await api.get(f"{path}/t")).body
    changed = await api.change(
        f"{path}/t/status", {"spec": {"image": "z"}, "status": {"phase": "Running"}}, "merge"
    )
    assert (changed["spec"]["image"], changed["status"]["phase"]) == ("x", "Running")
    assert changed["metadata"]["generation"] == 1


async def test_a_custom_kind_is_scaled_where_its_definition_says(api: Api) -> None:
    path = await _define(api)
    await api.make(path, _training(api, workers=2))
    scale = await api.change(f"{path}/t/scale", {"spec": {"replicas": 5}}, "merge")
    assert scale["spec"]["replicas"] == 5
    assert (await api.get(f"{path}/t")).body["spec"]["workers"] == 5


async def test_a_deleted_definition_removes_its_objects_and_its_path(api: Api) -> None:
    path = await _define(api)
    await api.make(path, _training(api))
    name = f"trainings.{api.space}.yard.test"
    await api.call("DELETE", f"{DEFINITIONS}/{name}")
    await api.gone(f"{DEFINITIONS}/{name}")

    async def unserved() -> bool:
        return (await api.get(path)).code == 404

    await api.until("the path to be removed", unserved)
