"""Planning of `node hand-over`: the lease of a cordon becomes another person's."""

from dataclasses import dataclass

from alerts.cards.channel_id import kind_and_name
from collectors.facts.sentences import listed, sentence
from commands.core.command import PlanDraft
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import stands
from commands.core.lookups import read_node
from commands.core.named_person import named_person, teams_of
from commands.execution.plan import in_order
from commands.execution.steps import Patch, Record
from commands.node.cordon_commands import lease_of
from commands.node.cordon_steps import hand_over_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOverNodes:
    nodes: tuple[str, ...]
    to: str


async def plan_hand_over(action: HandOverNodes, context: CommandContext) -> PlanDraft:
    """Plan to make cordons of Yardmaster another person's. Their reasons and ends stay."""
    to, known_as = named_person(action.to, context)
    name, teams = known_as or kind_and_name(to)[1], await teams_of(to, context)
    steps: list[Patch | Record] = []
    handed: list[str] = []
    notes: list[str] = []
    for each in dict.fromkeys(action.nodes):
        node, lease = await read_node(each, context), await lease_of(each, context)
        if lease is None or lease.until is None or not stands(node):
            notes.append(sentence("{node} has no cordon of ours that could be handed over.", node=each))
        elif lease.owner in context.persons.ids_of(to):
            notes.append(sentence("The cordon of {node} is theirs already.", node=each))
        else:
            steps += hand_over_steps(node, lease, to=to, to_name=name, teams=teams)
            handed.append(each)
    if not steps:
        return PlanDraft.nothing(listed(notes, "."))
    title = sentence("Hand {nodes} over to {who}", nodes=listed(handed), who=name)
    return PlanDraft(title=title, stages=in_order(*steps), notes=tuple(notes))
