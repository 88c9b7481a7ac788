"""The answers of `gpu list` and `gpu idle`: which GPUs are used, idle, free and broken, and whose they are."""

from dataclasses import dataclass
from datetime import timedelta

from alerts.cards.message import Block, Button, Buttons, Context, Message, Paragraph
from alerts.cards.text import bold, joined, text
from collectors.facts.clock import format_duration
from collectors.facts.sentences import counted, listed, sentence
from collectors.gpu_activity import Activity
from commands.core.command import Answer, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import known_name
from commands.gpu.gpu_counts import count_gpus, node_table, summary_lines, team_of, team_table
from commands.gpu.idle_trainings import TrainingGpus, by_training, idle_table, ways_to_free
from commands.gpu.reclaim import find_idle_now


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGpus:
    node: str
    team: str
    free: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ListIdleGpus:
    after: timedelta | None


async def listing(action: ListGpus, context: CommandContext) -> Answer:
    """Return the GPUs in use: a line per resource, by team and by node."""
    inventory, topology = context.cluster.inventory(), context.cluster.topology()
    names = [known_name(action.node, inventory.nodes, "node")] if action.node else sorted(inventory.nodes)
    nodes = [gpus for name in names if (gpus := inventory.gpus_on(name)) is not None and gpus.counts]
    every = nodes
    if action.team:
        team_nodes = {
            pod.node
            for key, pod in topology.pods.items()
            if pod.gpus and team_of(key, topology) == action.team
        }
        nodes = [gpus for gpus in nodes if gpus.node in team_nodes]
    if action.free:
        nodes = [
            gpus for gpus in nodes if gpus.usable and any(share.free > 0 for share in gpus.counts.values())
        ]
    if not nodes:
        raise UnusableError(_none(action))
    look = await find_idle_now(context, context.defaults.idle_after)
    counts = count_gpus(nodes, inventory, topology, look)
    is_known = not look.blind
    blocks: list[Block] = [
        Paragraph(text=joined("\n", summary_lines(counts, is_idle_known=is_known))),
        team_table(counts, is_idle_known=is_known),
        node_table(nodes, inventory, topology),
    ]
    idle = (
        sentence("Idle: no work for {after}.", after=look.after)
        if is_known
        else sentence("Idle GPUs unknown: {reason}", reason=look.blind)
    )
    if action.team or action.free:
        whole = summary_lines(count_gpus(every, inventory, topology, look), is_idle_known=is_known)
        blocks.append(Context(text=text(sentence("In the whole cluster: {gpus}", gpus=listed(whole, ";")))))
    blocks.append(Context(text=text(idle)))
    return Answer(
        message=Message(title=text(bold(_title(action, len(nodes), len(every)))), blocks=tuple(blocks))
    )


def _title(action: ListGpus, nodes: int, every: int) -> str:
    """Return what is counted: with a filter, only the nodes that it leaves."""
    if action.team and action.free:
        template = "GPUs of {nodes} of {every} nodes: with free GPUs, where team {team} holds GPUs"
    elif action.team:
        template = "GPUs of {nodes} of {every} nodes: where team {team} holds GPUs"
    elif action.free:
        template = "GPUs of {nodes} of {every} nodes: with free GPUs"
    else:
        return counted("GPUs of {count} node", "GPUs of {count} nodes", count=nodes)
    return sentence(template, nodes=nodes, every=every, **({"team": action.team} if action.team else {}))


def _none(action: ListGpus) -> str:
    if action.node:
        return sentence("{node} has no such GPUs.", node=action.node)
    if action.free:
        return sentence("There is no node with free GPUs.")
    if action.team:
        return sentence("There is no node where team {team} holds GPUs.", team=action.team)
    return sentence("There is no node with GPUs.")


async def idle(action: ListIdleGpus, context: CommandContext) -> Answer:
    """Return the held GPUs that were idle, with their owners, and those whose activity is not known."""
    look = await find_idle_now(
        context, action.after if action.after is not None else context.defaults.idle_after
    )
    if look.blind:
        raise UnusableError(sentence("Whether any GPU is idle is not known: {reason}", reason=look.blind))
    found = by_training(look, context.cluster.trainings(), context.cluster.topology())
    idle_ones = [one for one in found if one.idle]
    gpus = sum(one.idle for one in idle_ones)
    window = look.after
    blocks: list[Block] = []
    if idle_ones:
        blocks.append(idle_table(idle_ones))
        if any(one.activity is not Activity.IDLE for one in idle_ones):
            partly = sentence(
                "Where only some GPUs are idle, a rank may be waiting for the others: check first."
            )
            blocks.append(Paragraph(text=text(partly)))
        if buttons := _button(idle_ones, context, look.after):
            blocks.append(buttons)
    blocks += [Context(text=text(line)) for line in (*ways_to_free(idle_ones), *_not_evaluated(found))]
    title = (
        counted(
            "{count:g} held GPU was idle for {window}",
            "{count:g} held GPUs were idle for {window}",
            count=gpus,
            window=window,
        )
        if idle_ones
        else sentence("No held GPU was idle for {window}", window=window)
    )
    if not idle_ones and any(one.activity is not Activity.BUSY for one in found):
        title = sentence("No held GPU is known to have been idle for {window}", window=window)
    return Answer(message=Message(title=text(bold(title)), blocks=tuple(blocks)))


def _button(idle_ones: list[TrainingGpus], context: CommandContext, after: timedelta) -> Buttons | None:
    found = [
        one.training
        for one in idle_ones
        if one.training is not None
        and one.activity is Activity.IDLE
        and context.refusal("gpu free", one.training.namespace) is None
    ]
    if not found:
        return None
    free_ones = [training.typed for training in found]
    owners = [context.defaults.owners.get(training.owner, "") for training in found]
    line = f"gpu free {' '.join(free_ones[:20])} --after {format_duration(after)}"
    label = (
        "Free them"
        if all(map(context.actor.is_one, owners))
        else "Ask the owner"
        if len(free_ones) == 1
        else sentence("Ask {number} owners", number=len(free_ones[:20]))
    )
    return Buttons(buttons=(Button(label=label, line=line),))


def _not_evaluated(found: tuple[TrainingGpus, ...]) -> list[str]:
    lines: list[str] = []
    pods = [pod for one in found for pod in one.pods]
    if young := sum(pod.count for pod in pods if pod.activity is Activity.YOUNG):
        lines.append(
            counted(
                "{count:g} GPU is held by pods that started later.",
                "{count:g} GPUs are held by pods that started later.",
                count=young,
            )
        )
    unknown = [pod for pod in pods if pod.activity is Activity.UNKNOWN]
    if unknown:
        first = unknown[0]
        pods_shown = sentence(
            "{namespace}/{pod} ({reason})", namespace=first.namespace, pod=first.pod, reason=first.reason
        )
        if more := len(unknown) - 1:
            pods_shown = counted(
                "{pod} and {count} more pod", "{pod} and {count} more pods", pod=pods_shown, count=more
            )
        count = sum(pod.count for pod in unknown)
        lines.append(
            counted(
                "The activity of {count:g} GPU is not known: {pods}.",
                "The activity of {count:g} GPUs is not known: {pods}.",
                count=count,
                pods=pods_shown,
            )
        )
    return lines
