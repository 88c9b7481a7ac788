"""Conditions of objects: which of them hold, and whether a node or a pod is ready."""

from collectors.cluster.base import Condition
from collectors.cluster.objects import Node, Pod


def is_node_ready(node: Node) -> bool | None:
    """Return the node's Ready condition; None when it is missing, or Unknown because the kubelet does not report."""
    for condition in node.status.conditions or ():
        if condition.type == "Ready":
            return {"True": True, "False": False}.get(condition.status)
    return None


def is_pod_ready(pod: Pod) -> bool:
    return any(one.type == "Ready" and one.status == "True" for one in pod.status.conditions or ())


def true_condition(conditions: tuple[Condition, ...] | None, *types: str) -> Condition | None:
    """Return the first condition of one of these types that holds."""
    return next((one for one in conditions or () if one.type in types and one.status == "True"), None)


def condition_text(condition: Condition) -> str:
    return ": ".join(part for part in (condition.reason, condition.message) if part)
