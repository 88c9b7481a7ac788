"""The commands of trainings: `training list|show|logs|stop`, and those of other files."""

from dataclasses import dataclass

import click

from alerts.cards.headline import headline
from alerts.cards.message import Block, Context, Message
from alerts.cards.text import bold, text
from alerts.incidents.incident import Incident
from collectors.facts.redaction import Redactor
from collectors.facts.sentences import counted, listed, sentence
from collectors.trainings.catalogue import unseen_kinds
from collectors.trainings.training import Training
from commands.core.command import Answer, Command, UnknownNameError, UnusableError
from commands.core.context import CommandContext
from commands.core.named_incident import open_incidents
from commands.core.ownership import owner_names
from commands.core.parameter_types import DURATION, RANK_NAME, TEAM
from commands.core.parameter_types import TRAINING as TRAINING_NAME
from commands.core.parameters import ask_owners_option, flag, option
from commands.core.pod_lines import READ_LOGS, log_options
from commands.execution.rights import Right, RightsOfKinds
from commands.execution.steps import Delete
from commands.training.change_commands import CHANGES
from commands.training.details import training_details, training_table
from commands.training.failure_cause import cause_of, death_of
from commands.training.failure_shown import known_failure
from commands.training.launch_command import LAUNCH
from commands.training.logs import ShowLogs, show_logs
from commands.training.lookup import training_named
from commands.training.manifests import SCRIPT_OBJECT
from commands.training.past_failures import failure_named, gone_details, recent_failures, with_causes
from commands.training.queue_objects import WHY_RIGHTS
from commands.training.show_rows import as_json, link_buttons, look_up, more_rows
from commands.training.stop import StopTraining, stop
from commands.training.undo_rules import UNDOING
from commands.training.why import WHY
from commands.training.workload_steps import delete_rights


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTrainings:
    team: str
    all: bool
    mine: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowTraining:
    training: str
    json: bool = False


async def listing(action: ListTrainings, context: CommandContext) -> Answer:
    """Return the trainings that have not ended, largest first; with `--all` the ended ones too."""
    own = owner_names(context.actor, context.defaults.owners) if action.mine else ()
    trainings = [
        one
        for one in context.cluster.trainings()
        if (not action.team or one.team == action.team) and (not action.mine or one.owner in own)
    ]
    shown = [one for one in trainings if action.all or not one.state.is_over]
    unseen = [
        sentence("{kind}s cannot be seen: {reason}", kind=kind, reason=reason)
        for kind, reason in unseen_kinds(context.cluster.inventory()).items()
    ]
    over = len(trainings) - len(shown)
    if not shown and not unseen and not over:
        raise UnusableError(_none(action, context))
    blocks: list[Block] = [training_table(shown, context.now)] if shown else []
    blocks += (
        [Context(text=text(sentence("{over} more ended: `training list --all`.", over=over)))] if over else []
    )
    blocks += [Context(text=text("⚠ ", reason)) for reason in unseen]
    gpus = sum(one.gpus for one in shown)
    trainings_shown = bold(counted("{count} training", "{count} trainings", count=len(shown)))
    title = text(
        counted(
            "{trainings} with {count:g} GPU",
            "{trainings} with {count:g} GPUs",
            trainings=trainings_shown,
            count=gpus,
        )
    )
    return Answer(message=Message(title=title, blocks=tuple(blocks)))


def _none(action: ListTrainings, context: CommandContext) -> str:
    team = action.team
    if action.mine:
        return sentence("You have no trainings. `training list` shows everybody's.")
    if not team:
        return sentence("There are no trainings. `training launch` starts one.")
    teams = listed(sorted({one.team for one in context.cluster.trainings() if one.team})) or sentence("none")
    return sentence("Team {team} has no trainings. Teams with trainings: {teams}.", team=team, teams=teams)


async def show(action: ShowTraining, context: CommandContext) -> Answer:
    try:
        training = training_named(action.training, context.cluster.trainings())
    except UnknownNameError:
        if (gone := await _gone(action.training, context)) is None:
            raise
        return gone
    incidents = await open_incidents(context)
    async with context.store.read() as snapshot:
        cause = await cause_of(death_of(training, context.cluster.name), snapshot)
    affecting = [
        (one.id, headline(one))
        for one in incidents
        if (cause is None or one.id != cause.id)
        and (one.subject.training in _stored(training) or _died_of(training, one))
    ]
    affecting += [(cause.id, headline(cause))] if cause is not None else []
    redactor = Redactor(context.defaults.redact)
    more = await look_up(training, context)
    failure = await known_failure(training, cause, context)
    if action.json:
        return Answer(message=as_json(training, more, failure, context.now, redactor))
    return Answer(
        message=training_details(
            training,
            context.cluster.inventory(),
            context.now,
            may=context.may,
            incidents=affecting,
            failure=failure,
            redactor=redactor,
            more=more_rows(training, more, context.now),
            links=link_buttons(more),
        )
    )


async def _gone(name: str, context: CommandContext) -> Answer | None:
    """Return why a training failed that no longer exists; None for any other."""
    async with context.store.read() as snapshot:
        failures = await recent_failures(context.cluster.name, snapshot, context.now)
        if (notice := failure_named(name, failures)) is None:
            return None
        (failure,) = await with_causes([notice], snapshot)
    return Answer(message=gone_details(failure))


def _died_of(training: Training, incident: Incident) -> bool:
    return any(one.training in _stored(training) and one.failed_at for one in incident.impacts)


def _stored(training: Training) -> tuple[str, ...]:
    """Return what rows have for the training: its key, or in old rows its name."""
    return (training.id,) if training.is_name_shared else (training.id, training.shown)


async def logs(action: ShowLogs, context: CommandContext) -> Answer:
    training = training_named(action.training, context.cluster.trainings())
    return Answer(message=await show_logs(training, action, context))


_TRAINING = click.Argument(["training"], type=TRAINING_NAME)
_STOP_RIGHTS = RightsOfKinds(
    lambda: (
        *Delete.rights("", "namespaces", "services"),
        *Delete.rights("", "configmaps", names=(SCRIPT_OBJECT,)),
        Right(group="", resources=("services",), verbs=("list",)),
        *delete_rights(),
    )
)

COMMANDS = (
    Command(
        noun="training",
        verb="list",
        summary="List trainings: state, ranks, GPUs and owners.",
        action=ListTrainings,
        parameters=(
            option("--team", type=TEAM, help="only trainings of this team"),
            flag("--mine", help="only your own"),
            flag("--all", help="also trainings that have ended"),
        ),
        read=listing,
        example="training list --team vision",
    ),
    Command(
        noun="training",
        verb="show",
        summary="Show a training: its state and why, ranks, first failure, events.",
        action=ShowTraining,
        parameters=(_TRAINING, flag("--json", help="as JSON, for programs")),
        read=show,
        rights=WHY_RIGHTS,
        example="training show detr",
    ),
    WHY,
    Command(
        noun="training",
        verb="logs",
        summary="Show the last log lines of a rank or of all, even if its pod is gone.",
        action=ShowLogs,
        parameters=(
            _TRAINING,
            option(
                "--rank",
                type=RANK_NAME,
                help="the rank, such as 3 or ps-0; default: the one that failed first",
            ),
            flag("--all", help="of all ranks, grouped by what they say first"),
            flag("--errors", help="only lines about an error"),
            option("--since", type=DURATION, help="only lines that are not older"),
            flag("--follow", help="show new lines for five minutes, in a message that is edited"),
            *log_options(),
        ),
        read=logs,
        rights=(READ_LOGS,),
        example="training logs detr --rank 3 --tail 200",
    ),
    LAUNCH,
    *CHANGES,
    Command(
        noun="training",
        verb="stop",
        summary="Stop a training for good: delete its controllers, or the namespace created for it.",
        action=StopTraining,
        parameters=(
            _TRAINING,
            flag("--keep-namespace", help="leave the namespace and its volume claims"),
            ask_owners_option(),
        ),
        plan=stop,
        relieves=("GPUIdle", "TrainingPending"),
        rights=_STOP_RIGHTS,
        undoing=UNDOING,
        example="training stop detr",
    ),
)
