"""The state of a node's cordon, from how the node was last seen and from our lease. Pure."""

from collectors.cluster.objects import Node
from commands.core.cordoned_nodes import cordoned_by, stands
from commands.models import CordonLease


def is_node_of(lease: CordonLease, node: Node) -> bool:
    """Whether it is the lease's node, and not another one that has its name by now."""
    if lease.uid:
        return node.metadata.uid == lease.uid
    made_at = node.metadata.creation_timestamp
    return made_at is None or made_at <= lease.since


def state_of_cordon(node: Node, lease: CordonLease | None) -> str:
    """Return what is known of a node's cordon, from how it was last seen and from our lease; empty without either."""
    if lease is not None and not is_node_of(lease, node):
        lease = None
    who = cordoned_by(node)
    if stands(node) and lease is None:
        return f"cordoned by {who} when last seen, without a lease"
    if node.spec.unschedulable:
        return f"cordoned by {who}"
    if lease is None:
        return ""
    if lease.lifted_at is not None:
        return f"not cordoned, though {lease.owner_name} has a lease"
    return f"cordoned by {lease.owner_name}, which is not seen yet"
