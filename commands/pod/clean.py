"""`pod clean`: delete pods that have finished or were evicted, at most so many at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto

from collectors.cluster.indexes import controller_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import JOBS
from collectors.cluster.objects import Pod
from collectors.facts.name_patterns import fits_any
from collectors.facts.sentences import Sentence, counted, listed, sentence
from collectors.facts.workload_keys import BUILT_IN_KINDS, parse_workload
from collectors.pod_troubles import ended_at
from commands.core.command import Command, PlanDraft
from commands.core.context import CommandContext
from commands.core.named_pod import ref_of_pod, user_of_pod
from commands.core.parameter_types import DURATION, NAMESPACE_NAME, NODE
from commands.core.parameters import flag, option
from commands.execution.plan import Stage
from commands.execution.steps import Delete

AT_ONCE = 10
MOST = 100  # pods of one plan
OLDER = timedelta(hours=1)
_NAMED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanPods:
    namespace: str
    node: str
    evicted: bool
    older: timedelta


class _Kept(Enum):
    """Why a finished pod stays."""

    OF_TRAINING = auto()
    OF_JOB = auto()
    OF_OTHERS = auto()


async def clean(action: CleanPods, context: CommandContext) -> PlanDraft:
    """Plan to delete pods that ended long enough ago, the oldest first. Those that somebody still reads stay."""
    inventory = context.cluster.inventory()
    found = [pod for pod in _pods(action, inventory) if _is_meant(pod, action, context)]
    kept = [(pod, reason) for pod in found if (reason := _kept(pod, inventory, context)) is not None]
    stay = {pod.key for pod, _ in kept}
    deleted = sorted(
        (pod for pod in found if pod.key not in stay), key=lambda pod: (str(ended_at(pod)), pod.key)
    )
    notes = _kept_notes([reason for _, reason in kept])
    if not deleted:
        none = sentence("No pod has finished or was evicted longer than {older} ago.", older=action.older)
        return PlanDraft.nothing(listed((none, *notes), "."))
    now, later = deleted[:MOST], len(deleted) - MOST
    steps = tuple(
        Delete(ref=ref_of_pod(pod), description=sentence("delete {pod} ({how})", pod=pod.key, how=_how(pod)))
        for pod in now
    )
    if later > 0:
        more = counted(
            "{count} more pod is left for next time: at most {most} are deleted at once.",
            "{count} more pods are left for next time: at most {most} are deleted at once.",
            count=later,
            most=MOST,
        )
        notes.append(more)
    return PlanDraft(
        title=counted("Delete {count} finished pod", "Delete {count} finished pods", count=len(now)),
        stages=(Stage(steps=steps, at_once=AT_ONCE),),
        decided=(sentence("pods that ended longer than {older} ago", older=action.older),),
        notes=(*notes, _on_logs(context)),
    )


def _pods(action: CleanPods, inventory: Inventory) -> Sequence[Pod]:
    return inventory.pods_on(action.node) if action.node else tuple(inventory.pods.values())


def _is_meant(pod: Pod, action: CleanPods, context: CommandContext) -> bool:
    """Whether the pod has ended long ago, in a namespace where the actor may delete it."""
    meta, ended = pod.metadata, ended_at(pod)
    if pod.status.phase not in ("Failed", "Succeeded") or meta.deletion_timestamp is not None:
        return False
    if action.evicted and pod.status.reason != "Evicted":
        return False
    if action.namespace and meta.namespace != action.namespace:
        return False
    if ended is None or ended > context.now - action.older:
        return False
    return bool(action.namespace) or fits_any(meta.namespace, context.granted("pod clean") or ("*",))


def _kept(pod: Pod, inventory: Inventory, context: CommandContext) -> _Kept | None:
    """Return why a pod stays whose end somebody still reads; None for one that nobody needs."""
    if pod.status.reason == "Evicted":
        return None
    user = user_of_pod(pod, context)
    if user.training is not None:
        return _Kept.OF_TRAINING
    owner = controller_of(pod)
    if (
        owner is not None
        and owner.kind == "Job"
        and not _is_over(f"{pod.metadata.namespace}/{owner.name}", inventory)
    ):
        return _Kept.OF_JOB
    return None if parse_workload(user.key).kind in BUILT_IN_KINDS else _Kept.OF_OTHERS


def _is_over(job: str, inventory: Inventory) -> bool:
    """Whether the Job of this key has ended, or is gone: a Job that goes on counts its finished pods."""
    found = inventory.all(JOBS).get(job)
    if found is None:
        return not inventory.missing_reason(JOBS)
    return any(
        one.type in ("Complete", "Failed") and one.status == "True" for one in found.status.conditions or ()
    )


def _kept_notes(kept: Sequence[_Kept]) -> list[str]:
    said: dict[_Kept, Callable[[int], Sentence]] = {
        _Kept.OF_TRAINING: lambda number: counted(
            "{count} pod of a training stays: `training stop` removes it with the training.",
            "{count} pods of trainings stay: `training stop` removes them with their training.",
            count=number,
        ),
        _Kept.OF_JOB: lambda number: counted(
            "{count} pod of a Job that goes on stays.", "{count} pods of Jobs that go on stay.", count=number
        ),
        _Kept.OF_OTHERS: lambda number: counted(
            "{count} pod stays, as its own controller may still read it.",
            "{count} pods stay, as their own controllers may still read them.",
            count=number,
        ),
    }
    return [text(kept.count(reason)) for reason, text in said.items() if reason in kept]


def _how(pod: Pod) -> str:
    return pod.status.reason or pod.status.phase


def _on_logs(context: CommandContext) -> Sentence:
    if context.cluster.logs is None:
        return sentence("Their logs go with them: the settings name no log store.")
    return sentence("Their logs at the nodes go with them; the log store keeps what it has.")


CLEAN: Command[CleanPods] = Command(
    noun="pod",
    verb="clean",
    summary="Delete pods that have finished or were evicted.",
    action=CleanPods,
    parameters=(
        option("--namespace", type=NAMESPACE_NAME, help="only pods of this namespace"),
        option("--node", type=NODE, help="only pods of this node"),
        flag("--evicted", help="only those that a kubelet evicted"),
        option(
            "--older", type=DURATION, default=OLDER, help="how long ago they must have ended; default: 1h"
        ),
    ),
    plan=clean,
    rights=Delete.rights("", "pods"),
    relieves=("KubeObjectExplosion", "NodeFilesystemFullSoon"),
    example="pod clean --node gpu-a04 --evicted",
    details=sentence(
        "The oldest go first, {most} at most. Pods of trainings stay, as `training show` reads why they failed, and so "
        "do those of Jobs that go on and of controllers that Yardmaster does not know, unless they were evicted.",
        most=MOST,
    ),
)
