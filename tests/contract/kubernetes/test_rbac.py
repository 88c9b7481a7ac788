"""Permissions: tokens, RBAC, access reviews and impersonation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.contract.kubernetes.api import BOT, MAPS, PODS, Api, Json, pod

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"


async def _allow(api: Api, name: str, rules: list[dict[str, Any]], *subjects: dict[str, str]) -> None:
    """Bind rules at cluster scope until the test ends."""
    name = f"{name}-{api.space}"
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    api.undo += [f"{RBAC}/clusterrolebindings/{name}", f"{RBAC}/clusterroles/{name}"]
    await api.make(f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rules})
    body = {"metadata": {"name": name}, "roleRef": reference, "subjects": list(subjects)}
    await api.make(f"{RBAC}/clusterrolebindings", body)


def _rule(verbs: str, resources: str, *, group: str = "", names: list[str] | None = None) -> dict[str, Any]:
    rule: dict[str, Any] = {"apiGroups": [group], "resources": resources.split(), "verbs": verbs.split()}
    return {**rule, "resourceNames": names} if names else rule


_THE_BOT = {"kind": "ServiceAccount", "namespace": "yardmaster", "name": "yardmaster"}


def _group(name: str) -> dict[str, str]:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": name}


async def _allowed(api: Api, path: str, wanted: int, method: str = "GET", **more: Any) -> Any:
    """Wait until a call returns this status: the real server applies new bindings with a delay."""

    async def check() -> Any:
        answer = await api.call(method, path, **more)
        return answer if answer.code == wanted else None

    return await api.until(f"{wanted} from {path}", check)


async def test_an_invalid_token_is_401(api: Api) -> None:
    answer = await api.call("GET", MAPS, who="no-such-token")
    assert (answer.code, answer.body["reason"], answer.body["message"]) == (
        401,
        "Unauthorized",
        "Unauthorized",
    )


async def test_a_request_without_a_token_is_anonymous_and_forbidden(api: Api) -> None:
    answer = await api.call("GET", MAPS, who="")
    assert (answer.code, answer.body["reason"]) == (403, "Forbidden")
    assert 'User "system:anonymous" cannot list resource "configmaps"' in answer.body["message"]


async def test_a_403_names_the_user_the_resource_and_the_scope(api: Api) -> None:
    node = await api.call("GET", "/api/v1/nodes/n", who="bot")
    assert node.code == 403
    assert node.body["message"] == (
        f'nodes "n" is forbidden: User "{BOT}" cannot get resource "nodes" in API group "" at the cluster scope'
    )
    assert node.body["details"] == {"name": "n", "kind": "nodes"}
    jobs = await api.call("GET", "/apis/batch/v1/namespaces/{ns}/jobs", who="bot")
    assert jobs.body["message"] == (
        f'jobs.batch is forbidden: User "{BOT}" cannot list resource "jobs" in API group "batch" in the namespace '
        f'"{api.space}"'
    )


async def test_a_kind_that_is_not_served_is_403_without_permission_and_404_with_it(api: Api) -> None:
    path = "/apis/no-such.example/v1/namespaces/{ns}/things"
    refused = await api.call("GET", path, who="bot")
    assert (refused.code, refused.body["reason"]) == (403, "Forbidden")
    assert 'cannot list resource "things" in API group "no-such.example"' in refused.body["message"]
    assert (await api.call("GET", path)).code == 404


async def test_a_role_allows_its_verbs_in_its_namespace_only(api: Api) -> None:
    await api.make(
        f"{RBAC}/namespaces/{{ns}}/roles", {"metadata": {"name": "r"}, "rules": [_rule("list", "configmaps")]}
    )
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    body = {"metadata": {"name": "r"}, "roleRef": reference, "subjects": [_THE_BOT]}
    await api.make(f"{RBAC}/namespaces/{{ns}}/rolebindings", body)
    await _allowed(api, MAPS, 200, who="bot")
    assert (await api.call("GET", f"{MAPS}/a", who="bot")).code == 403
    assert (await api.call("GET", "/api/v1/namespaces/default/configmaps", who="bot")).code == 403
    assert (await api.call("GET", "/api/v1/configmaps", who="bot")).code == 403


async def test_permission_for_pods_does_not_include_logs_or_evictions(api: Api) -> None:
    await _allow(api, "pods", [_rule("get create", "pods")], _THE_BOT)
    await api.make(PODS, pod("a", schedulerName="nobody"))
    await _allowed(api, f"{PODS}/a", 200, who="bot")
    log = await api.call("GET", f"{PODS}/a/log", who="bot")
    assert log.code == 403
    assert 'cannot get resource "pods/log"' in log.body["message"]
    assert (await api.call("POST", f"{PODS}/a/eviction", {"metadata": {"name": "a"}}, who="bot")).code == 403


async def test_resource_names_limit_a_permission_to_these_names(api: Api) -> None:
    await _allow(api, "named", [_rule("get list", "configmaps", names=["mine"])], _THE_BOT)
    for name in ("mine", "yours"):
        await api.make(MAPS, {"metadata": {"name": name}})
    await _allowed(api, f"{MAPS}/mine", 200, who="bot")
    assert (await api.call("GET", f"{MAPS}/yours", who="bot")).code == 403
    assert (await api.call("GET", MAPS, who="bot")).code == 403
    one = await api.call("GET", MAPS, who="bot", fieldSelector="metadata.name=mine")
    assert (one.code, one.names) == (200, ["mine"])


async def _may(
    api: Api, who: str, headers: Mapping[str, str] | None = None, *, attributes: Json
) -> dict[str, Any]:
    body = {"spec": {"resourceAttributes": attributes}}
    answer = await api.call("POST", f"{REVIEWS}/selfsubjectaccessreviews", body, who=who, headers=headers)
    assert answer.code == 201, answer.body
    status: dict[str, Any] = answer.body["status"]
    return status


async def test_a_self_review_has_the_decision_and_the_binding(api: Api) -> None:
    await _allow(api, "evict", [_rule("create", "pods/eviction")], _THE_BOT)
    attributes = {"verb": "create", "resource": "pods", "subresource": "eviction", "namespace": api.space}

    async def allowed() -> dict[str, Any] | None:
        status = await _may(api, "bot", attributes=attributes)
        return status if status["allowed"] else None

    status = await api.until("permission to evict", allowed)
    name = f"evict-{api.space}"
    assert status["reason"] == (
        f'RBAC: allowed by ClusterRoleBinding "{name}" of ClusterRole "{name}" '
        'to ServiceAccount "yardmaster/yardmaster"'
    )
    plain = {"verb": "create", "resource": "pods", "namespace": api.space}
    assert await _may(api, "bot", attributes=plain) == {"allowed": False}
    assert (await _may(api, "admin", attributes={"verb": "delete", "resource": "nodes"}))["allowed"] is True


async def test_a_review_of_another_user_needs_permission(api: Api) -> None:
    body = {"spec": {"user": "alice", "resourceAttributes": {"verb": "get", "resource": "nodes"}}}
    assert (await api.call("POST", f"{REVIEWS}/subjectaccessreviews", body, who="bot")).code == 403
    answer = await api.call("POST", f"{REVIEWS}/subjectaccessreviews", body)
    assert (answer.code, answer.body["status"]) == (201, {"allowed": False})


async def test_impersonation_needs_permission(api: Api) -> None:
    answer = await api.call("GET", MAPS, who="bot", headers={"Impersonate-User": "alice"})
    assert answer.code == 403
    assert f'User "{BOT}" cannot impersonate' in answer.body["message"]


async def test_an_impersonated_user_has_only_their_own_permissions(api: Api) -> None:
    group = f"sre-{api.space}"
    rules = [_rule("impersonate", "users"), _rule("impersonate", "groups", names=[group])]
    await _allow(api, "impersonate", rules, _THE_BOT)
    await _allow(api, "sre", [_rule("get list", "configmaps")], _group(group))
    alone = {"Impersonate-User": "alice"}
    together = {**alone, "Impersonate-Group": group}
    await _allowed(api, MAPS, 200, who="bot", headers=together)
    refused = await api.call("GET", MAPS, who="bot", headers=alone)
    assert refused.code == 403
    assert 'User "alice" cannot list resource "configmaps"' in refused.body["message"]
    masters = {**alone, "Impersonate-Group": "system:masters"}
    assert (await api.call("GET", MAPS, who="bot", headers=masters)).code == 403
    deleted = await api.call("DELETE", f"{MAPS}/kube-root-ca.crt", who="bot", headers=together)
    assert deleted.code == 403
    review = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    reply = await api.call("POST", review, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"},
                           who="bot", headers=together)  # fmt: skip
    info = reply.body["status"]["userInfo"]
    assert (info["username"], set(info["groups"])) == ("alice", {group, "system:authenticated"})
    attributes = {"verb": "list", "resource": "configmaps", "namespace": api.space}
    may = await _may(api, "bot", together, attributes=attributes)
    assert may["allowed"] is True


async def test_a_group_without_a_user_is_400(api: Api) -> None:
    answer = await api.call("GET", MAPS, who="bot", headers={"Impersonate-Group": "sre"})
    assert answer.code == 400
    assert "without impersonating a user name" in answer.body["message"]


async def test_service_accounts_and_extras_need_permissions_of_their_own(api: Api) -> None:
    await _allow(api, "impersonate", [_rule("impersonate", "users")], _THE_BOT)
    await _allowed(api, MAPS, 403, who="bot", headers={"Impersonate-User": "alice"})
    account = await api.call(
        "GET", MAPS, who="bot", headers={"Impersonate-User": "system:serviceaccount:ns:n"}
    )
    assert 'cannot impersonate resource "serviceaccounts"' in account.body["message"]

    async def extra() -> bool:
        headers = {"Impersonate-User": "alice", "Impersonate-Extra-chat": "C1"}
        answer = await api.call("GET", MAPS, who="bot", headers=headers)
        return 'resource "userextras/chat" in API group "authentication.k8s.io"' in answer.body["message"]

    await api.until("a 403 for the extra", extra)
