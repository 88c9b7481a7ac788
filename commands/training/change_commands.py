"""The commands that change a training that is there: `training suspend|resume|retry|scale|reprioritise`."""

import click

from commands.core.command import Command
from commands.core.parameter_types import TRAINING, WholeNumberType
from commands.execution.rights import Right, RightsOfKinds
from commands.execution.steps import Create, Delete
from commands.training import kueue_steps
from commands.training.reprioritising import ReprioritiseTraining, reprioritise
from commands.training.retrying import RetryTraining, retry
from commands.training.scaling import ScaleTraining, scale_workers
from commands.training.spec_checks import MAX_WORKERS
from commands.training.suspension import ResumeTraining, SuspendTraining, resume_training, suspend_training
from commands.training.training_kinds import KINDS
from commands.training.workload_steps import suspend_rights

_TRAINING = click.Argument(["training"], type=TRAINING)


def _plural(path: str) -> str:
    return path.rpartition("/")[2]


def _retry_rights() -> tuple[Right, ...]:
    kinds = [(kind.objects.group, _plural(kind.objects.path)) for kind in KINDS.values()]
    return tuple(
        right
        for group, plural in kinds
        for right in (*Delete.rights(group, plural), *Create.rights(group, plural))
    )


def _scale_rights() -> tuple[Right, ...]:
    return tuple(right for kind in KINDS.values() if kind.scaling for right in kind.scaling.rights)


def _reprioritise_rights() -> tuple[Right, ...]:
    """Kueue follows a label of any kind; a class is read by its name."""
    return (
        *kueue_steps.KUEUE_RIGHTS,
        *(
            Right(group=kind.objects.group, resources=(_plural(kind.objects.path),), verbs=("get", "patch"))
            for kind in KINDS.values()
        ),
        Right(group="kueue.x-k8s.io", resources=("workloadpriorityclasses",), verbs=("get",)),
        Right(group="scheduling.k8s.io", resources=("priorityclasses",), verbs=("get",)),
    )


CHANGES = (
    Command(
        noun="training",
        verb="suspend",
        summary="Suspend a training: its pods end and its GPUs are free, until it is resumed.",
        action=SuspendTraining,
        parameters=(_TRAINING,),
        plan=suspend_training,
        relieves=("GPUIdle", "TrainingPending"),
        rights=RightsOfKinds(suspend_rights),
        example="training suspend detr",
    ),
    Command(
        noun="training",
        verb="resume",
        summary="Resume a suspended training: its pods start again, or it goes back into its queue.",
        action=ResumeTraining,
        parameters=(_TRAINING,),
        plan=resume_training,
        rights=RightsOfKinds(suspend_rights),
        example="training resume detr",
    ),
    Command(
        noun="training",
        verb="retry",
        summary="Run a training that has ended once more, as it was launched.",
        action=RetryTraining,
        parameters=(_TRAINING,),
        plan=retry,
        rights=RightsOfKinds(_retry_rights),
        example="training retry detr",
    ),
    Command(
        noun="training",
        verb="scale",
        summary="Change how many workers a training has, where its kind can.",
        action=ScaleTraining,
        parameters=(_TRAINING, click.Argument(["workers"], type=WholeNumberType(least=1, most=MAX_WORKERS))),
        plan=scale_workers,
        rights=RightsOfKinds(_scale_rights),
        example="training scale detr 8",
    ),
    Command(
        noun="training",
        verb="reprioritise",
        summary="Give a training another priority, where its queue or its kind can.",
        action=ReprioritiseTraining,
        parameters=(_TRAINING, click.Argument(["priority_class"])),
        plan=reprioritise,
        rights=RightsOfKinds(_reprioritise_rights),
        example="training reprioritise detr high",
    ),
)
