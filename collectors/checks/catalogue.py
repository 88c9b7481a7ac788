"""The list of checks. To add a check, add a file and a line here."""

from collectors.checks import (
    agents,
    dns_autoscaler,
    dns_replicas,
    evictions,
    leftovers,
    node_capacity,
    node_conditions,
    nodes,
    sources,
    trainings,
)
from collectors.checks.check import ClusterCheck

CHECKS: dict[str, ClusterCheck] = {
    check.name: check
    for check in (
        *nodes.CHECKS,
        *node_conditions.CHECKS,
        *node_capacity.CHECKS,
        *evictions.CHECKS,
        *agents.CHECKS,
        *leftovers.CHECKS,
        *dns_autoscaler.CHECKS,
        *dns_replicas.CHECKS,
        *trainings.CHECKS,
        *sources.CHECKS,
    )
}
