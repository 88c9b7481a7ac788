"""The tests of a suite as steps on a node, and the row of the acceptance that they are for."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import click

from alerts.cards.message import Button, Buttons
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.sentences import Sentence, as_code, counted, listed, sentence
from commands.acceptance.acceptance import Acceptance, AcceptanceState, PlannedTest
from commands.acceptance.suites import GPU_COUNT, LOG_BYTES, Suite, SuiteTest
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import known_name
from commands.core.node_jobs import job_step
from commands.core.node_script import GpuClaim, NodeScript
from commands.core.parameters import option
from commands.core.testable_nodes import without_images
from commands.execution.steps import NodeJob

_GPU = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedGpus:
    """The GPUs that a test gets: from a device plugin, or by a claim."""

    count: int
    claim: GpuClaim | None = None

    @property
    def resources(self) -> dict[str, str]:
        return {_GPU: str(self.count)} if self.count and self.claim is None else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """What is tested: a node, or one GPU of it."""

    node: Node
    gpus: TestedGpus
    gpu: str = ""  # as people name it
    device: str = ""
    model: str = ""
    env: dict[str, str] = field(default_factory=dict)


def whole_node(node: Node, inventory: Inventory, context: CommandContext) -> Tested:
    """Return the node with all its whole GPUs: one that is cut into slices cannot be tested as a whole."""
    name = node.metadata.name
    facts = context.cluster.topology().nodes.get(name)
    model = facts.gpu_product if facts else ""
    written = str((node.status.capacity or {}).get(_GPU, "0"))
    count = int(written) if written.isdecimal() else 0
    devices = inventory.whole_gpus_on(name) if not count else ()
    if not devices:
        return Tested(node=node, gpus=TestedGpus(count=count), model=model)
    claim = GpuClaim(driver=devices[0].driver)
    return Tested(
        node=node,
        gpus=TestedGpus(count=len(devices), claim=claim),
        model=model or devices[0].product,
    )


def refuse_without_images(tests: Sequence[SuiteTest], context: CommandContext) -> None:
    """Ask for all images that are missing at once, by name."""
    if missing := without_images(tests, context.defaults.node_jobs):
        raise UnusableError(
            sentence(
                "The settings name no image for {scripts}: add each to `node_jobs.images`, or one for all as "
                "`node_jobs.image`. docs/acceptance.md says what each must have.",
                scripts=as_code(missing),
            )
        )


def step_of_test(one: SuiteTest, tested: Tested, context: CommandContext, env: dict[str, str]) -> NodeJob:
    """Return the step that runs a test. Raises UnusableError for a test of GPUs on a node without."""
    node, gpus = tested.node, tested.gpus
    if one.gpus and not gpus.count:
        raise UnusableError(
            sentence(
                "{node} has no NVIDIA GPUs, which test `{test}` is for.",
                node=node.metadata.name,
                test=one.name,
            )
        )
    script = NodeScript(
        name=one.script,
        text=one.text,
        image=one.image,
        shell=one.shell,
        privileged=one.privileged,
        host_network=one.between,
        by_scheduler=one.gpus,
        within=one.within,
        resources=gpus.resources if one.gpus else {},
        claim=gpus.claim if one.gpus else None,
        memory=one.memory,
        log_bytes=LOG_BYTES,
        is_read=True,
    )
    text = sentence(
        "run test `{test}` on {node}, at most {within}",
        test=one.name,
        node=node.metadata.name,
        within=one.within,
    )
    variables = {GPU_COUNT: str(gpus.count), **tested.env, **env}
    return job_step(script, node, context, description=text, env=variables)


def planned_test(one: SuiteTest, node: Node) -> PlannedTest:
    return PlannedTest(name=one.name, reads=one.reads, node=node.metadata.name, script=one.script)


async def next_number(node: Node, context: CommandContext) -> int:
    """Return the number of the node's next acceptance. Raises UnusableError while it is being tested."""
    name = node.metadata.name
    async with context.store.read() as snapshot:
        before = await snapshot.rows(Acceptance).find(cluster=context.cluster.name, node=name)
    if running := next((one for one in before if not one.is_over), None):
        raise UnusableError(sentence("{node} is being tested: plan `{plan}`.", node=name, plan=running.plan))
    return 1 + max((int(one.id.rpartition("/")[2]) for one in before), default=0)


def new_acceptance(
    tested: Tested,
    suite: str,
    tests: tuple[PlannedTest, ...],
    number: int,
    context: CommandContext,
    *,
    other: str = "",
) -> Acceptance:
    """Return the row of a new acceptance. Its id counts those of the node, so that a plan keeps its hash."""
    node, cluster = tested.node, context.cluster.name
    name = node.metadata.name
    return Acceptance(
        id=f"{cluster}/{name}/{number}",
        cluster=cluster,
        node=name,
        gpu=tested.gpu,
        device=tested.device,
        uid=node.metadata.uid,
        boot_id=node.status.node_info.boot_id,
        model=tested.model,
        gpus=tested.gpus.count,
        suite=suite,
        tests=tests,
        with_node=other,
        by=context.actor.person,
        by_name=context.actor.name,
        at=context.now,
        state=AcceptanceState.RUNNING,
    )


def notes_of_tests(tests: Sequence[SuiteTest], context: CommandContext) -> list[Sentence]:
    """Return what a preview says of the tests, whatever they are for."""
    longest = sum((one.within for one in tests[1:]), start=tests[0].within)
    notes: list[Sentence] = [
        counted(
            "{count} test in a pod of namespace {namespace}, at most {longest} in all; the pod is removed afterwards.",
            "{count} tests, each in a pod of namespace {namespace}, at most {longest} in all; each pod is removed "
            "afterwards.",
            count=len(tests),
            namespace=context.defaults.node_jobs.namespace,
            longest=longest,
        )
    ]
    if privileged := [one.name for one in tests if one.privileged]:
        notes.append(sentence("Privileged: {tests}.", tests=listed(privileged)))
    return notes


def chosen_suite(name: str, context: CommandContext, *, others: Collection[str] = ()) -> Suite:
    """Return the suite of that name, or that of the settings for an empty name and for `others` that test instead."""
    policy = context.defaults.acceptance
    named = policy.suite if not name or name in others else name
    return policy.all[known_name(named, (*policy.all, *others), "suite")]


def suite_option() -> click.Option:
    return option("--suite", metavar="NAME", help="which suite; default: that of the settings")


def what_a_pass_does(what: str, context: CommandContext) -> Sentence:
    """Return whether the cordon ends by itself once all tests have passed."""
    if context.defaults.acceptance.ends_lease:
        return sentence("If it passes, its cordon is lifted automatically.")
    return sentence(
        "{what} stays cordoned, whatever the tests say: the card suggests the next step.", what=what
    )


def cordon_first(said: str, line: str, label: str, *, is_allowed: bool) -> UnusableError:
    """Return the refusal of what is not cordoned, with a button that cordons it."""
    button = Button(label=label, line=line)
    return UnusableError(said, blocks=(Buttons(buttons=(button,)),) if is_allowed else ())
