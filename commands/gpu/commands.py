"""This file has `gpu list|idle|free|keep|snooze|release|settle`."""

from dataclasses import dataclass
from datetime import timedelta

import click

from alerts.cards.message import Block, Button, Buttons, Context, Message, Paragraph, Preformatted, bold, text
from collectors.facts.clock import in_words, written
from commands.core.command import DURATION, ROW_NAME, Answer, Command, Right, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import known_name
from commands.gpu.gpu_counts import count_gpus, node_table, summary_lines, team_of, team_table
from commands.gpu.idle_detection import Activity
from commands.gpu.idle_trainings import TrainingGpus, by_training, idle_table
from commands.gpu.owner_answers import AnswerReclaim, keep, release, snooze
from commands.gpu.reclaim import FreeGpus, free, look_for_idle_now
from commands.gpu.unanswered import SettleReclaim, settle
from commands.plans.plan import Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGpus:
    node: str
    team: str
    free: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListIdleGpus:
    after: timedelta | None


async def listing(action: ListGpus, context: CommandContext) -> Answer:
    """Who holds which GPU: a line for each resource, by team, and node by node."""
    inventory, topology = context.cluster.inventory(), context.cluster.topology()
    names = [known_name(action.node, inventory.nodes, "node")] if action.node else sorted(inventory.nodes)
    nodes = [gpus for name in names if (gpus := inventory.gpus_on(name)) is not None and gpus.counts]
    if action.team:
        held = {
            pod.node
            for key, pod in topology.pods.items()
            if pod.gpus and team_of(key, topology) == action.team
        }
        nodes = [gpus for gpus in nodes if gpus.node in held]
    if action.free:
        nodes = [
            gpus for gpus in nodes if gpus.usable and any(share.free > 0 for share in gpus.counts.values())
        ]
    if not nodes:
        wanted = (
            "with free GPUs"
            if action.free
            else f"where team {action.team} holds GPUs"
            if action.team
            else "with GPUs"
        )
        raise UnusableError(
            f"There is no node {wanted}." if not action.node else f"{action.node} has no such GPUs."
        )
    look = await look_for_idle_now(context, context.defaults.idle_after)
    counted = count_gpus(nodes, inventory, topology, look)
    is_known = not look.blind
    blocks: list[Block] = [
        Preformatted(lines=summary_lines(counted, is_idle_known=is_known)),
        team_table(counted, is_idle_known=is_known),
        node_table(nodes, topology),
    ]
    idle = f"Idle: no work for {in_words(look.after)}." if is_known else f"Idle is not known: {look.blind}"
    blocks.append(Context(text=text(idle)))
    title = f"GPUs of {len(nodes)} node" + ("s" if len(nodes) != 1 else "")
    return Answer(message=Message(title=text(bold(title)), blocks=tuple(blocks)))


async def idle(action: ListIdleGpus, context: CommandContext) -> Answer:
    """Held GPUs that did nothing, whose they are, and those of which it is not known."""
    look = await look_for_idle_now(
        context, action.after if action.after is not None else context.defaults.idle_after
    )
    if look.blind:
        raise UnusableError(f"Whether any GPU does nothing is not known: {look.blind}")
    found = by_training(look, context.cluster.trainings())
    idle_ones = [one for one in found if one.idle]
    gpus = sum(one.idle for one in idle_ones)
    window = in_words(look.after)
    blocks: list[Block] = []
    if idle_ones:
        blocks.append(idle_table(idle_ones))
        if any(one.activity is not Activity.IDLE for one in idle_ones):
            partly = "Where only some do nothing, a rank may wait for the others: look first."
            blocks.append(Paragraph(text=text(partly)))
        if buttons := _ask(idle_ones, context, look.after):
            blocks.append(buttons)
    blocks += [Context(text=text(line)) for line in _not_judged(found)]
    title = (
        f"{gpus:g} held GPUs did nothing for {window}"
        if idle_ones
        else f"All GPUs that are held work ({window})"
    )
    if not idle_ones and any(one.activity is not Activity.BUSY for one in found):
        title = f"No held GPU is known to have done nothing for {window}"
    return Answer(message=Message(title=text(bold(title)), blocks=tuple(blocks)))


def _ask(idle_ones: list[TrainingGpus], context: CommandContext, after: timedelta) -> Buttons | None:
    free_ones = [
        one.training.id
        for one in idle_ones
        if one.training is not None
        and one.activity is Activity.IDLE
        and context.refusal("gpu free", one.training.namespace) is None
    ]
    if not free_ones:
        return None
    line = f"gpu free {' '.join(free_ones[:20])} --after {written(after)}"
    label = "Ask the owner" if len(free_ones) == 1 else f"Ask {len(free_ones[:20])} owners"
    return Buttons(buttons=(Button(label=label, line=line),))


def _not_judged(found: tuple[TrainingGpus, ...]) -> list[str]:
    told = []
    pods = [pod for one in found for pod in one.pods]
    if young := sum(pod.count for pod in pods if pod.activity is Activity.YOUNG):
        told.append(f"{young:g} GPUs are held by pods that began later.")
    unknown = [pod for pod in pods if pod.activity is Activity.UNKNOWN]
    if unknown:
        first = unknown[0]
        more = f" and {len(unknown) - 1} more pods" if len(unknown) > 1 else ""
        count = sum(pod.count for pod in unknown)
        told.append(
            f"Of {count:g} GPUs it is not known: {first.namespace}/{first.pod} ({first.reason}){more}."
        )
    return told


_CLAIM = click.Argument(["request"], type=ROW_NAME)
_REASON = click.Option(["--reason"], default="", metavar="TEXT", help="why, for whoever wonders")
_AFTER = click.Option(
    ["--after"], type=DURATION, default=None, metavar="DURATION", help="without any work: 30m"
)
_PAUSE_RIGHTS = (
    Right(group="batch", resources=("jobs",), verbs=("get", "patch", "delete")),
    Right(group="apps", resources=("deployments/scale", "statefulsets/scale"), verbs=("get", "patch")),
)

COMMANDS = (
    Command(
        noun="gpu",
        verb="list",
        summary="List GPUs: used, idle, free and broken, by team and by node.",
        action=ListGpus,
        parameters=(
            click.Option(["--node"], default="", metavar="NODE"),
            click.Option(["--team"], default="", metavar="TEAM"),
            click.Option(["--free"], is_flag=True, help="only nodes with free ones"),
        ),
        read=listing,
        example="gpu list --free",
    ),
    Command(
        noun="gpu",
        verb="idle",
        summary="List GPUs that are held and do nothing, and whose they are.",
        action=ListIdleGpus,
        parameters=(_AFTER,),
        read=idle,
        example="gpu idle --after 1h",
        details="A GPU counts as idle only if every moment of the window was seen and none had work.",
    ),
    Command(
        noun="gpu",
        verb="free",
        summary="Ask the owners of idle trainings for their GPUs; without an answer they are suspended.",
        action=FreeGpus,
        parameters=(
            click.Argument(["trainings"], nargs=-1, required=False),
            _AFTER,
            click.Option(["--grace"], type=DURATION, default=None, metavar="DURATION", help="to answer: 30m"),
        ),
        plan=free,
        risk=Risk.TOUCH,
        example="gpu free detr --grace 1h",
    ),
    Command(
        noun="gpu",
        verb="keep",
        summary="Answer a claim: the GPUs are needed.",
        action=AnswerReclaim,
        parameters=(_CLAIM, _REASON),
        record=keep,
        checks_permission_itself=True,
        table="reclaim_requests",
        example='gpu keep c3f9a1b2 --reason "loads its data until noon"',
    ),
    Command(
        noun="gpu",
        verb="snooze",
        summary="Answer a claim: give it more time.",
        action=AnswerReclaim,
        parameters=(
            _CLAIM,
            click.Option(["--for", "lasting"], type=DURATION, default="2h", metavar="DURATION"),
            _REASON,
        ),
        record=snooze,
        checks_permission_itself=True,
        table="reclaim_requests",
        example="gpu snooze c3f9a1b2 --for 2h",
    ),
    Command(
        noun="gpu",
        verb="release",
        summary="Answer a claim: the GPUs may be taken now.",
        action=AnswerReclaim,
        parameters=(_CLAIM,),
        plan=release,
        risk=Risk.TOUCH,
        checks_permission_itself=True,
        rights=_PAUSE_RIGHTS,
        table="reclaim_requests",
        example="gpu release c3f9a1b2",
    ),
    Command(
        noun="gpu",
        verb="settle",
        summary="Settle a claim that nobody answered; the automation `reclaim` does it when it is due.",
        action=SettleReclaim,
        parameters=(_CLAIM,),
        plan=settle,
        risk=Risk.TOUCH,
        rights=_PAUSE_RIGHTS,
        table="reclaim_requests",
        example="gpu settle c3f9a1b2",
    ),
)
