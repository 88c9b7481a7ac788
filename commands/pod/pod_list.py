"""The command `pod list`: the pods that do not run first, with why."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from alerts.cards.message import Attachment, Block, Button, Buttons, Color, Context, Message, Table
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
from commands.core.parameter_types import NAMESPACE_NAME, NODE, WholeNumberType
from commands.core.parameters import flag, option

PAGE = 40  # pods
IN_FILE = 2_000  # pods: what the attached list has at most
HEADING = ("pod", "node", "state", "restarts", "GPUs", "age", "owner")
REASON = 160  # characters of why a pod does not run


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPods:
    namespace: str = ""
    node: str = ""
    mine: bool = False
    all: bool = False
    page: int = 1


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
        blocks += _page(ordered, reasons, action, context)
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
    files = (_file(ordered, reasons, context),) if len(ordered) > PAGE and action.page == 1 else ()
    return Answer(
        message=Message(title=text(bold(title)), color=color, blocks=tuple(blocks), attachments=files)
    )


def _page(
    pods: Sequence[Pod], reasons: dict[str, str], action: ListPods, context: CommandContext
) -> list[Block]:
    """Return one page of the pods, and the way to the next. Raises UnusableError without such a page."""
    pages = -(-len(pods) // PAGE)
    if action.page > pages:
        said = counted("The list has {count} page.", "The list has {count} pages.", count=pages)
        raise UnusableError(said)
    start = (action.page - 1) * PAGE
    rows = tuple(_row(pod, reasons[pod.key], context) for pod in pods[start : start + PAGE])
    blocks: list[Block] = [Table(heading=HEADING, rows=rows)]
    if pages > 1:
        of = counted("{first} to {last} of {count} pod", "{first} to {last} of {count} pods", count=len(pods),
                     first=start + 1, last=start + len(rows))  # fmt: skip
        blocks.append(Context(text=text(of)))
    if action.page < pages:
        blocks.append(Buttons(buttons=(Button(label="Next page", line=_line(action, action.page + 1)),)))
    return blocks


def _line(action: ListPods, page: int) -> str:
    """Return the line that lists this page of the same pods."""
    given = {"--namespace": action.namespace, "--node": action.node}
    words = [word for option, value in given.items() if value for word in (option, value)]
    words += [option for option, is_set in (("--mine", action.mine), ("--all", action.all)) if is_set]
    return shlex.join(["pod", "list", *words, "--page", str(page)])


def _file(pods: Sequence[Pod], reasons: dict[str, str], context: CommandContext) -> Attachment:
    """Return the list as a file, as far as it is bounded, with how many it leaves out."""
    rows = [" | ".join(_row(pod, reasons[pod.key], context)) for pod in pods[:IN_FILE]]
    if (more := len(pods) - IN_FILE) > 0:
        left = sentence("… and {more} more: name a namespace or a node.", more=more)
        rows.append(str(left))
    return Attachment(name="pods.txt", content="\n".join([" | ".join(HEADING), *rows]))


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
        option("--namespace", type=NAMESPACE_NAME, help="only pods of this namespace"),
        option("--node", type=NODE, help="only pods on this node"),
        flag("--mine", help="only your own"),
        flag("--all", help="also pods that run or have finished"),
        option(
            "--page", type=WholeNumberType(least=1), default=1, metavar="NUMBER", help="a page of the list"
        ),
    ),
    read=listing,
    example="pod list --node gpu-a04",
)
