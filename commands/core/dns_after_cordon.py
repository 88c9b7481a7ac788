"""The effect of a cordon on the cluster's DNS: its autoscaler skips cordoned nodes, but their pods keep asking."""

from collections.abc import Collection

from collectors.dns.autoscaler import autoscaler_of, cached_configs
from collectors.dns.deployment import dns_deployment
from collectors.dns.names import size_of
from collectors.facts.dns_load import advised
from collectors.facts.proportional import read_config
from collectors.facts.sentences import counted
from commands.core.context import CommandContext


def notes_on_cordon(nodes: Collection[str], context: CommandContext) -> list[str]:
    """Return a sentence if a cordon of these nodes lowers the replicas, with the command that keeps them."""
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
        counted(
            "The autoscaler of {deployment} does not count cordoned nodes: it lowers DNS from "
            "{now} to {count} replica, but the pods there still send queries. `dns scale {enough}` keeps them.",
            "The autoscaler of {deployment} does not count cordoned nodes: it lowers DNS from "
            "{now} to {count} replicas, but the pods there still send queries. `dns scale {enough}` keeps them.",
            deployment=deployment.metadata.name,
            now=now,
            count=then,
            enough=max(least, now),
        )
    ]
