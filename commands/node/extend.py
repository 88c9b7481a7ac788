"""Planning of `node extend`: the lease of a cordon gets another end. It stays its owner's."""

from dataclasses import dataclass
from datetime import timedelta

from collectors.facts.sentences import listed, sentence
from commands.core.command import PlanDraft
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import stands
from commands.core.lookups import read_node
from commands.execution.plan import in_order
from commands.execution.steps import Patch, Record
from commands.node.cordon_commands import lease_of
from commands.node.cordon_steps import extension_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendCordons:
    nodes: tuple[str, ...]
    reason: str
    lasting: timedelta | None


async def plan_extension(action: ExtendCordons, context: CommandContext) -> PlanDraft:
    """Plan to let cordons of ours end later, or earlier, counted from now; `--reason` replaces their reason."""
    lasting = action.lasting if action.lasting is not None else context.defaults.cordon_for
    steps: list[Patch | Record] = []
    extended: list[str] = []
    notes: list[str] = []
    for name in dict.fromkeys(action.nodes):
        node, lease = await read_node(name, context), await lease_of(name, context)
        if lease is None or not stands(node):
            notes.append(sentence("{node} has no cordon of ours that could be extended.", node=name))
            continue
        steps += extension_steps(node, lease, action.reason, context, lasting)
        extended.append(name)
    if not steps:
        return PlanDraft.nothing(listed(notes, "."))
    notes.append(
        sentence(
            "The lease ends in {lasting} with a reminder; only `node uncordon` lifts the cordon.",
            lasting=lasting,
        )
    )
    title = sentence("Extend the cordon of {nodes}", nodes=listed(extended))
    return PlanDraft(title=title, stages=in_order(*steps), notes=tuple(notes))
