"""How many replicas `dns` recommends."""

from collectors.cluster.inventory import Inventory
from collectors.dns.autoscaler import Autoscaler
from collectors.dns.names import size_of
from collectors.facts.dns_load import by_names, required
from collectors.facts.proportional import Linear
from commands.dns.owner import Dns, Owner, ProportionalOwner

_WITHOUT_AUTOSCALER = Linear(nodes_per_replica=10)  # what is advised where none says otherwise


def recommended(dns: Dns, owner: Owner, inventory: Inventory) -> int:
    """Return 1.5 times the current number, at most `max`; more if the cluster's nodes or names require it."""
    more = max(dns.wanted + 1, round(dns.wanted * 1.5))
    if not isinstance(owner, ProportionalOwner):
        names = size_of(inventory, Autoscaler()).names
        return max(more, by_names(_WITHOUT_AUTOSCALER, names))
    linear = owner.linear
    least = required(linear, size_of(inventory, owner.autoscaler))
    return max(least, min(more, linear.max) if linear.max > dns.wanted else more)
