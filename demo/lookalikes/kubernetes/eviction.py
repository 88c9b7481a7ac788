"""This file answers evictions: the arithmetic of disruption budgets, then the pod's end."""

from __future__ import annotations

import math
from typing import Any

from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.deletion import deletion_from
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
from demo.lookalikes.kubernetes.requests import Asked, dry_run_of
from demo.lookalikes.kubernetes.selectors import selector_test


def ready(pod: Json) -> bool:
    """Whether a pod counts as healthy: its Ready condition is True."""
    return (condition(pod, "Ready") or {}).get("status") == "True"


def budget_status(budget: Json, pods: list[Json], wanted_scale: int) -> Json:
    """Return the numbers of a budget's status for the pods it selects.

    `wanted_scale` is how many pods their controllers want; percentages are of that.
    """
    spec = budget.get("spec") or {}
    healthy = sum(1 for pod in pods if ready(pod) and not deleting(pod))
    expected = wanted_scale
    if (most := spec.get("maxUnavailable")) is not None:
        desired = max(expected - _share(most, expected), 0)
    elif isinstance(least := spec.get("minAvailable", 1), str):
        desired = _share(least, expected)
    else:
        desired, expected = least, len(pods)
    return {
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
        "disruptionsAllowed": max(healthy - desired, 0) if expected > 0 else 0,
        "observedGeneration": dig(budget, "metadata", "generation") or 1,
    }


def _share(amount: int | str, of: int) -> int:
    return math.ceil(int(amount.rstrip("%")) * of / 100) if isinstance(amount, str) else amount


def evict(cluster: Cluster, asked: Asked, body: Any) -> tuple[int, bytes]:
    """Begin a pod's end if its budget allows it; refuses 400, 404, 409, 429 and 500 as the real server."""
    if not isinstance(body, dict):
        raise bad_request("the request body holds no Eviction")
    if dig(body, "metadata", "name") not in (None, "", asked.name):
        raise bad_request("name in URL does not match name in Eviction object")
    options = body.get("deleteOptions") or {}
    dry_run = asked.dry_run or dry_run_of(options.get("dryRun") or [])
    stored = cluster.store.get(asked.kind, asked.namespace, asked.name)
    if stored is None:
        raise not_found("pods", asked.name)
    pod = stored.tree
    exempt = dig(pod, "status", "phase") in ("Succeeded", "Failed", "Pending") or deleting(pod)
    budgets = [] if exempt else _budgets(cluster, pod, asked.namespace)
    if len(budgets) > 1:
        message = (
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
        raise RefusedError(500, "InternalError", f"Internal error occurred: {message}")
    for budget in budgets:
        _spend(cluster, budget, pod, asked.namespace, dry_run=dry_run)
    how = deletion_from(options, {})
    if not dry_run and not exempt:
        _mark(cluster, asked)
    cluster.delete(asked.kind, asked.namespace, asked.name, how, dry_run=dry_run)
    return 201, encode(
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
    )


def _budgets(cluster: Cluster, pod: Json, namespace: str) -> list[Json]:
    found = cluster.store.all(cluster.kinds.named("poddisruptionbudgets"), namespace)
    return [b.tree for b in found if selector_test(dig(b.tree, "spec", "selector"))(labels_of(pod))]


def _spend(cluster: Cluster, budget: Json, pod: Json, namespace: str, *, dry_run: bool) -> None:
    status = budget.get("status") or {}
    name = name_of(budget)
    if not ready(pod):  # what is broken already may go while the rest is whole, or always where that is said
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


def _mark(cluster: Cluster, asked: Asked) -> None:
    """Note on the pod that it was evicted, as the API server does before it deletes."""
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

    cluster.patch(asked.kind, asked.namespace, asked.name, marked, part="status")
