"""This file has `training list|show|logs|launch|stop`."""

from dataclasses import dataclass

import click

from alerts.cards.message import Block, Context, Message, bold, text
from collectors.facts.redaction import Redactor
from collectors.trainings.catalogue import unseen_kinds
from commands.core.command import DURATION, Answer, Command, Right, UnusableError
from commands.core.context import CommandContext
from commands.plans.plan import Risk
from commands.training.details import training_details, training_table
from commands.training.launch import LaunchTraining, launch
from commands.training.logs import ShowLogs, show_logs
from commands.training.lookup import training_named
from commands.training.stop import StopTraining, stop


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTrainings:
    team: str
    all: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowTraining:
    training: str


async def listing(action: ListTrainings, context: CommandContext) -> Answer:
    """Those that are not over, the largest first; with `--all` the others too."""
    trainings = [one for one in context.cluster.trainings() if not action.team or one.team == action.team]
    shown = [one for one in trainings if action.all or not one.state.is_over]
    unseen = [
        f"{kind}s cannot be seen: {reason}"
        for kind, reason in unseen_kinds(context.cluster.inventory()).items()
    ]
    over = len(trainings) - len(shown)
    if not shown and not unseen and not over:
        raise UnusableError(_none(action.team, context))
    blocks: list[Block] = [training_table(shown, context.now)] if shown else []
    blocks += [Context(text=text(f"{over} more are over: `training list --all`."))] if over else []
    blocks += [Context(text=text(f"⚠ {reason}")) for reason in unseen]
    gpus = sum(one.gpus for one in shown)
    title = text(bold(f"{len(shown)} training{'s' if len(shown) != 1 else ''}"), f" with {gpus:g} GPUs")
    return Answer(message=Message(title=title, blocks=tuple(blocks)))


def _none(team: str, context: CommandContext) -> str:
    if not team:
        return "There are no trainings. `training launch` makes one."
    teams = ", ".join(sorted({one.team for one in context.cluster.trainings() if one.team})) or "none"
    return f"Team {team} has no trainings. Teams that have: {teams}."


async def show(action: ShowTraining, context: CommandContext) -> Answer:
    training = training_named(action.training, context.cluster.trainings())
    async with context.store.unit() as unit:
        incidents = await unit.incidents.find(cluster=context.cluster.name, state="open")
    told = [(one.id, one.lead.summary) for one in incidents if one.subject.training == training.id]
    redactor = Redactor(context.defaults.redact)
    return Answer(
        message=training_details(
            training,
            context.cluster.inventory(),
            context.now,
            may=context.may,
            incidents=told,
            redactor=redactor,
        )
    )


async def logs(action: ShowLogs, context: CommandContext) -> Answer:
    training = training_named(action.training, context.cluster.trainings())
    return Answer(message=await show_logs(training, action, context))


def _option(flag: str, text_: str, **more: object) -> click.Option:
    return click.Option([flag], help=text_, **more)  # type: ignore[arg-type]


_TRAINING = click.Argument(["training"])
_LAUNCH = (
    click.Argument(["name"]),
    _option("--image", "of every task", required=True, metavar="IMAGE"),
    _option("--namespace", "default: the training's name", default="", metavar="NAMESPACE"),
    _option("--workers", "how many", type=int, default=1, metavar="N"),
    _option("--gpus", "of each worker", type=float, default=1, metavar="N"),
    _option("--gpu-resource", "whole GPUs, slices or shares", default="nvidia.com/gpu", metavar="RESOURCE"),
    _option("--cpu", "of each task: 8, 500m", default="", metavar="CPUS"),
    _option("--memory", "of each task, and the most it may use: 64Gi", default="", metavar="BYTES"),
    _option("--ps", "parameter servers", type=int, default=0, metavar="N"),
    _option("--script", "in the image, run by bash; or upload one with the line", default="", metavar="PATH"),
    _option("--team", "that it counts for", default="", metavar="TEAM"),
    _option("--priority-class", "of its pods", default="", metavar="CLASS"),
    _option("--max-duration", "after which it is ended", type=DURATION, default=None, metavar="DURATION"),
    _option("--backoff", "failed tasks to start anew", type=click.IntRange(0, 100), default=0, metavar="N"),
    _option("--node-selector", "may be repeated: pool=large", multiple=True, metavar="KEY=VALUE"),
    _option(
        "--metrics-port", "that Prometheus asks", type=click.IntRange(1, 65535), default=8080, metavar="PORT"
    ),
    _option("--service-per-task", "a Service for each task, as well", is_flag=True),
    _option("--wait", "launch it although it does not fit now", is_flag=True),
)

_LAUNCH_RIGHTS = (
    Right(group="", resources=("namespaces",), verbs=("get", "create")),
    Right(group="", resources=("secrets",), verbs=("create",)),  # the one that is copied is named in a Role
    Right(group="", resources=("services", "configmaps"), verbs=("get", "create")),
    Right(group="apps", resources=("deployments",), verbs=("get", "create")),
    Right(group="batch", resources=("jobs",), verbs=("get", "create", "patch")),
)
STOP_RIGHTS = (
    Right(group="", resources=("namespaces",), verbs=("get", "delete")),
    Right(group="", resources=("services", "configmaps"), verbs=("list", "delete")),
    Right(group="apps", resources=("deployments", "statefulsets"), verbs=("get", "delete")),
    Right(group="batch", resources=("jobs",), verbs=("get", "delete")),
)

COMMANDS = (
    Command(
        noun="training",
        verb="list",
        summary="List trainings: where they stand, ranks, GPUs, whose they are.",
        action=ListTrainings,
        parameters=(
            click.Option(["--team"], default="", metavar="TEAM"),
            click.Option(["--all"], is_flag=True, help="those that are over, too"),
        ),
        read=listing,
        example="training list --team vision",
    ),
    Command(
        noun="training",
        verb="show",
        summary="Show a training: why it stands where it does, its ranks, what failed first, events.",
        action=ShowTraining,
        parameters=(_TRAINING,),
        read=show,
        example="training show detr",
    ),
    Command(
        noun="training",
        verb="logs",
        summary="Show the last log lines of a rank, also when its pod is gone.",
        action=ShowLogs,
        parameters=(
            _TRAINING,
            click.Option(["--rank"], default="", metavar="RANK", help="3, ps-0; default: what failed first"),
            click.Option(["--previous"], is_flag=True, help="of the run before its last restart"),
            click.Option(["--tail"], type=click.IntRange(1, 2000), default=100, metavar="LINES"),
        ),
        read=logs,
        rights=(Right(group="", resources=("pods/log",), verbs=("get",)),),
        example="training logs detr --rank 3 --tail 200",
    ),
    Command(
        noun="training",
        verb="launch",
        summary="Launch a training in a namespace of its own, if it fits.",
        action=LaunchTraining,
        parameters=_LAUNCH,
        plan=launch,
        risk=Risk.TOUCH,
        rights=_LAUNCH_RIGHTS,
        example="training launch mnist --image registry.example/vision/mnist:7 --workers 4 --gpus 8 -- --epochs 90",
        details="Every task finds WORKER_HOSTS, PS_HOSTS, TASK_ROLE, TASK_INDEX, MASTER_ADDR and MASTER_PORT in its "
        "environment. The words after `--` go to the program as they are; only `$(NAME)` of that environment is "
        "filled in. Prometheus asks every task on `--metrics-port`.",
        allows_extra=True,
    ),
    Command(
        noun="training",
        verb="stop",
        summary="Stop a training for good: its controllers, or the namespace that was made for it.",
        action=StopTraining,
        parameters=(
            _TRAINING,
            click.Option(["--keep-namespace"], is_flag=True, help="and the volume claims in it"),
        ),
        plan=stop,
        risk=Risk.TOUCH,
        rights=STOP_RIGHTS,
        example="training stop detr",
    ),
)
