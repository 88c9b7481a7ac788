"""Planning of `dns scale`: the owner of the replica count is changed, then the replicas are waited for."""

from dataclasses import dataclass, replace

from collectors.facts.proportional import with_bounds
from collectors.facts.sentences import counted, sentence
from commands.core.command import PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import reader_of
from commands.dns.owner import (
    BrokenOwner,
    Dns,
    HpaOwner,
    NoOwner,
    ProportionalOwner,
    find_dns,
    find_owner,
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
        raise UnusableError(
            sentence(
                "{replicas} replicas are more than the limit of {limit}.", replicas=wanted, limit=MAX_REPLICAS
            )
        )
    change, notes = _change(dns, owner, wanted, context)
    if change is None:
        return PlanDraft.nothing(
            counted(
                "DNS already has {count} replica, and its owner maintains it.",
                "DNS already has {count} replicas, and its owner maintains them.",
                count=dns.wanted,
            )
        )
    waits = (
        Wait(
            ref=dns.ref,
            description=counted(
                "wait until {deployment} requests {count} replica",
                "wait until {deployment} requests {count} replicas",
                deployment=dns.ref.name,
                count=wanted,
            ),
            path=("spec", "replicas"),
            at_least=wanted,
            seconds=SETTLES_WITHIN,
        ),
        Wait(
            ref=dns.ref,
            description=counted(
                "wait until {count} replica is ready", "wait until {count} replicas are ready", count=wanted
            ),
            path=("status", "readyReplicas"),
            at_least=wanted,
            seconds=SETTLES_WITHIN,
        ),
    )
    steps: tuple[Step, ...] = (change, *(waits if wanted > dns.wanted else ()))
    return PlanDraft(
        title=counted(
            "Scale DNS from {current} to {count} replica",
            "Scale DNS from {current} to {count} replicas",
            current=dns.wanted,
            count=wanted,
        ),
        stages=in_order(*steps),
        notes=tuple(notes),
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
            autoscaler = str(owner.ref)
            description = sentence(
                "set minReplicas of {autoscaler} to {wanted} (was {min})",
                autoscaler=autoscaler,
                wanted=wanted,
                min=owner.min,
            )
            if wanted > owner.max:
                description = sentence(
                    "{change} and raise maxReplicas to {wanted} (was {max})",
                    change=description,
                    wanted=wanted,
                    max=owner.max,
                )
            step = Patch(
                ref=owner.ref,
                description=description,
                body=body,
                requires=(Precondition(path=("spec", "minReplicas"), equals=owner.min),),
                undo={"spec": {"minReplicas": owner.min, "maxReplicas": owner.max}},
            )
            notes: list[str] = [
                sentence(
                    "{autoscaler} owns the replicas, so its minReplicas is changed, not the Deployment.",
                    autoscaler=autoscaler,
                )
            ]
            if wanted > owner.max:
                notes.append(
                    sentence(
                        "maxReplicas is raised from {max} to {wanted}: later the autoscaler may go that far "
                        "itself.",
                        max=owner.max,
                        wanted=wanted,
                    )
                )
            return step, notes
        case NoOwner():
            if wanted == dns.wanted:
                return None, []
            step_ = Scale(
                ref=dns.ref,
                description=sentence(
                    "scale {deployment} to {wanted}", deployment=str(dns.ref), wanted=wanted
                ),
                replicas=wanted,
                expected=dns.wanted,
            )
            manager = owner.managed_by
            return step_, [
                sentence("{manager} manages this Deployment and may restore the old number.", manager=manager)
            ] if manager else []


def _change_document(
    dns: Dns, owner: ProportionalOwner, wanted: int, context: CommandContext
) -> tuple[Step | None, list[str]]:
    linear = owner.linear
    if wanted == linear.min and dns.wanted >= wanted:
        return None, []
    ceiling = max(linear.max, wanted) if linear.max else 0
    document = with_bounds(owner.document, min=wanted, max=ceiling)
    notes: list[str] = [
        sentence(
            "{config} owns the replicas and would revert a change of the Deployment, so its "
            "`min` is changed.",
            config=str(owner.config),
        )
    ]
    if ceiling != linear.max:
        notes.append(
            sentence(
                "`max` is raised from {max} to {wanted}, as it would limit the replicas.",
                max=linear.max,
                wanted=ceiling,
            )
        )
    then = replace(linear, min=wanted, max=ceiling)
    all_nodes = context.cluster.inventory().nodes.values()
    nodes, cores = owner.autoscaler.count(all_nodes, then)
    computed = then.replicas(nodes=nodes, cores=cores)
    if computed > wanted:
        notes.append(
            counted(
                "With {count} node the autoscaler computes {replicas} and does not go below that.",
                "With {count} nodes the autoscaler computes {replicas} and does not go below that.",
                count=nodes,
                replicas=counted("{count} replica", "{count} replicas", count=computed),
            )
        )
    patch = Patch(
        ref=owner.config,
        description=sentence(
            "set min to {wanted} in {config} (was {min})",
            wanted=wanted,
            config=str(owner.config),
            min=linear.min,
        ),
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
