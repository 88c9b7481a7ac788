"""`gpu accept`: test one cordoned GPU. Passing its tests is the proof that pods may have it again."""

from dataclasses import dataclass

from collectors.cluster.conditions import is_node_ready
from collectors.cluster.gpu_devices import GpuDevice
from collectors.cluster.objects import Node
from collectors.facts.sentences import listed, sentence
from commands.acceptance.acceptance import Acceptance
from commands.acceptance.suites import ONE_GPU
from commands.core.command import Command, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.cordoned_gpus import CordonedGpu
from commands.core.cordoned_nodes import BY
from commands.core.device_claims import claim_rights
from commands.core.drain_pods import pod_name
from commands.core.lookups import read_node
from commands.core.node_jobs import refuse_second
from commands.core.node_script import NAMESPACE, GpuClaim
from commands.core.node_tests import (
    Tested,
    TestedGpus,
    chosen_suite,
    cordon_first,
    new_acceptance,
    next_number,
    notes_of_tests,
    planned_test,
    refuse_without_images,
    step_of_test,
    suite_option,
    what_a_pass_does,
)
from commands.core.parameters import GPU_ARGUMENT, NODE_ARGUMENT
from commands.execution.object_state import ObjectState
from commands.execution.plan import in_order
from commands.execution.preconditions import Precondition
from commands.execution.record_steps import record
from commands.execution.rights import Right
from commands.execution.steps import NodeJob, Record
from commands.gpu.device_pods import pods_of_device
from commands.gpu.gpu_rules import lease_named, ref_of_rule, rules_of, standing_rule
from commands.gpu.named_gpu import named_gpu

_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptGpu:
    node: str
    gpu: str
    suite: str


async def accept_one(action: AcceptGpu, context: CommandContext) -> PlanDraft:
    """Plan the tests of the suite that one GPU alone can be given to, while our rule keeps other pods off it."""
    suite = chosen_suite(action.suite, context)
    node, inventory = await read_node(action.node, context), context.cluster.inventory()
    lease = await lease_named(action.node, action.gpu, context)
    device = await named_gpu(action.gpu if lease is None else lease.device, node, inventory, context)
    api, rules = await rules_of(node, context)
    standing = _ours(action, node, device, standing_rule(device, rules), context)
    await _refuse_in_use(action, node, device, context)
    await refuse_second(node, context)
    if not suite.of_one_gpu:
        raise UnusableError(
            sentence(
                "Suite `{suite}` has no test of one GPU alone: mark one with `one_gpu: true`.",
                suite=suite.name,
            )
        )
    refuse_without_images(suite.of_one_gpu, context)
    facts = context.cluster.topology().nodes.get(action.node)
    tested = Tested(
        node=node,
        gpus=TestedGpus(count=1, claim=GpuClaim(driver=device.driver, uuid=device.uuid)),
        gpu=standing.gpu,
        device=device.name,
        model=(facts.gpu_product if facts else "") or device.product,
        env={ONE_GPU: device.uuid},
    )
    steps = [step_of_test(one, tested, context, {}) for one in suite.of_one_gpu]
    planned = tuple(planned_test(one, node) for one in suite.of_one_gpu)
    number = await next_number(node, context)
    row = new_acceptance(tested, suite.name, planned, number, context)
    notes = (*notes_of_tests(suite.of_one_gpu, context), what_a_pass_does(row.what, context))
    return PlanDraft(
        title=sentence("Test {what} with suite {suite}", what=row.what, suite=suite.name),
        stages=in_order(_recorded(row, standing, api), *steps),
        notes=notes,
        decided=(
            sentence(
                "accept device {device} of pool {pool}, on node {node} with uid {uid} since its boot {boot}",
                device=device.name,
                pool=device.pool,
                node=action.node,
                uid=node.metadata.uid,
                boot=node.status.node_info.boot_id,
            ),
        ),
    )


def _ours(
    action: AcceptGpu, node: Node, device: GpuDevice, standing: CordonedGpu | None, context: CommandContext
) -> CordonedGpu:
    """Return our rule on the device. Raises UnusableError where none stands, or nothing can be tested."""
    if standing is None:
        line = f'gpu cordon {action.node} {action.gpu} --reason "acceptance"'
        raise cordon_first(
            sentence(
                "GPU {gpu} of {node} is not cordoned, and its tests need it alone: `{line}` first.",
                gpu=action.gpu,
                node=action.node,
                line=line,
            ),
            line,
            sentence("Cordon GPU {gpu} of {node}", gpu=action.gpu, node=action.node),
            is_allowed=context.may.get("gpu cordon", False),
        )
    if not standing.is_ours:
        raise UnusableError(
            sentence(
                "GPU {gpu} of {node} is cordoned by someone else, by the DeviceTaintRule `{rule}`: a test of ours "
                "would not end that.",
                gpu=action.gpu,
                node=action.node,
                rule=standing.rule.metadata.name,
            )
        )
    if not is_node_ready(node):
        raise UnusableError(sentence("{node} is not ready, so no test starts there.", node=action.node))
    if not device.uuid:
        raise UnusableError(
            sentence(
                "The driver of {node} does not say the UUID of GPU {gpu}, so no test can be given that GPU alone. "
                "`node accept {node}` tests all of them.",
                node=action.node,
                gpu=action.gpu,
            )
        )
    return standing


async def _refuse_in_use(action: AcceptGpu, node: Node, device: GpuDevice, context: CommandContext) -> None:
    """Raise UnusableError while pods have the GPU."""
    busy = [pod_name(pod) for pod in await pods_of_device(device, context.cluster.inventory(), context)]
    if busy:
        raise UnusableError(
            sentence(
                "The tests need GPU {gpu} of {node}, and these pods have it: {pods}. `pod delete` ends one; "
                "the DeviceTaintRule keeps new ones off.",
                gpu=action.gpu,
                node=node.metadata.name,
                pods=listed(busy, most=_NAMED),
            )
        )


def _recorded(row: Acceptance, standing: CordonedGpu, api: str) -> Record:
    """Return the step that stores it, while our rule keeps pods off the GPU."""
    ours = Precondition(path=("metadata", "annotations", BY), equals=standing.by)
    return record(
        "acceptances",
        row,
        text=sentence("record that {what} is tested with suite {suite}", what=row.what, suite=row.suite),
        has_inverse=False,
        about=(ObjectState(ref=ref_of_rule(standing.rule, api), requires=(ours,)),),
    )


ACCEPT_GPU = Command(
    noun="gpu",
    verb="accept",
    summary="Test one cordoned GPU; passing its tests is the proof that pods may have it again.",
    action=AcceptGpu,
    parameters=(
        NODE_ARGUMENT,
        GPU_ARGUMENT,
        suite_option(),
    ),
    plan=accept_one,
    rights=(
        *NodeJob.rights("batch", "jobs", namespace=NAMESPACE),
        *claim_rights(NAMESPACE),
        Right(group="resource.k8s.io", resources=("devicetaintrules",), verbs=("list",)),
    ),
    example="gpu accept gpu-a04 3",
    details=(
        "GPU is the index that nvidia-smi shows, a UUID, or the name of the device. The tests of the suite that are "
        "marked `one_gpu` run as Jobs whose claim is this GPU, while `gpu cordon` keeps other pods off it; the other "
        "GPUs of the node go on. The proof holds until the node is rebooted or replaced. Where a device plugin gives "
        "the GPUs, one cannot be tested alone: then `node accept` tests the node. See docs/acceptance.md."
    ),
)
