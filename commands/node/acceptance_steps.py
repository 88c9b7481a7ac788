"""The step that notes that a node returns without a test."""

from collectors.cluster.objects import Node
from collectors.cluster.resources import nvidia_gpus
from collectors.facts.sentences import Sentence, sentence
from commands.acceptance.acceptance import Acceptance, AcceptanceState, newest_of_nodes
from commands.acceptance.acceptance_proof import is_accepted
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import annotations_of
from commands.execution.record_steps import record
from commands.execution.steps import Record
from commands.models import CordonLease
from commands.node.cordon_steps import cordoned, not_ours


async def return_step(
    node: Node, lease: CordonLease | None, context: CommandContext
) -> tuple[Record | None, Sentence | None]:
    """Return the step, and what to say of a node that was not accepted since it was cordoned.

    A cluster where nothing was ever tested is left alone, and so is a node without GPUs.
    """
    cluster, name = context.cluster.name, node.metadata.name
    async with context.store.read() as snapshot:
        rows = await snapshot.rows(Acceptance).find(cluster=cluster)
    own = [one for one in rows if one.node == name]
    found = newest_of_nodes(own).get(name)
    if not rows or not nvidia_gpus(node.status.capacity or {}):
        return None, None
    if is_accepted(node, found) and found is not None and (lease is None or found.at >= lease.since):
        return None, None
    untested = sentence(
        "{node} was not accepted since it was cordoned: `node accept {node}` tests it.", node=name
    )
    if found is not None and not found.is_proof and (lease is None or found.at >= lease.since):
        return None, untested  # what its test said is kept
    number = 1 + max((int(one.id.rpartition("/")[2]) for one in own), default=0)
    row = Acceptance(
        id=f"{cluster}/{name}/{number}",
        cluster=cluster,
        node=name,
        uid=node.metadata.uid,
        boot_id=node.status.node_info.boot_id,
        model="",
        gpus=0,
        suite="",
        by=context.actor.person,
        by_name=context.actor.name,
        at=context.now,
        state=AcceptanceState.RETURNED,
        ended_at=context.now,
    )
    return _recorded(row, node, sentence("record that {node} returns without a test", node=name)), untested


def _recorded(row: Acceptance, node: Node, text: Sentence) -> Record:
    return record(
        "acceptances",
        row,
        text=text,
        undo_text=sentence("remove the record of how {node} returned", node=row.node),
        about=(not_ours(node),),
        about_undone=(cordoned(node, annotations_of(node)),),
    )
