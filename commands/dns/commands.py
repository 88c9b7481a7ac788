"""The commands `dns show|scale`. Scaling changes the owner of the replica count, then waits for the replicas."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isnan

import click

from alerts.cards.message import Block, Button, Buttons, Context, Fields, Message
from alerts.cards.text import Text, bold, code, text
from alerts.incidents.wording import rounded
from alerts.templates.humanizing import humanize_duration, humanize_percentage
from collectors.checks.dns import count_nodes
from collectors.cluster.kinds import DNS_AUTOSCALERS, SERVICES
from collectors.facts.proportional import services_rule, with_bounds
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Seen
from commands.core.command import Answer, Command, PlanDraft, UnusableError
from commands.core.context import CommandContext, Defaults
from commands.core.parameter_types import WholeNumberType
from commands.dns.owner import Dns, HpaOwner, NoOwner, Owner, ProportionalOwner, find_dns, find_owner
from commands.plans.object_refs import ObjectReader
from commands.plans.plan import Risk, in_order
from commands.plans.preconditions import Precondition
from commands.plans.rights import Right
from commands.plans.steps import Patch, Scale, Step, Wait

OLD_VALUE, BY = "yardmaster.io/old-value", "yardmaster.io/changed-by"
MAX_REPLICAS = 200
SETTLES_WITHIN = 180.0  # seconds: the autoscaler's poll interval plus the start of the new replicas

# In the units and with the digits of the alerts about them, so that a card and this answer agree.
_MEASURES: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("queries", "sum(rate(coredns_dns_requests_total[2m]))", "{:.0f}/s".format),
    (
        "SERVFAIL",
        '(sum(rate(coredns_dns_responses_total{rcode="SERVFAIL"}[2m])) or vector(0)) '
        "/ sum(rate(coredns_dns_responses_total[2m]))",
        humanize_percentage,
    ),
    (
        "99th percentile",
        "histogram_quantile(0.99, sum by (le) (rate(coredns_dns_request_duration_seconds_bucket[2m])))",
        humanize_duration,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowDns:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleDns:
    replicas: int | None


async def show(action: ShowDns, context: CommandContext) -> Answer:
    """Return the replicas, what owns their number, the load, and a recommended replica count."""
    dns = find_dns(context)
    owner = await find_owner(dns, _reader(context))
    rows: list[tuple[str, Text]] = [
        ("deployment", text(code(f"{dns.ref.namespace}/{dns.ref.name}"))),
        ("replicas", text(f"{dns.ready} ready of {dns.wanted}")),
        ("owned by", _owned_by(owner)),
    ]
    rows += [(name, await _measured(context, query, form)) for name, query, form in _MEASURES]
    wanted = recommended(dns, owner, context)
    blocks: list[Block] = [Fields(rows=tuple(rows))]
    if context.may.get("dns scale", False):
        blocks.append(Buttons(buttons=(Button(label=f"Scale to {wanted}", line=f"dns scale {wanted}"),)))
    blocks.append(
        Context(
            text=text(
                f"{wanted} is 1.5 times the current number, or what the cluster's size requires if that is higher."
            )
        )
    )
    return Answer(message=Message(title=text(bold("Cluster DNS")), blocks=tuple(blocks)))


async def scale(action: ScaleDns, context: CommandContext) -> PlanDraft:
    """Plan to change the owner's setting, then wait until the Deployment follows and the replicas are ready."""
    dns = find_dns(context)
    owner = await find_owner(dns, _reader(context))
    wanted = action.replicas if action.replicas is not None else recommended(dns, owner, context)
    if wanted > MAX_REPLICAS:
        raise UnusableError(f"{wanted} replicas are more than the limit of {MAX_REPLICAS}.")
    change, notes = _change(dns, owner, wanted, context)
    if change is None:
        return PlanDraft(
            title="", nothing_to_do=f"DNS already has {dns.wanted} replicas, and its owner maintains them."
        )
    waits = (
        Wait(
            ref=dns.ref,
            description=f"wait until {dns.ref.name} requests {wanted} replicas",
            path=("spec", "replicas"),
            at_least=wanted,
            seconds=SETTLES_WITHIN,
        ),
        Wait(
            ref=dns.ref,
            description=f"wait until {wanted} are ready",
            path=("status", "readyReplicas"),
            at_least=wanted,
            seconds=SETTLES_WITHIN,
        ),
    )
    steps: tuple[Step, ...] = (change, *(waits if wanted > dns.wanted else ()))
    return PlanDraft(
        title=f"Scale DNS from {dns.wanted} to {wanted} replicas", stages=in_order(*steps), notes=tuple(notes)
    )


def _change(dns: Dns, owner: Owner, wanted: int, context: CommandContext) -> tuple[Step | None, list[str]]:
    match owner:
        case ProportionalOwner():
            return _change_document(dns, owner, wanted, context)
        case HpaOwner():
            if wanted == owner.min:
                return None, []
            body = {"spec": {"minReplicas": wanted, "maxReplicas": max(owner.max, wanted)}}
            raised = f" and raise maxReplicas to {wanted} (was {owner.max})" if wanted > owner.max else ""
            step = Patch(
                ref=owner.ref,
                description=f"set minReplicas of {owner.ref} to {wanted} (was {owner.min}){raised}",
                body=body,
                requires=(Precondition(path=("spec", "minReplicas"), equals=owner.min),),
                undo={"spec": {"minReplicas": owner.min, "maxReplicas": owner.max}},
            )
            notes = [f"{owner.ref} owns the replicas, so its minReplicas is changed, not the Deployment."]
            if raised:
                notes.append(
                    f"maxReplicas is raised from {owner.max} to {wanted}: later the autoscaler may go that far itself."
                )
            return step, notes
        case NoOwner():
            if wanted == dns.wanted:
                return None, []
            step_ = Scale(
                ref=dns.ref, description=f"scale {dns.ref} to {wanted}", replicas=wanted, expected=dns.wanted
            )
            by = owner.managed_by
            return step_, [f"{by} manages this Deployment and may restore the old number."] if by else []


def _change_document(
    dns: Dns, owner: ProportionalOwner, wanted: int, context: CommandContext
) -> tuple[Step | None, list[str]]:
    linear = owner.linear
    nodes, cores = count_nodes(context.cluster.inventory(), linear)
    own_target = replace(linear, min=1).unbounded(nodes=nodes, cores=cores)
    if wanted == linear.min and dns.wanted >= wanted:
        return None, []
    ceiling = max(linear.max, wanted) if linear.max else 0
    document = with_bounds(owner.document, min=wanted, max=ceiling)
    notes = [
        f"{owner.config} owns the replicas and would revert a change of the Deployment, so its `min` is changed."
    ]
    if ceiling != linear.max:
        notes.append(f"`max` is raised from {linear.max} to {ceiling}, as it would limit the replicas.")
    if wanted < own_target:
        notes.append(
            f"With {nodes} nodes the autoscaler computes {own_target} replicas and does not go below that."
        )
    patch = Patch(
        ref=owner.config,
        description=f"set min to {wanted} in {owner.config} (was {linear.min})",
        body={
            "data": {"linear": document},
            "metadata": {"annotations": {OLD_VALUE: owner.document, BY: context.actor.name}},
        },
        requires=(Precondition(path=("data", "linear"), equals=owner.document),),
        undo={
            "data": {"linear": owner.document},
            "metadata": {"annotations": {OLD_VALUE: None, BY: None}},
        },
    )
    return patch, notes


def recommended(dns: Dns, owner: Owner, context: CommandContext) -> int:
    """Return 1.5 times the current number, at most `max`; more if the Services or the autoscaler require it."""
    more = max(dns.wanted + 1, round(dns.wanted * 1.5))
    if not isinstance(owner, ProportionalOwner):
        return more
    linear, inventory = owner.linear, context.cluster.inventory()
    nodes, cores = count_nodes(inventory, linear)
    services = len(inventory.all(SERVICES))
    required = max(
        services_rule(linear, services=services),
        linear.unbounded(nodes=nodes, cores=cores) if linear.max else 0,
    )
    return max(required, min(more, linear.max) if linear.max > dns.wanted else more)


def _owned_by(owner: Owner) -> Text:
    match owner:
        case ProportionalOwner():
            linear = owner.linear
            limits = text(f" min {linear.min}, max {linear.max}" if linear.max else f" min {linear.min}")
            per = f", one replica for {linear.nodes_per_replica:g} nodes" if linear.nodes_per_replica else ""
            return text(code(str(owner.config)), limits, per)
        case HpaOwner():
            return text(code(str(owner.ref)), f" min {owner.min}, max {owner.max}")
        case NoOwner():
            return text(
                f"no autoscaler; managed by {owner.managed_by}" if owner.managed_by else "no autoscaler"
            )


async def _measured(context: CommandContext, query: str, form: Callable[[float], str]) -> Text:
    seen = await context.cluster.query(PromQLQuery(expr=query), at=context.now)
    if not isinstance(seen, Seen):
        return text(f"not known: {seen.reason}")
    if not seen.samples or isnan(seen.samples[0].value):  # no queries in the window
        return text("no samples")
    return text(rounded(form(seen.samples[0].value)))


def _reader(context: CommandContext) -> ObjectReader:
    if context.cluster.reader is None:
        raise UnusableError(f"The settings give no access to Kubernetes for {context.cluster.name}.")
    return context.cluster.reader


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
        risk=Risk.TOUCH,
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
