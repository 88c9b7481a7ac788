"""The commands `gpu list|cordon|uncordon|idle|free|request|keep|snooze|agree|release|settle`."""

import click

from commands.core.command import Command
from commands.core.parameter_types import DURATION, NODE, REQUEST, TEAM, TRAINING
from commands.core.parameters import flag, lasting_option, option, reason_option
from commands.execution.rights import RightsOfKinds
from commands.gpu.accept_gpu import ACCEPT_GPU
from commands.gpu.cordon_gpu import CORDON
from commands.gpu.gpu_lists import ListGpus, ListIdleGpus, idle, listing
from commands.gpu.owner_answers import AnswerReclaim, ShowRequest, agree, keep, release, show_request, snooze
from commands.gpu.reclaim import FreeGpus, free
from commands.gpu.unanswered import SettleReclaim, settle
from commands.gpu.uncordon_gpu import UNCORDON
from commands.gpu.undo_rules import UNDOING
from commands.models import ReclaimRequest
from commands.training.workload_steps import suspend_rights

_REQUEST = click.Argument(["request"], type=REQUEST)
_REASON = reason_option("why, shown on the card")
_ANSWERS = "For the owner, and for teams that have `gpu free` there."
_OF_BOTH = "It answers a request for idle GPUs, or a request from a plan that would end the training."
_AFTER = option(
    "--after", type=DURATION, help="how long the GPUs must have been idle; default: 30m, or the settings"
)
_OF_IT = option("--training", type=TRAINING, help="only this one of those that the request is about")
COMMANDS = (
    Command(
        noun="gpu",
        verb="list",
        summary="List GPUs: used, idle, free and broken, by team and by node.",
        action=ListGpus,
        parameters=(
            option("--node", type=NODE, help="only this node"),
            option("--team", type=TEAM, help="only nodes where this team holds GPUs"),
            flag("--free", help="only nodes with free GPUs"),
        ),
        read=listing,
        shows=("kubernetes", "prometheus"),
        example="gpu list --free",
    ),
    CORDON,
    UNCORDON,
    ACCEPT_GPU,
    Command(
        noun="gpu",
        verb="idle",
        summary="List GPUs that are held and idle, with their owners.",
        action=ListIdleGpus,
        parameters=(_AFTER,),
        read=idle,
        shows=("kubernetes", "prometheus"),
        example="gpu idle --after 1h",
        details="A GPU counts as idle only if there are samples for the whole window and none shows work.",
    ),
    Command(
        noun="gpu",
        verb="free",
        summary="Free idle GPUs: your own at once; other owners are asked, and without an answer their training "
        "is suspended.",
        action=FreeGpus,
        parameters=(
            click.Argument(["trainings"], type=TRAINING, nargs=-1, required=False),
            _AFTER,
            option(
                "--grace",
                type=DURATION,
                help="how long the owner may take to answer; default: 30m, or the settings",
            ),
        ),
        plan=free,
        rights=RightsOfKinds(suspend_rights),
        example="gpu free detr --grace 1h",
    ),
    Command(
        noun="gpu",
        verb="request",
        summary="Show a request for idle GPUs: its evidence and its answer.",
        action=ShowRequest,
        parameters=(_REQUEST,),
        read=show_request,
        table=ReclaimRequest,
        example="gpu request c3f9a1b2",
    ),
    Command(
        noun="gpu",
        verb="keep",
        summary="Answer a request: the GPUs are needed.",
        action=AnswerReclaim,
        parameters=(_REQUEST, _REASON, _OF_IT),
        record=keep,
        checks_permission_itself=True,
        for_whom=_ANSWERS,
        details=_OF_BOTH,
        table=ReclaimRequest,
        example='gpu keep c3f9a1b2 --reason "loads its data until noon"',
    ),
    Command(
        noun="gpu",
        verb="snooze",
        summary="Answer a request: the GPUs are needed for a while.",
        action=AnswerReclaim,
        parameters=(
            _REQUEST,
            lasting_option("how much longer; default: 2h", default="2h"),
            _REASON,
            _OF_IT,
        ),
        record=snooze,
        checks_permission_itself=True,
        for_whom=_ANSWERS,
        details=_OF_BOTH,
        table=ReclaimRequest,
        example="gpu snooze c3f9a1b2 --for 2h",
    ),
    Command(
        noun="gpu",
        verb="agree",
        summary="Answer a request of a plan: it may end the training, now or after the next checkpoint.",
        action=AnswerReclaim,
        parameters=(
            _REQUEST,
            flag("--after-checkpoint", help="once the training has written its next checkpoint"),
            _OF_IT,
        ),
        record=agree,
        checks_permission_itself=True,
        for_whom="For the owner only.",
        table=ReclaimRequest,
        example="gpu agree c3f9a1b2 --after-checkpoint",
    ),
    Command(
        noun="gpu",
        verb="release",
        summary="Answer a request: the GPUs can be freed now.",
        action=AnswerReclaim,
        parameters=(_REQUEST,),
        plan=release,
        relieves=("GPUIdle",),
        checks_permission_itself=True,
        for_whom="For the owner, and for teams that have `training stop` there.",
        rights=RightsOfKinds(suspend_rights),
        table=ReclaimRequest,
        example="gpu release c3f9a1b2",
    ),
    Command(
        noun="gpu",
        verb="settle",
        summary="Settle a request without an answer; the automation `reclaim` runs this when it is due.",
        action=SettleReclaim,
        parameters=(_REQUEST,),
        plan=settle,
        relieves=("GPUIdle",),
        rights=RightsOfKinds(suspend_rights),
        undoing=UNDOING,
        table=ReclaimRequest,
        example="gpu settle c3f9a1b2",
    ),
)
