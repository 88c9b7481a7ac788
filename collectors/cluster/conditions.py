"""Conditions of nodes and pods: whether they are ready."""

from collectors.cluster.objects import Node, Pod


def is_node_ready(node: Node) -> bool | None:
    """Return the node's Ready condition; None when it is missing, or Unknown because the kubelet does not report."""
    for condition in node.status.conditions or ():
        if condition.type == "Ready":
            return {"True": True, "False": False}.get(condition.status)
    return None


def is_pod_ready(pod: Pod) -> bool:
    return any(one.type == "Ready" and one.status == "True" for one in pod.status.conditions or ())
