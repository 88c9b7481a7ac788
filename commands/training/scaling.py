"""Planning to change how many workers a training has, where its kind can."""

from dataclasses import dataclass

from collectors.facts.sentences import sentence
from collectors.facts.workload_keys import shown_kind
from commands.core.command import PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import reader_of
from commands.execution.plan import in_order
from commands.training import kueue_steps
from commands.training.lookup import training_named
from commands.training.notes_before import notes_before
from commands.training.stop import disruption_of
from commands.training.training_kinds import writing_kind_of
from commands.training.workload_steps import tops_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleTraining:
    training: str
    workers: int


async def scale_workers(action: ScaleTraining, context: CommandContext) -> PlanDraft:
    """Plan to change the number of workers. Raises UnusableError where that is not possible, and says what is."""
    training = training_named(action.training, context.cluster.trainings())
    kind = writing_kind_of(training)
    inventory = context.cluster.inventory()
    if training.state.is_over:
        raise UnusableError(
            sentence("{training} has ended: it has no workers to scale.", training=training.shown)
        )
    scaling = kind.scaling
    own = [(ref, one) for ref, one in tops_of(training, inventory) if one.kind_in_keys() == kind.name]
    if scaling is None or len(own) != 1:
        raise UnusableError(
            sentence(
                "The number of workers of {training} cannot change, as it is of kind {kind}: `training stop "
                "{typed}`, and launch it again with `--workers {workers}`.",
                training=training.shown,
                kind=shown_kind(kind.name),
                typed=training.typed,
                workers=action.workers,
            )
        )
    ((ref, found),) = own
    if kueue_steps.is_managed(found):
        raise UnusableError(
            sentence(
                "Kueue has admitted {training} with the workers that it has, and would start it again with others: "
                "`training stop {typed}`, and launch it again with `--workers {workers}`.",
                training=training.shown,
                typed=training.typed,
                workers=action.workers,
            )
        )
    if refusal := scaling.refusal(found):
        raise UnusableError(refusal)
    now = scaling.workers(found)
    if now == action.workers:
        return PlanDraft.nothing(
            sentence("{training} has {workers} workers already.", training=training.shown, workers=now)
        )
    raw = await reader_of(context).read(ref)
    if raw is None:
        raise UnusableError(sentence("{ref} no longer exists.", ref=str(ref)))
    is_less = action.workers < now
    return PlanDraft(
        title=sentence(
            "Scale {training} from {now} to {workers} workers",
            training=training.shown,
            now=now,
            workers=action.workers,
        ),
        stages=in_order(scaling.step(ref, raw, action.workers)),
        notes=(scaling.note, *notes_before("scale", training, inventory)),
        disrupts=(disruption_of(training),) if is_less else (),
    )
