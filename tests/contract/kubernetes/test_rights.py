"""Rights: tokens, RBAC, reviews and impersonation decide as on the real server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.contract.kubernetes.door import BOT, Door, Json, pod

RBAC = "/apis/rbac.authorization.k8s.io/v1"
PODS = "/api/v1/namespaces/{ns}/pods"
MAPS = "/api/v1/namespaces/{ns}/configmaps"
REVIEWS = "/apis/authorization.k8s.io/v1"


async def _allow(door: Door, name: str, rules: list[dict[str, Any]], *subjects: dict[str, str]) -> None:
    """Bind rules at the cluster scope for the length of the test."""
    name = f"{name}-{door.space}"
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    door.undo += [f"{RBAC}/clusterrolebindings/{name}", f"{RBAC}/clusterroles/{name}"]
    await door.make(f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rules})
    body = {"metadata": {"name": name}, "roleRef": reference, "subjects": list(subjects)}
    await door.make(f"{RBAC}/clusterrolebindings", body)


def _rule(verbs: str, resources: str, *, group: str = "", names: list[str] | None = None) -> dict[str, Any]:
    rule: dict[str, Any] = {"apiGroups": [group], "resources": resources.split(), "verbs": verbs.split()}
    return {**rule, "resourceNames": names} if names else rule


_THE_BOT = {"kind": "ServiceAccount", "namespace": "yardmaster", "name": "yardmaster"}


def _group(name: str) -> dict[str, str]:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": name}


async def _allowed(door: Door, path: str, wanted: int, method: str = "GET", **more: Any) -> Any:
    """Wait until a call answers so: the real server learns of new bindings a moment later."""

    async def look() -> Any:
        answer = await door.call(method, path, **more)
        return answer if answer.code == wanted else None

    return await door.until(f"{wanted} from {path}", look)


async def test_a_wrong_token_is_401(door: Door) -> None:
    answer = await door.call("GET", MAPS, who="no-such-token")
    assert (answer.code, answer.body["reason"], answer.body["message"]) == (
        401,
        "Unauthorized",
        "Unauthorized",
    )


async def test_no_token_is_anonymous_and_may_nothing(door: Door) -> None:
    answer = await door.call("GET", MAPS, who="")
    assert (answer.code, answer.body["reason"]) == (403, "Forbidden")
    assert 'User "system:anonymous" cannot list resource "configmaps"' in answer.body["message"]


async def test_a_refusal_names_who_what_and_where(door: Door) -> None:
    node = await door.call("GET", "/api/v1/nodes/n", who="bot")
    assert node.code == 403
    assert node.body["message"] == (
        f'nodes "n" is forbidden: User "{BOT}" cannot get resource "nodes" in API group "" at the cluster scope'
    )
    assert node.body["details"] == {"name": "n", "kind": "nodes"}
    jobs = await door.call("GET", "/apis/batch/v1/namespaces/{ns}/jobs", who="bot")
    assert jobs.body["message"] == (
        f'jobs.batch is forbidden: User "{BOT}" cannot list resource "jobs" in API group "batch" in the namespace '
        f'"{door.space}"'
    )


async def test_a_role_allows_its_verbs_in_its_namespace_only(door: Door) -> None:
    await door.make(
        f"{RBAC}/namespaces/{{ns}}/roles", {"metadata": {"name": "r"}, "rules": [_rule("list", "configmaps")]}
    )
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    body = {"metadata": {"name": "r"}, "roleRef": reference, "subjects": [_THE_BOT]}
    await door.make(f"{RBAC}/namespaces/{{ns}}/rolebindings", body)
    await _allowed(door, MAPS, 200, who="bot")
    assert (await door.call("GET", f"{MAPS}/a", who="bot")).code == 403
    assert (await door.call("GET", "/api/v1/namespaces/default/configmaps", who="bot")).code == 403
    assert (await door.call("GET", "/api/v1/configmaps", who="bot")).code == 403


async def test_a_right_to_pods_is_none_to_their_logs_or_evictions(door: Door) -> None:
    await _allow(door, "pods", [_rule("get create", "pods")], _THE_BOT)
    await door.make(PODS, pod("a", schedulerName="nobody"))
    await _allowed(door, f"{PODS}/a", 200, who="bot")
    log = await door.call("GET", f"{PODS}/a/log", who="bot")
    assert log.code == 403
    assert 'cannot get resource "pods/log"' in log.body["message"]
    assert (await door.call("POST", f"{PODS}/a/eviction", {"metadata": {"name": "a"}}, who="bot")).code == 403


async def test_resource_names_limit_a_right_to_these_names(door: Door) -> None:
    await _allow(door, "named", [_rule("get list", "configmaps", names=["mine"])], _THE_BOT)
    for name in ("mine", "yours"):
        await door.make(MAPS, {"metadata": {"name": name}})
    await _allowed(door, f"{MAPS}/mine", 200, who="bot")
    assert (await door.call("GET", f"{MAPS}/yours", who="bot")).code == 403
    assert (await door.call("GET", MAPS, who="bot")).code == 403
    one = await door.call("GET", MAPS, who="bot", fieldSelector="metadata.name=mine")
    assert (one.code, one.names) == (200, ["mine"])


async def _may(
    door: Door, who: str, headers: Mapping[str, str] | None = None, *, attributes: Json
) -> dict[str, Any]:
    body = {"spec": {"resourceAttributes": attributes}}
    answer = await door.call("POST", f"{REVIEWS}/selfsubjectaccessreviews", body, who=who, headers=headers)
    assert answer.code == 201, answer.body
    status: dict[str, Any] = answer.body["status"]
    return status


async def test_a_self_review_says_what_one_may_and_by_which_binding(door: Door) -> None:
    await _allow(door, "evict", [_rule("create", "pods/eviction")], _THE_BOT)
    asked = {"verb": "create", "resource": "pods", "subresource": "eviction", "namespace": door.space}

    async def yes() -> dict[str, Any] | None:
        status = await _may(door, "bot", attributes=asked)
        return status if status["allowed"] else None

    status = await door.until("the right to evict", yes)
    name = f"evict-{door.space}"
    assert status["reason"] == (
        f'RBAC: allowed by ClusterRoleBinding "{name}" of ClusterRole "{name}" '
        'to ServiceAccount "yardmaster/yardmaster"'
    )
    plain = {"verb": "create", "resource": "pods", "namespace": door.space}
    assert await _may(door, "bot", attributes=plain) == {"allowed": False}
    assert (await _may(door, "admin", attributes={"verb": "delete", "resource": "nodes"}))["allowed"] is True


async def test_a_review_of_somebody_else_is_for_those_who_may(door: Door) -> None:
    body = {"spec": {"user": "alice", "resourceAttributes": {"verb": "get", "resource": "nodes"}}}
    assert (await door.call("POST", f"{REVIEWS}/subjectaccessreviews", body, who="bot")).code == 403
    answer = await door.call("POST", f"{REVIEWS}/subjectaccessreviews", body)
    assert (answer.code, answer.body["status"]) == (201, {"allowed": False})


async def test_impersonation_needs_its_right(door: Door) -> None:
    answer = await door.call("GET", MAPS, who="bot", headers={"Impersonate-User": "alice"})
    assert answer.code == 403
    assert f'User "{BOT}" cannot impersonate' in answer.body["message"]


async def test_who_is_impersonated_is_judged_as_themselves(door: Door) -> None:
    group = f"sre-{door.space}"
    rules = [_rule("impersonate", "users"), _rule("impersonate", "groups", names=[group])]
    await _allow(door, "impersonate", rules, _THE_BOT)
    await _allow(door, "sre", [_rule("get list", "configmaps")], _group(group))
    alone = {"Impersonate-User": "alice"}
    together = {**alone, "Impersonate-Group": group}
    await _allowed(door, MAPS, 200, who="bot", headers=together)
    refused = await door.call("GET", MAPS, who="bot", headers=alone)
    assert refused.code == 403
    assert 'User "alice" cannot list resource "configmaps"' in refused.body["message"]
    masters = {**alone, "Impersonate-Group": "system:masters"}
    assert (await door.call("GET", MAPS, who="bot", headers=masters)).code == 403
    deleted = await door.call("DELETE", f"{MAPS}/kube-root-ca.crt", who="bot", headers=together)
    assert deleted.code == 403
    review = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    told = await door.call("POST", review, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"},
                           who="bot", headers=together)  # fmt: skip
    info = told.body["status"]["userInfo"]
    assert (info["username"], set(info["groups"])) == ("alice", {group, "system:authenticated"})
    asked = {"verb": "list", "resource": "configmaps", "namespace": door.space}
    may = await _may(door, "bot", together, attributes=asked)
    assert may["allowed"] is True


async def test_a_group_without_a_user_is_400(door: Door) -> None:
    answer = await door.call("GET", MAPS, who="bot", headers={"Impersonate-Group": "sre"})
    assert answer.code == 400
    assert "without impersonating a user name" in answer.body["message"]


async def test_service_accounts_and_extras_are_rights_of_their_own(door: Door) -> None:
    await _allow(door, "impersonate", [_rule("impersonate", "users")], _THE_BOT)
    await _allowed(door, MAPS, 403, who="bot", headers={"Impersonate-User": "alice"})
    account = await door.call(
        "GET", MAPS, who="bot", headers={"Impersonate-User": "system:serviceaccount:ns:n"}
    )
    assert 'cannot impersonate resource "serviceaccounts"' in account.body["message"]

    async def extra() -> bool:
        headers = {"Impersonate-User": "alice", "Impersonate-Extra-chat": "C1"}
        answer = await door.call("GET", MAPS, who="bot", headers=headers)
        return 'resource "userextras/chat" in API group "authentication.k8s.io"' in answer.body["message"]

    await door.until("a refusal for the extra", extra)
