"""Reads: lists, selectors, pages and discovery."""

from __future__ import annotations

import base64
import json

from tests.contract.kubernetes.api import MAPS, PODS, Api, pod


async def _maps(api: Api, count: int) -> None:
    for number in range(count):
        labels = {"n": str(number), "parity": "odd" if number % 2 else "even", "set": "ours"}
        await api.make(MAPS, {"metadata": {"name": f"m{number}", "labels": labels}})


async def test_a_list_names_its_kind_once_and_not_on_each_item(api: Api) -> None:
    await api.make(PODS, pod("a"))
    answer = await api.get(PODS)
    assert (answer.body["kind"], answer.body["apiVersion"], answer.names) == ("PodList", "v1", ["a"])
    assert "kind" not in answer.body["items"][0]


async def test_a_single_object_names_its_kind(api: Api) -> None:
    await api.make(PODS, pod("a"))
    answer = await api.get(f"{PODS}/a")
    assert (answer.body["kind"], answer.body["apiVersion"]) == ("Pod", "v1")


async def test_spec_and_status_are_present_even_when_empty(api: Api) -> None:
    api.nodes.append(name := f"bare-{api.space}")
    made = await api.make("/api/v1/nodes", {"metadata": {"name": name}})
    assert "spec" in made
    assert "status" in made


async def test_a_missing_object_is_404_with_its_resource_and_name(api: Api) -> None:
    answer = await api.get("/apis/apps/v1/namespaces/{ns}/deployments/nope")
    assert (answer.code, answer.body["reason"]) == (404, "NotFound")
    assert answer.body["message"] == 'deployments.apps "nope" not found'
    assert answer.body["details"] == {"name": "nope", "group": "apps", "kind": "deployments"}


async def test_an_unknown_kind_is_404(api: Api) -> None:
    answer = await api.get("/apis/apps/v1/namespaces/{ns}/gadgets")
    assert answer.code == 404


async def test_label_selectors_select_by_equality_sets_and_presence(api: Api) -> None:
    await _maps(api, 4)
    expected = {
        "n=1": ["m1"],
        "parity=even": ["m0", "m2"],
        "parity==odd,n!=1": ["m3"],
        "n in (0,3),set": ["m0", "m3"],
        "n notin (0,3),set": ["m1", "m2"],
        "set=ours,!absent,n in (2)": ["m2"],
    }
    for selector, names in expected.items():
        assert (await api.get(MAPS, labelSelector=selector)).names == names, selector


async def test_an_invalid_label_selector_is_400(api: Api) -> None:
    answer = await api.get(MAPS, labelSelector="a in (b")
    assert (answer.code, answer.body["reason"]) == (400, "BadRequest")


async def test_field_selectors_select_pods_by_node_phase_and_name(api: Api) -> None:
    node = await api.ready_node("n")
    await api.make(PODS, pod("placed", nodeName=node))
    await api.make(PODS, pod("other", schedulerName="nobody"))
    await api.run("placed")
    expected = {
        f"spec.nodeName={node}": ["placed"],
        "spec.nodeName=": ["other"],
        "status.phase=Running": ["placed"],
        "status.phase!=Running": ["other"],
        "metadata.name=other": ["other"],
    }
    for selector, names in expected.items():
        assert (await api.get(PODS, fieldSelector=selector)).names == names, selector


async def test_an_unsupported_field_selector_is_400(api: Api) -> None:
    answer = await api.get(PODS, fieldSelector="spec.priority=3")
    assert (answer.code, answer.body["reason"]) == (400, "BadRequest")
    assert "field label not supported: spec.priority" in answer.body["message"]


async def test_pages_have_the_same_version_and_the_remaining_count(api: Api) -> None:
    await _maps(api, 6)
    first = await api.get(MAPS, limit="3")
    assert first.names == ["kube-root-ca.crt", "m0", "m1"]
    assert first.body["metadata"]["remainingItemCount"] == 4
    await api.make(MAPS, {"metadata": {"name": "m1-late"}})
    await api.call("DELETE", f"{MAPS}/m3")
    second = await api.get(MAPS, limit="3", **{"continue": first.body["metadata"]["continue"]})
    assert second.names == ["m2", "m3", "m4"]
    assert second.version == first.version
    third = await api.get(MAPS, limit="3", **{"continue": second.body["metadata"]["continue"]})
    assert third.names == ["m5"]
    assert "continue" not in third.body["metadata"]


async def test_a_page_of_a_selection_has_no_remaining_count(api: Api) -> None:
    await _maps(api, 3)
    answer = await api.get(MAPS, limit="1", labelSelector="set=ours")
    assert answer.names == ["m0"]
    assert "remainingItemCount" not in answer.body["metadata"]


async def test_a_continue_token_contains_its_version_and_start(api: Api) -> None:
    await _maps(api, 2)
    answer = await api.get(MAPS, limit="2")
    token = answer.body["metadata"]["continue"]
    read = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    assert read["v"] == "meta.k8s.io/v1"
    assert str(read["rv"]) == answer.version
    assert read["start"].endswith("m0\0")


async def test_an_invalid_continue_token_is_400(api: Api) -> None:
    answer = await api.get(MAPS, limit="2", **{"continue": "garbage"})
    assert (answer.code, answer.body["reason"]) == (400, "BadRequest")


async def test_metadata_only_lists_have_no_spec_and_status(api: Api) -> None:
    await api.make(PODS, pod("a"))
    accept = {"Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
    answer = await api.call("GET", PODS, headers=accept)
    assert answer.body["kind"] == "PartialObjectMetadataList"
    assert answer.names == ["a"]
    assert "spec" not in answer.body["items"][0]


async def test_discovery_names_the_resources_of_a_group_with_their_verbs(api: Api) -> None:
    answer = await api.get("/apis/apps/v1")
    rows = {row["name"]: row for row in answer.body["resources"]}
    assert rows["deployments"]["kind"] == "Deployment"
    assert rows["deployments"]["namespaced"] is True
    assert set(rows["deployments"]["verbs"]) >= {"get", "list", "watch", "patch"}
    assert rows["deployments/scale"]["kind"] == "Scale"
    groups = [group["name"] for group in (await api.get("/apis")).body["groups"]]
    assert {"apps", "batch", "policy", "coordination.k8s.io", "discovery.k8s.io"} <= set(groups)
