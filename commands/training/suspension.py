"""Planning to suspend a training, so that its GPUs are free, and to resume it."""

from dataclasses import dataclass

from collectors.facts.sentences import sentence, word
from collectors.trainings.training import Training, TrainingState
from commands.core.command import PlanDraft
from commands.core.context import CommandContext
from commands.execution.plan import in_order
from commands.training.lookup import training_named
from commands.training.notes_before import notes_before
from commands.training.stop import disruption_of, lost_work
from commands.training.workload_steps import resume_steps, suspend_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspendTraining:
    training: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeTraining:
    training: str


async def suspend_training(action: SuspendTraining, context: CommandContext) -> PlanDraft:
    """Plan to suspend all that a training consists of. Raises UnusableError where its kind cannot."""
    training = training_named(action.training, context.cluster.trainings())
    inventory = context.cluster.inventory()
    steps = () if training.state.is_over else suspend_steps(training, inventory)
    if not steps:
        return _nothing(training)
    notes = [await lost_work(training, context)] if training.ranks else []
    return PlanDraft(
        title=sentence("Suspend {training}", training=training.shown),
        stages=in_order(*steps),
        notes=(*notes, *notes_before("suspend", training, inventory)),
        disrupts=(disruption_of(training),),
    )


async def resume_training(action: ResumeTraining, context: CommandContext) -> PlanDraft:
    """Plan to resume a training that somebody suspended."""
    training = training_named(action.training, context.cluster.trainings())
    inventory = context.cluster.inventory()
    steps, notes = resume_steps(training, inventory)
    if training.state.is_over or not steps:
        return _nothing(training)
    return PlanDraft(
        title=sentence("Resume {training}", training=training.shown),
        stages=in_order(*steps),
        notes=(*notes, *notes_before("resume", training, inventory)),
    )


def _nothing(training: Training) -> PlanDraft:
    state = word(training.state.value)
    if training.state is TrainingState.SUSPENDED:
        said = sentence(
            "{training} is suspended already: `training resume {typed}` resumes it.",
            training=training.shown,
            typed=training.typed,
        )
    elif training.state.is_over:
        said = sentence(
            "{training} has ended ({state}): `training retry {typed}` runs it again.",
            training=training.shown,
            state=state,
            typed=training.typed,
        )
    else:
        said = sentence("{training} is {state}: nobody suspended it.", training=training.shown, state=state)
        if training.reason:
            said = sentence(
                "{training} is {state}, and nobody suspended it: {reason}.",
                training=training.shown,
                state=state,
                reason=training.reason,
            )
    return PlanDraft.nothing(said)
