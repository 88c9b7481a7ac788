"""`gpu uncordon`: pods may have a GPU again that a rule of ours keeps them off."""

from dataclasses import dataclass

from collectors.cluster.objects import Node
from collectors.facts.sentences import sentence
from commands.acceptance.acceptance import Acceptance, newest_of_gpus
from commands.acceptance.acceptance_proof import is_accepted
from commands.core.command import Command, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.cordoned_gpus import RULE_KIND, VERSIONS
from commands.core.lookups import read_node
from commands.core.parameters import GPU_ARGUMENT, NODE_ARGUMENT
from commands.execution.object_refs import ObjectRef
from commands.execution.object_state import ObjectState
from commands.execution.plan import in_order
from commands.execution.record_steps import forget
from commands.execution.rights import Right
from commands.execution.steps import Delete, Record
from commands.gpu.gpu_rules import lease_named, lease_of_gpu, ref_of_rule, rules_of, standing_rule
from commands.gpu.named_gpu import named_gpu, not_by_claims
from commands.models import GpuLease

_GROUP, _PLURAL = "resource.k8s.io", "devicetaintrules"


@dataclass(frozen=True, slots=True, kw_only=True)
class UncordonGpu:
    node: str
    gpu: str


async def uncordon_one(action: UncordonGpu, context: CommandContext) -> PlanDraft:
    """Plan to remove our rule. One that somebody else made is left, as is a cordon of the whole node."""
    node, inventory = await read_node(action.node, context), context.cluster.inventory()
    lease = await lease_named(action.node, action.gpu, context)
    devices = {one.name: one for one in inventory.whole_gpus_on(action.node)}
    if lease is not None:
        api, rules = await rules_of(node, context)
        ours = next((one for one in rules if one.metadata.name == lease.rule), None)
        untested = await _untested(lease, node, context)
        return _ended(action, lease, None if ours is None else ref_of_rule(ours, api), untested)
    if not devices:
        raise not_by_claims(node, context)
    device = await named_gpu(action.gpu, node, inventory, context)
    api, rules = await rules_of(node, context)
    standing = standing_rule(device, rules)
    if standing is None:
        said = sentence("GPU {gpu} of {node} is not cordoned.", gpu=action.gpu, node=action.node)
        return PlanDraft.nothing(said)
    if not standing.is_ours:
        raise UnusableError(
            sentence(
                "GPU {gpu} of {node} was not cordoned by Yardmaster, so that is left: "
                "`kubectl delete devicetaintrule {rule}` removes it.",
                gpu=action.gpu,
                node=action.node,
                rule=standing.rule.metadata.name,
            )
        )
    return _ended(action, await lease_of_gpu(device, action.node, context), ref_of_rule(standing.rule, api))


async def _untested(lease: GpuLease, node: Node, context: CommandContext) -> tuple[str, ...]:
    """Say of a GPU that it was not accepted since it was cordoned. Where none was ever tested, nothing is said."""
    async with context.store.read() as snapshot:
        rows = await snapshot.rows(Acceptance).find(cluster=lease.cluster)
    if not any(one.device for one in rows):
        return ()
    found = newest_of_gpus(rows, lease.node).get(lease.device)
    if is_accepted(node, found) and found is not None and found.at >= lease.since:
        return ()
    return (
        sentence(
            "GPU {gpu} of {node} was not accepted since it was cordoned: `gpu accept {node} {gpu}` tests it.",
            gpu=lease.gpu,
            node=lease.node,
        ),
    )


def _ended(
    action: UncordonGpu, lease: GpuLease | None, rule: ObjectRef | None, said: tuple[str, ...] = ()
) -> PlanDraft:
    steps: list[Delete | Record] = []
    notes: list[str] = list(said)
    if rule is not None:
        again = sentence("let pods have GPU {gpu} of {node} again", gpu=action.gpu, node=action.node)
        steps.append(Delete(ref=rule, description=again))
    else:
        notes.append(sentence("Somebody else removed its DeviceTaintRule already: only its lease is ended."))
    if lease is not None:
        gone = rule if rule is not None else ObjectRef(api=VERSIONS[0], kind=RULE_KIND, name=lease.rule)
        steps.append(
            forget(
                "gpu_leases",
                lease,
                text=sentence("end the lease of GPU {gpu} of {node}", gpu=lease.gpu, node=lease.node),
                has_inverse=False,
                about=(ObjectState(ref=gone, is_gone=True),) if rule is not None else (),
            )
        )
    return PlanDraft(
        title=sentence("Uncordon GPU {gpu} of {node}", gpu=action.gpu, node=action.node),
        stages=in_order(*steps),
        notes=tuple(notes),
    )


UNCORDON = Command(
    noun="gpu",
    verb="uncordon",
    summary="Let pods have a GPU again that Yardmaster keeps them off.",
    action=UncordonGpu,
    parameters=(NODE_ARGUMENT, GPU_ARGUMENT),
    plan=uncordon_one,
    rights=(
        *Delete.rights(_GROUP, _PLURAL),
        Right(group=_GROUP, resources=(_PLURAL,), verbs=("list",)),
    ),
    example="gpu uncordon gpu-a04 3",
)
