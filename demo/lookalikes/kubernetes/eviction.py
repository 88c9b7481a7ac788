"""Evictions: the arithmetic of disruption budgets, then the deletion of the pod."""

import math
from typing import Any

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.deletion import delete_options_from
from demo.lookalikes.kubernetes.errors import RefusedError, bad_request, not_found
from demo.lookalikes.kubernetes.objects import (
    Json,
    condition,
    deleting,
    dig,
    encode,
    labels_of,
    name_of,
    with_condition,
)
from demo.lookalikes.kubernetes.requests import ResourceRequest, dry_run_of
from demo.lookalikes.kubernetes.selectors import selector_test


def ready(pod: Json) -> bool:
    """Whether a pod counts as healthy: its Ready condition is True."""
    return (condition(pod, "Ready") or {}).get("status") == "True"


def budget_status(budget: Json, pods: list[Json], expected_scale: int) -> Json:
    """Return the numbers of a budget's status for the pods it selects.

    `expected_scale` is the number of pods that their controllers want; percentages refer to it.
    """
    spec = budget.get("spec") or {}
    healthy = sum(1 for pod in pods if ready(pod) and not deleting(pod))
    expected = expected_scale
    if (max_unavailable := spec.get("maxUnavailable")) is not None:
        desired = max(expected - _share(max_unavailable, expected), 0)
    elif isinstance(min_available := spec.get("minAvailable", 1), str):
        desired = _share(min_available, expected)
    else:
        desired, expected = min_available, len(pods)
    return {
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
        "disruptionsAllowed": max(healthy - desired, 0) if expected > 0 else 0,
        "observedGeneration": dig(budget, "metadata", "generation") or 1,
    }


def _share(amount: int | str, of: int) -> int:
    return math.ceil(int(amount.rstrip("%")) * of / 100) if isinstance(amount, str) else amount


def evict(cluster: Cluster, request: ResourceRequest, body: Any) -> tuple[int, bytes]:
    """Delete a pod if its budget allows it, or refuse with 400, 404, 409, 429 or 500 as the real server does."""
    if not isinstance(body, dict):
        raise bad_request("the request body holds no Eviction")
    if dig(body, "metadata", "name") not in (None, "", request.name):
        raise bad_request("name in URL does not match name in Eviction object")
    options = body.get("deleteOptions") or {}
    dry_run = request.dry_run or dry_run_of(options.get("dryRun") or [])
    stored = cluster.store.get(request.kind, request.namespace, request.name)
    if stored is None:
        raise not_found("pods", request.name)
    pod = stored.tree
    is_exempt = dig(pod, "status", "phase") in ("Succeeded", "Failed", "Pending") or deleting(pod)
    budgets = [] if is_exempt else _budgets(cluster, pod, request.namespace)
    if len(budgets) > 1:
        message = (
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
        raise RefusedError(500, "InternalError", f"Internal error occurred: {message}")
    for budget in budgets:
        _spend(cluster, budget, pod, request.namespace, dry_run=dry_run)
    delete_options = delete_options_from(options, {})
    if not dry_run and not is_exempt:
        _add_disruption_target(cluster, request)
    cluster.delete(request.kind, request.namespace, request.name, delete_options, dry_run=dry_run)
    return 201, encode(
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
    )


def _budgets(cluster: Cluster, pod: Json, namespace: str) -> list[Json]:
    found = cluster.store.all(cluster.kinds.named("poddisruptionbudgets"), namespace)
    return [b.tree for b in found if selector_test(dig(b.tree, "spec", "selector"))(labels_of(pod))]


def _spend(cluster: Cluster, budget: Json, pod: Json, namespace: str, *, dry_run: bool) -> None:
    status = budget.get("status") or {}
    name = name_of(budget)
    if not ready(pod):  # an unhealthy pod may go while the others are healthy, or always under AlwaysAllow
        if dig(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow":
            return
        if status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0:
            return
    if status.get("observedGeneration", 0) < (dig(budget, "metadata", "generation") or 1):
        cause = {
            "reason": "DisruptionBudget",
            "message": f"The disruption budget {name} is still being processed by the server.",
        }
        raise _too_many(cause, retry_after=10)
    allowed = status.get("disruptionsAllowed", 0)
    if allowed <= 0:
        text = (
            f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy pods and has "
            f"{status.get('currentHealthy', 0)} currently"
        )
        raise _too_many({"reason": "DisruptionBudget", "message": text})
    if not dry_run:
        kind = cluster.kinds.named("poddisruptionbudgets")
        cluster.set_status(kind, namespace, name, {**status, "disruptionsAllowed": allowed - 1})


def _too_many(cause: Json, *, retry_after: int | None = None) -> RefusedError:
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return RefusedError(429, "TooManyRequests", message, details={"causes": [cause]}, retry_after=retry_after)


def _add_disruption_target(cluster: Cluster, request: ResourceRequest) -> None:
    """Set the pod's DisruptionTarget condition, as the API server does before it deletes the pod."""
    target = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }

    def marked(old: Json) -> Json:
        status = old.get("status") or {}
        conditions = with_condition(status.get("conditions") or [], target, cluster.clock())
        return {**old, "status": {**status, "conditions": conditions}}

    cluster.patch(request.kind, request.namespace, request.name, marked, part="status")
