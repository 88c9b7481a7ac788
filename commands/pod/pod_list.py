"""The command `pod list`: the pods that do not run first, with why."""

from collections.abc import Sequence
from dataclasses import dataclass

import click

from alerts.cards.message import Block, Button, Buttons, Color, Context, Message, Table
from alerts.cards.text import bold, text
from collectors.cluster.objects import Pod
from collectors.facts.one_line import one_line
from collectors.facts.sentences import counted, sentence, word
from collectors.pod_troubles import why_not_running
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import age
from commands.core.named_pod import gpus_held, user_of_pod
from commands.core.ownership import owner_names
from commands.core.parameter_types import NODE

SHOWN = 40
REASON = 160  # characters of why a pod does not run


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPods:
    namespace: str = ""
    node: str = ""
    mine: bool = False
    all: bool = False


async def listing(action: ListPods, context: CommandContext) -> Answer:
    """Return the pods that do not run; with a filter or `--all` also those that do, and those that have finished."""
    inventory = context.cluster.inventory()
    own = owner_names(context.actor, context.defaults.owners) if action.mine else ()
    pods = [
        pod
        for pod in (inventory.pods_on(action.node) if action.node else inventory.pods.values())
        if action.namespace in ("", pod.metadata.namespace)
        and (not action.mine or user_of_pod(pod, context).owner in own)
    ]
    if not pods:
        raise UnusableError(sentence("There are no such pods."))
    reasons = {pod.key: why_not_running(pod, inventory) for pod in pods}
    troubled = [pod for pod in pods if reasons[pod.key] and pod.status.phase != "Succeeded"]
    is_whole = action.all or bool(action.node or action.namespace or action.mine)
    shown = pods if is_whole else troubled
    ordered = _ordered(shown, reasons)
    blocks: list[Block] = []
    if ordered:
        rows = tuple(_row(pod, reasons[pod.key], context) for pod in ordered[:SHOWN])
        heading = ("pod", "node", "state", "restarts", "GPUs", "age", "owner")
        blocks.append(Table(heading=heading, rows=rows, more=max(0, len(ordered) - SHOWN)))
    if not is_whole:
        fine = len(pods) - len(troubled)
        said = counted("{count} pod runs or has finished", "{count} pods run or have finished", count=fine)
        blocks += [
            Context(text=text(said)),
            Buttons(buttons=(Button(label="All pods", line="pod list --all"),)),
        ]
    title = counted(
        "{troubled} of {count} pod not running",
        "{troubled} of {count} pods not running",
        count=len(pods),
        troubled=len(troubled),
    )
    color = Color.GOOD if not troubled else Color.INFO
    return Answer(message=Message(title=text(bold(title)), color=color, blocks=tuple(blocks)))


def _ordered(pods: Sequence[Pod], reasons: dict[str, str]) -> list[Pod]:
    """Return those with trouble first, then those that run, then those that have finished."""
    rank = {"Succeeded": 2, "Running": 1}
    return sorted(
        pods,
        key=lambda pod: (
            0 if reasons[pod.key] and pod.status.phase != "Succeeded" else rank.get(pod.status.phase, 1),
            pod.key,
        ),
    )


def _row(pod: Pod, reason: str, context: CommandContext) -> tuple[str, ...]:
    restarts = sum(one.restart_count for one in pod.status.container_statuses or ())
    gpus = gpus_held(pod, context.cluster.inventory())
    return (
        pod.key,
        pod.spec.node_name,
        one_line(reason, REASON) or word(pod.status.phase or "?"),
        str(restarts) if restarts else "",
        f"{gpus:g}" if gpus else "",
        age(pod.metadata.creation_timestamp, context.now),
        user_of_pod(pod, context).owner or "?",
    )


LIST_PODS: Command[ListPods] = Command(
    noun="pod",
    verb="list",
    summary="List the pods that do not run, and why; with a filter all.",
    action=ListPods,
    parameters=(
        click.Option(["--namespace"], default="", metavar="NAMESPACE", help="only pods of this namespace"),
        click.Option(["--node"], type=NODE, default="", metavar="NODE", help="only pods on this node"),
        click.Option(["--mine"], is_flag=True, help="only your own"),
        click.Option(["--all"], is_flag=True, help="also pods that run or have finished"),
    ),
    read=listing,
    example="pod list --node gpu-a04",
)
