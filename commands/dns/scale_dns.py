"""Planning of `dns scale`: the owner of the replica count is changed, then the replicas are waited for."""

from dataclasses import dataclass, replace

from collectors.facts.proportional import with_bounds
from commands.core.command import PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.dns.owner import (
    BrokenOwner,
    Dns,
    HpaOwner,
    NoOwner,
    ProportionalOwner,
    find_dns,
    find_owner,
    reader_of,
    recommended,
)
from commands.execution.plan import in_order
from commands.execution.preconditions import Precondition
from commands.execution.steps import Patch, Scale, Step, Wait

OLD_VALUE, BY = "yardmaster.io/old-value", "yardmaster.io/changed-by"
MAX_REPLICAS = 200
SETTLES_WITHIN = 180.0  # seconds: the autoscaler's poll interval plus the start of the new replicas


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleDns:
    replicas: int | None


async def scale(action: ScaleDns, context: CommandContext) -> PlanDraft:
    """Plan to change the owner's setting, then wait until the Deployment follows and the replicas are ready."""
    dns = find_dns(context)
    inventory = context.cluster.inventory()
    owner = await find_owner(dns, inventory, reader_of(context))
    if isinstance(owner, BrokenOwner):
        raise UnusableError(owner.problem)
    wanted = action.replicas if action.replicas is not None else recommended(dns, owner, inventory)
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


def _change(
    dns: Dns, owner: ProportionalOwner | HpaOwner | NoOwner, wanted: int, context: CommandContext
) -> tuple[Step | None, list[str]]:
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
    if wanted == linear.min and dns.wanted >= wanted:
        return None, []
    ceiling = max(linear.max, wanted) if linear.max else 0
    document = with_bounds(owner.document, min=wanted, max=ceiling)
    notes = [
        f"{owner.config} owns the replicas and would revert a change of the Deployment, so its `min` is changed."
    ]
    if ceiling != linear.max:
        notes.append(f"`max` is raised from {linear.max} to {ceiling}, as it would limit the replicas.")
    then = replace(linear, min=wanted, max=ceiling)
    all_nodes = context.cluster.inventory().nodes.values()
    nodes, cores = owner.autoscaler.count(all_nodes, then)
    computed = then.replicas(nodes=nodes, cores=cores)
    if computed > wanted:
        notes.append(
            f"With {nodes} nodes the autoscaler computes {computed} replicas and does not go below that."
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
