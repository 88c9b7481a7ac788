"""The command `training why`: why a training does not run yet."""

from dataclasses import dataclass

import click

from collectors.facts.sentences import sentence, word
from collectors.trainings.training import Training
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext
from commands.core.idle_detection import find_idle
from commands.core.parameter_types import TRAINING as TRAINING_NAME
from commands.training.lookup import training_named
from commands.training.queue_objects import WHY_RIGHTS, queue_objects
from commands.training.training_runs import runs_like
from commands.training.why_card import why_card
from commands.training.why_waiting import WAITING, WaitInputs, WhyWaiting, why_waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyTraining:
    training: str


async def why(action: WhyTraining, context: CommandContext) -> Answer:
    """Return why it waits. Raises UnusableError for a training that does not wait."""
    training = training_named(action.training, context.cluster.trainings())
    if training.state not in WAITING:
        raise UnusableError(
            sentence(
                "{training} does not wait: it is {state}. `training show {typed}` shows it.",
                training=training.shown,
                state=word(training.state.value),
                typed=training.typed,
            )
        )
    found = await look_why(training, context, asks_for_idle=True)
    return Answer(message=why_card(training, found, context.now, may=context.may))


async def look_why(training: Training, context: CommandContext, *, asks_for_idle: bool) -> WhyWaiting:
    """Return why a training waits. `asks_for_idle`: whether the metrics are asked which GPUs are idle."""
    inventory, trainings = context.cluster.inventory(), context.cluster.trainings()
    idle = None
    if asks_for_idle:
        idle = await find_idle(context.cluster, now=context.now, after=context.defaults.idle_after)
    running = [one.shown for one in trainings if one.started and not one.state.is_over]
    async with context.store.read() as snapshot:
        runs = await runs_like(running, context.cluster.name, trainings, snapshot)
    return why_waiting(
        WaitInputs(
            training=training,
            trainings=trainings,
            inventory=inventory,
            objects=await queue_objects(training, inventory, context.cluster.reader),
            now=context.now,
            runs=runs,
            idle=idle,
        )
    )


WHY = Command(
    noun="training",
    verb="why",
    summary="Say why a training waits: the reason, who is before it, when it may start, and what would help.",
    action=WhyTraining,
    parameters=(click.Argument(["training"], type=TRAINING_NAME),),
    read=why,
    rights=WHY_RIGHTS,
    shows=("kubernetes", "prometheus"),
    example="training why detr",
    details="A start time is given only where deadlines, or earlier runs of what holds the room, say when that ends.",
)
