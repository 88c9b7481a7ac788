"""Trainings whose GPUs `gpu free` may request: those that are named, or all idle ones."""

from collectors.facts.sentences import counted, listed, sentence, word
from collectors.gpu_activity import Activity
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.gpu.idle_trainings import TrainingGpus, way_to_free
from commands.training.lookup import training_named

NAMED = 8  # skipped trainings listed by name
NAME = "gpu free"


def idle_ones(
    names: tuple[str, ...], found: tuple[TrainingGpus, ...], context: CommandContext
) -> list[TrainingGpus]:
    """Return the named trainings, which must be idle, or all idle ones."""
    if not names:
        return [one for one in found if one.training is not None and one.activity is Activity.IDLE]
    selected: list[TrainingGpus] = []
    for name in names:
        if (other := _workload_named(name, found)) is not None:
            raise UnusableError(
                sentence(
                    "{workload} is not a training, so its GPUs cannot be requested: {way}.",
                    workload=other.name,
                    way=way_to_free(other),
                )
            )
    for training in {
        training.id: training
        for name in names
        for training in [training_named(name, context.cluster.trainings())]
    }.values():
        gpus = next(
            (one for one in found if one.training is not None and one.training.id == training.id), None
        )
        if gpus is None:
            raise UnusableError(
                sentence(
                    "{training} holds no GPUs ({state}).",
                    training=training.shown,
                    state=word(training.state.value),
                )
            )
        if gpus.activity is Activity.UNKNOWN:
            raise UnusableError(
                sentence(
                    "It is not known whether {training} is idle: {reason}.",
                    training=training.shown,
                    reason=gpus.reason,
                )
            )
        if gpus.activity is not Activity.IDLE:
            raise UnusableError(
                sentence(
                    "{training} is not idle: {activity}.",
                    training=training.shown,
                    activity=_activity_text(gpus),
                )
            )
        selected.append(gpus)
    return selected


def _workload_named(name: str, found: tuple[TrainingGpus, ...]) -> TrainingGpus | None:
    """Return the workload that is not a training by its name, alone, with its namespace, or as it is listed."""
    trainings = {
        known.casefold()
        for one in found
        if one.training
        for known in (one.training.id, one.training.shown, one.training.name)
    }
    others = [one for one in found if one.training is None] if name.casefold() not in trainings else []
    return next((one for one in others if name.casefold() in {each.casefold() for each in one.names}), None)


def permitted(selected: list[TrainingGpus], context: CommandContext) -> tuple[list[TrainingGpus], list[str]]:
    """Return the trainings in namespaces where the actor may free GPUs, and a note about the others, if any.

    A request without an answer suspends its training, so the permission is checked in that training's namespace.
    """
    found: list[TrainingGpus] = []
    others: list[str] = []
    for one in selected:
        assert one.training is not None
        if context.refusal(NAME, one.training.namespace) is None:
            found.append(one)
        else:
            others.append(one.training.shown)
    return found, [
        sentence(
            "{trainings}: you are not allowed to run `{command}` there",
            trainings=listed(others, most=NAMED),
            command=NAME,
        )
    ] if others else []


def _activity_text(of: TrainingGpus) -> str:
    match of.activity:
        case Activity.BUSY:
            busy = counted("its {count:g} GPU is busy", "some of its {count:g} GPUs are busy", count=of.count)
            if not of.idle:
                return busy
            return counted(
                "{busy}, though {count:g} of them is idle",
                "{busy}, though {count:g} of them are idle",
                busy=busy,
                count=of.idle,
            )
        case Activity.YOUNG:
            return sentence("it has not run long enough")
        case Activity.UNKNOWN:
            return sentence("its activity is not known: {reason}", reason=of.reason)
        case Activity.IDLE:
            return sentence("it is idle")
