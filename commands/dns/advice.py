"""What the cluster requires of its DNS: replicas for its nodes and names, and what a cordon changes."""

from collections.abc import Collection

from collectors.cluster.inventory import Inventory
from collectors.dns.autoscaler import Autoscaler, autoscaler_of, cached_configs
from collectors.dns.deployment import dns_deployment
from collectors.dns.names import size_of
from collectors.facts.dns_load import advised, by_names, required
from collectors.facts.proportional import Linear, read_config
from commands.core.context import CommandContext
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


def notes_on_cordon(nodes: Collection[str], context: CommandContext) -> list[str]:
    """Return what a cordon of these nodes changes in DNS: its autoscaler does not count them, but their pods ask on."""
    inventory, policy = context.cluster.inventory(), context.defaults
    deployment = dns_deployment(inventory, namespace=policy.dns_namespace, selector=policy.dns_selector)
    autoscaler = autoscaler_of(inventory, deployment) if deployment is not None else None
    config = cached_configs(inventory).get(autoscaler.config) if autoscaler is not None else None
    if deployment is None or autoscaler is None or config is None:
        return []
    try:
        linear = read_config(config)
    except ValueError:
        return []  # the autoscaler keeps the replicas as they are
    if linear.counts_unschedulable:
        return []
    left = [node for name, node in inventory.nodes.items() if name not in nodes]
    now = autoscaler.replicas(inventory.nodes.values(), linear)
    then = autoscaler.replicas(left, linear)
    if then >= now:
        return []
    least = advised(linear, size_of(inventory, autoscaler))
    return [
        f"The autoscaler of {deployment.metadata.name} does not count cordoned nodes: it lowers DNS from {now} to "
        f"{then} replicas, but the pods there ask on. `dns scale {max(least, now)}` keeps them."
    ]
