"""The commands `dns show|scale`. Scaling changes the owner of the replica count, then waits for the replicas."""

import click

from collectors.cluster.kinds import DNS_AUTOSCALERS
from commands.core.command import Command
from commands.core.context import Defaults
from commands.core.parameter_types import WholeNumberType
from commands.dns.scale_dns import ScaleDns, scale
from commands.dns.show_dns import ShowDns, show
from commands.execution.rights import Right
from commands.execution.steps import Patch, Scale


def _dns_right(group: str, resource: str, *verbs: str, names: tuple[str, ...] = ()) -> Right:
    namespace = Defaults().dns_namespace
    return Right(group=group, resources=(resource,), verbs=verbs, namespace=namespace, names=names)


# Other ConfigMaps there decide more than DNS: on EKS, aws-auth makes administrators.
_AUTOSCALER_CONFIGS = tuple(kind.name.rpartition("/")[2] for kind in DNS_AUTOSCALERS)


_OWNER_RIGHTS = (
    _dns_right("apps", "deployments", "get", "list"),
    _dns_right("autoscaling", "horizontalpodautoscalers", "list"),
)

COMMANDS = (
    Command(
        noun="dns",
        verb="show",
        summary="Show the cluster's DNS: replicas, what owns them, load, latency.",
        action=ShowDns,
        read=show,
        shows=("kubernetes", "prometheus"),
        rights=_OWNER_RIGHTS,
        example="dns show",
    ),
    Command(
        noun="dns",
        verb="scale",
        summary="Scale the cluster's DNS through the owner of its replica count.",
        action=ScaleDns,
        parameters=(click.Argument(["replicas"], type=WholeNumberType(least=1), required=False),),
        plan=scale,
        relieves=("CoreDNS*", "DNSAutoscalerCapped"),
        rights=(
            *_OWNER_RIGHTS,
            *Patch.rights("", "configmaps", namespace=Defaults().dns_namespace, names=_AUTOSCALER_CONFIGS),
            *Scale.rights("apps", "deployments", namespace=Defaults().dns_namespace),
            *Patch.rights("autoscaling", "horizontalpodautoscalers", namespace=Defaults().dns_namespace),
        ),
        example="dns scale 6",
    ),
)
