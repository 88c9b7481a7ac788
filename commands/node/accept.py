"""`node accept`: run a suite of tests on a cordoned node. Passing it is the proof that the node may return."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from collectors.cluster.conditions import is_node_ready
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.sentences import listed, sentence
from commands.acceptance.acceptance import Acceptance
from commands.acceptance.suites import HEAD, NEIGHBOUR, RANK, Suite, SuiteTest
from commands.acceptance.validators import validator_rights, validators
from commands.core.command import Command, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.device_claims import claim_rights
from commands.core.lookups import read_node
from commands.core.node_jobs import refuse_second
from commands.core.node_script import NAMESPACE
from commands.core.node_tests import (
    Tested,
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
    whole_node,
)
from commands.core.parameter_types import NODE
from commands.core.parameters import NODE_ARGUMENT, option
from commands.execution.object_state import ObjectState
from commands.execution.plan import Stage, in_order
from commands.execution.preconditions import Precondition
from commands.execution.record_steps import record
from commands.execution.steps import NodeJob, Record
from commands.node.cordon_steps import ref_of_node
from commands.node.repair.refusals import pods_of, refuse_control_plane
from commands.node.tests_of_others import OtherTest, chosen_validator, other_test, readiness_test

_NAMED = 6
_VALIDATORS = tuple(one.name for one in validators())


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptNode:
    node: str
    suite: str
    with_node: str


async def accept(action: AcceptNode, context: CommandContext) -> PlanDraft:
    """Plan the tests of the suite on the node, one after the other; those between two nodes at the end."""
    suite = chosen_suite(action.suite, context, others=_VALIDATORS)
    node = await _testable(action.node, context)
    other = await _testable(action.with_node, context) if action.with_node else None
    if other is not None and other.metadata.uid == node.metadata.uid:
        raise UnusableError(sentence("`--with` names another node than the one to accept."))
    inventory = context.cluster.inventory()
    tested = whole_node(node, inventory, context)
    number = await next_number(node, context)
    validator = await chosen_validator(action.suite, context)
    if validator is not None and other is not None:
        raise UnusableError(
            sentence("`{name}` tests one node: leave `--with` out.", name=validator.validator.name)
        )
    rules = await readiness_test(node, context)
    others = [] if validator is None else [other_test(validator, node, number, context)]
    others += [rules] if rules is not None else []
    tests = () if validator is not None else _tests_of(suite, other, context)
    stages = [in_order(*_single(tests, tested, context))]
    planned = [planned_test(one, node) for one in tests if not one.between]
    for one in tests:
        if one.between and other is not None:
            steps = _pair(one, tested, whole_node(other, inventory, context), context)
            stages.append((Stage(steps=steps, at_once=len(steps)),))
            planned += [planned_test(one, node), planned_test(one, other)]
    for found in others:
        stages.append(in_order(*found.steps))
        planned.append(found.planned)
    title = suite.name if validator is None else validator.validator.name
    row = new_acceptance(tested, title, tuple(planned), number, context, other=action.with_node)
    name = node.metadata.name
    return PlanDraft(
        title=sentence("Test {node} with suite {suite}", node=name, suite=title),
        stages=(*in_order(_recorded(row, node)), *(stage for found in stages for stage in found)),
        notes=_notes(tests, others, node, context),
        decided=(
            sentence(
                "accept node {node} with uid {uid} since its boot {boot}",
                node=name,
                uid=node.metadata.uid,
                boot=node.status.node_info.boot_id,
            ),
        ),
    )


def _tests_of(suite: Suite, other: Node | None, context: CommandContext) -> tuple[SuiteTest, ...]:
    tests = suite.of(has_pair=other is not None)
    if other is not None and not any(one.between for one in tests):
        raise UnusableError(
            sentence("Suite `{suite}` has no test between two nodes: leave `--with` out.", suite=suite.name)
        )
    refuse_without_images(tests, context)
    return tests


async def _testable(name: str, context: CommandContext) -> Node:
    """Return the node as the API server has it. Raises UnusableError while it takes pods, or has some with GPUs."""
    node = await read_node(name, context)
    refuse_control_plane(node)
    if not node.spec.unschedulable:
        line = f'node cordon {node.metadata.name} --reason "acceptance"'
        raise cordon_first(
            sentence(
                "{node} is not cordoned, and its tests take all its GPUs: `{line}` first.",
                node=node.metadata.name,
                line=line,
            ),
            line,
            sentence("Cordon {node}", node=node.metadata.name),
            is_allowed=context.may.get("node cordon", False),
        )
    if not is_node_ready(node):
        raise UnusableError(
            sentence("{node} is not ready, so no test starts there.", node=node.metadata.name)
        )
    inventory = context.cluster.inventory()
    busy = [
        f"{pod.metadata.namespace}/{pod.metadata.name}"
        for pod in await pods_of(node, context)
        if inventory.gpus_of(pod)
    ]
    if busy:
        raise UnusableError(
            sentence(
                "The tests need the GPUs of {node}, and these pods have some: {pods}. `node drain {node}` evicts them.",
                node=node.metadata.name,
                pods=listed(busy, most=_NAMED),
            )
        )
    await refuse_second(node, context)
    return node


def _single(tests: Sequence[SuiteTest], tested: Tested, context: CommandContext) -> list[NodeJob]:
    env = {NEIGHBOUR: _neighbour(tested.node, context)}
    return [step_of_test(one, tested, context, env) for one in tests if not one.between]


def _pair(one: SuiteTest, tested: Tested, other: Tested, context: CommandContext) -> tuple[NodeJob, ...]:
    node = tested.node
    head = _address(node)
    if not head:
        raise UnusableError(sentence("{node} has no address that is known.", node=node.metadata.name))
    return tuple(
        step_of_test(one, each, context, {HEAD: head, RANK: str(rank)})
        for rank, each in enumerate((tested, other))
    )


def _recorded(row: Acceptance, node: Node) -> Record:
    """Return the step that stores it, while the node is cordoned and still runs since the same boot."""
    state = ObjectState(
        ref=ref_of_node(node),
        requires=(
            Precondition(path=("spec", "unschedulable"), equals=True),
            Precondition(path=("status", "nodeInfo", "bootID"), equals=row.boot_id or None),
        ),
    )
    text = sentence("record that {node} is tested with suite {suite}", node=row.node, suite=row.suite)
    return record("acceptances", row, text=text, has_inverse=False, about=(state,))


def _notes(
    tests: Sequence[SuiteTest], others: Sequence[OtherTest], node: Node, context: CommandContext
) -> tuple[str, ...]:
    notes = notes_of_tests(tests, context) if tests else []
    for one in others:
        notes.append(
            sentence(
                "`{test}` is run by another program of this cluster; Yardmaster reads its verdict.",
                test=one.planned.name,
            )
        )
    return (*notes, what_a_pass_does(node.metadata.name, context))


def _neighbour(node: Node, context: CommandContext) -> str:
    """Return the address of another node that is ready, of the same rack if there is one; empty if none is known."""
    inventory: Inventory = context.cluster.inventory()
    places = context.cluster.topology().nodes
    name = node.metadata.name
    rack = places[name].rack if name in places else ""
    others = sorted(
        (one for other, one in inventory.nodes.items() if other != name and is_node_ready(one)),
        key=lambda one: (places[one.metadata.name].rack != rack, one.metadata.name),
    )
    return next((found for one in others if (found := _address(one))), "")


def _address(node: Node) -> str:
    """Return the node's address within the cluster; empty for what is none."""
    for one in node.status.addresses or ():
        if one.type != "InternalIP":
            continue
        try:
            return str(ip_address(one.address))
        except ValueError:
            continue
    return ""


ACCEPT = Command(
    noun="node",
    verb="accept",
    summary="Test a cordoned node with a suite; passing it is the proof that it may return.",
    action=AcceptNode,
    parameters=(
        NODE_ARGUMENT,
        suite_option(),
        option("--with", "with_node", type=NODE, help="a second cordoned node, for tests between two"),
    ),
    plan=accept,
    rights=(
        *NodeJob.rights("batch", "jobs", namespace=NAMESPACE),
        *claim_rights(NAMESPACE),
        *validator_rights(NAMESPACE),
    ),
    example="node accept gpu-a04",
    details=(
        "The tests run one after the other, each as a Job on the node. Their outputs are read in the tools' own "
        "formats, and their figures compared with what other nodes of the same GPU model reached: below 90 % of the "
        "median is slow. The proof holds for this node until it is rebooted or replaced, and an alert about its GPUs "
        "within an hour withdraws it. Where the cluster serves a ValidationRequest of NVSentinel or a Certification "
        "of its readiness engine, that runs instead of our suite, and what a readiness rule asks of the node is "
        "awaited. See docs/acceptance.md."
    ),
)
