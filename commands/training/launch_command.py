"""The command `training launch`: its options, and the rights that it needs."""

from dataclasses import replace

import click

from collectors.facts.sentences import sentence
from commands.core.command import Command, PlanDraft
from commands.core.context import CommandContext
from commands.core.number_range import NumberRangeType
from commands.core.parameter_types import DURATION, ChoiceType, NumberType, WholeNumberType
from commands.core.parameters import RequiredUnless, WithFile, flag, option
from commands.execution.rights import Right, RightsOfKinds
from commands.execution.steps import Create
from commands.training import queues
from commands.training.filling_in import filled_in
from commands.training.launch import LaunchTraining, launch
from commands.training.launch_object import launch_object
from commands.training.manifests import SCRIPT_OBJECT
from commands.training.training_kinds import BY_OPTION, DEFAULT_KIND


class _KindType(ChoiceType):
    """A kind of the catalogue that can be launched. The catalogue is asked each time."""

    def __init__(self) -> None:
        super().__init__()
        # Click only iterates over them.
        self.choices = BY_OPTION.keys()  # type: ignore[assignment]


def _option(flag: str, text_: str, **more: object) -> click.Option:
    return click.Option([flag], help=text_, **more)  # type: ignore[arg-type]


_OPTIONS = (
    click.Argument(["name"]),
    RequiredUnless(
        ["--image"],
        unless=("--like", "--spec", "--from"),
        help="the container image of every task; not needed with `--like`, `--spec` or `--from`",
        metavar="IMAGE",
    ),
    option(
        "--workers",
        type=NumberRangeType(),
        default="1",
        metavar="N",
        help="how many workers, or a range such as 2..8 for an elastic training; default: 1",
    ),
    option(
        "--gpus", type=NumberType(), default=1, metavar="N", help="how many GPUs each worker gets; default: 1"
    ),
    option(
        "--kind",
        type=_KindType(),
        default=DEFAULT_KIND.option,
        help=sentence("the kind of training; default: {option}", option=DEFAULT_KIND.option),
    ),
    option(
        "--like",
        metavar="TRAINING",
        is_eager=True,
        help="a training that was launched here: all that the line does not say is as it was there",
    ),
    WithFile(
        ["--spec"], help="what the line does not say is in the YAML file that comes with it", is_eager=True
    ),
    WithFile(
        ["--from", "as_object"],
        help="create the object in the YAML file that comes with the line, as it is",
        is_eager=True,
    ),
    option(
        "--namespace",
        metavar="NAMESPACE",
        help="the namespace that is created for it; default: the training's name",
    ),
    option(
        "--gpu-resource",
        default="nvidia.com/gpu",
        metavar="RESOURCE",
        help="the resource by which GPUs are requested; default: nvidia.com/gpu",
    ),
    option(
        "--cpu", metavar="CPUS", help="the CPUs of each task, such as 8, 500m or 4..8; default: no request"
    ),
    option(
        "--memory",
        metavar="BYTES",
        help="the memory request and limit of each task, such as 64Gi; default: none",
    ),
    option(
        "--ps",
        type=WholeNumberType(),
        default=0,
        metavar="N",
        help="how many parameter servers; default: none",
    ),
    option(
        "--script",
        metavar="PATH",
        help="the path of a script in the image, which bash runs; or upload a script",
    ),
    option("--team", metavar="TEAM", help="the team that the training belongs to; default: none"),
    option(
        "--priority-class", metavar="CLASS", help="the priority class of the pods; default: the cluster's"
    ),
    option("--queue", metavar="QUEUE", help="the queue of Kueue or Volcano that it waits in"),
    option(
        "--queue-priority", metavar="CLASS", help="the WorkloadPriorityClass by which Kueue orders the queue"
    ),
    option("--max-duration", type=DURATION, help="the time after which the training is ended; default: none"),
    option(
        "--backoff",
        type=WholeNumberType(most=100),
        default=0,
        metavar="N",
        help="how often failed tasks are tried again; default: 0",
    ),
    option(
        "--not-on",
        multiple=True,
        metavar="NODE",
        help="a node that runs none of its tasks; can be given again",
    ),
    option(
        "--node-selector",
        multiple=True,
        metavar="KEY=VALUE",
        help="a label that the nodes must have, such as pool=large; can be repeated",
    ),
    option(
        "--metrics-port",
        type=WholeNumberType(least=1, most=65535),
        default=8080,
        metavar="PORT",
        help="the port that Prometheus scrapes; default: 8080",
    ),
    flag("--service-per-task", help="also create a Service for each task"),
    option(
        "--runtime",
        metavar="NAME",
        help="the runtime that describes what it runs, for a kind that has runtimes, such as a TrainJob",
    ),
    flag("--wait", help="launch it even if it does not fit now"),
)


def _rights() -> tuple[Right, ...]:
    return (
        *Create.rights("", "namespaces", "services"),
        *Create.rights("", "configmaps", names=(SCRIPT_OBJECT,)),
        Right(
            group="", resources=("secrets",), verbs=("create",)
        ),  # reading the copied one is granted by a Role
        *(right for kind in BY_OPTION.values() if kind.launching for right in kind.launching.rights),
        Right(group="scheduling.k8s.io", resources=("priorityclasses",), verbs=("get",)),
        *queues.QUEUE_RIGHTS,
    )


async def _launch(action: LaunchTraining, context: CommandContext) -> PlanDraft:
    if action.as_object:
        return await launch_object(action, context, LAUNCH)
    filled, context, given = await filled_in(action, context, LAUNCH)
    draft = await launch(filled, context, given)
    return replace(draft, is_fixed=draft.is_fixed or action.spec)


LAUNCH: Command[LaunchTraining] = Command(
    noun="training",
    verb="launch",
    summary="Launch a training in its own namespace, if it fits.",
    action=LaunchTraining,
    parameters=_OPTIONS,
    plan=_launch,
    rights=RightsOfKinds(_rights),
    example="training launch mnist --image registry.example/vision/mnist:7 --workers 4 --gpus 8 -- --epochs 90",
    details="The environment of each task has WORKER_HOSTS, PS_HOSTS, TASK_ROLE, TASK_INDEX, MASTER_ADDR and "
    "MASTER_PORT. The words after `--` are passed to the program unchanged, except that `$(NAME)` is replaced by "
    "the environment variable. Prometheus scrapes every task on `--metrics-port`.",
    allows_extra=True,
    repeats_last=True,
)
