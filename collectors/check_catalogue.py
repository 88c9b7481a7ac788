"""The list of checks. To add a check, add a file and a line here."""

from collections.abc import Mapping
from datetime import timedelta

from collectors.check import ClusterCheck
from collectors.checks import (
    agents,
    claims,
    dns_autoscaler,
    dns_replicas,
    endings,
    evictions,
    formatted_volumes,
    gpu_metrics,
    idle_gpus,
    leftovers,
    log_flow,
    node_capacity,
    node_conditions,
    nodes,
    not_created,
    not_running,
    rule_metrics,
    sources,
    trainings,
    volume_danger,
)

CHECKS: dict[str, ClusterCheck] = {
    check.name: check
    for check in (
        *nodes.CHECKS,
        *gpu_metrics.CHECKS,
        *idle_gpus.CHECKS,
        *node_conditions.CHECKS,
        *node_capacity.CHECKS,
        *evictions.CHECKS,
        *endings.CHECKS,
        *formatted_volumes.CHECKS,
        *agents.CHECKS,
        *leftovers.CHECKS,
        *log_flow.CHECKS,
        *dns_autoscaler.CHECKS,
        *dns_replicas.CHECKS,
        *trainings.CHECKS,
        *not_running.CHECKS,
        *not_created.CHECKS,
        *claims.CHECKS,
        *volume_danger.CHECKS,
        *rule_metrics.CHECKS,
        *sources.CHECKS,
    )
}


def checks_of(*, idle_after: timedelta) -> Mapping[str, ClusterCheck]:
    """Return the checks by name. `idle_after`: how long GPUs do no work before they count as idle."""
    idle = idle_gpus.gpus_idle(idle_after)
    return {**CHECKS, idle.name: idle}
