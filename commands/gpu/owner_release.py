"""The steps by which an owner gives GPUs back: nobody is asked, and an open request is answered by them. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from collectors.facts.sentences import sentence
from commands.core.context import CommandContext
from commands.execution.record_steps import forget
from commands.execution.steps import Record, Step
from commands.gpu.reclaim_requests import freed_step
from commands.models import DueCommand, ReclaimRequest, ReclaimState

UNDONE = sentence("Its work since the last checkpoint is lost; undoing this plan restarts it.")


def answered(reclaim: ReclaimRequest, context: CommandContext) -> ReclaimRequest:
    """Return the request with who answered it, and when."""
    return replace(reclaim, answered_by=context.actor.person, answered_at=context.now)


def answer_steps(
    reclaim: ReclaimRequest, due: DueCommand | None, steps: Sequence[Step], context: CommandContext
) -> tuple[Record, ...]:
    """Return the steps that record that `steps` freed what was requested, and that nothing settles it any more."""
    freed = replace(answered(reclaim, context), state=ReclaimState.FREED)
    said = sentence("close the request")
    forgotten = (forget("agenda", due, text=said, goes_with=reclaim.id),) if due else ()
    return freed_step(freed, steps, before=reclaim), *forgotten
