"""The state of a node's cordon, from how the node was last seen and from our lease. Pure."""

from collectors.cluster.objects import Node
from collectors.facts.sentences import sentence
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
        return sentence("cordoned by {who} when last seen, without a lease", who=who)
    if node.spec.unschedulable:
        return sentence("cordoned by {who}", who=who)
    if lease is None:
        return ""
    if lease.lifted_at is not None:
        return sentence("not cordoned, though {owner} has a lease", owner=lease.owner_name)
    return sentence("cordoned by {owner}; the cluster does not show it yet", owner=lease.owner_name)
