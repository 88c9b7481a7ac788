"""`pod delete`: end one pod for good, exactly the one that was shown, whatever disruption budgets say."""

from dataclasses import dataclass

from collectors.cluster.conditions import is_node_ready
from collectors.cluster.indexes import controller_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Pod
from collectors.facts.sentences import Sentence, sentence
from collectors.facts.workload_keys import shown_kind
from commands.core.command import Command, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.named_pod import MIRROR, PodUser, pod_disruptions, pod_named, ref_of_pod, user_of_pod
from commands.core.parameters import POD_ARGUMENT
from commands.execution.plan import in_order
from commands.execution.steps import Delete, Step, Wait
from commands.training.stop import lost_work

GONE_WITHIN = 600.0  # seconds, its grace period included


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePod:
    pod: str


async def delete(action: DeletePod, context: CommandContext) -> PlanDraft:
    """Plan to delete the pod with its uid, and to wait until it is gone where its node can confirm that."""
    inventory = context.cluster.inventory()
    pod = pod_named(action.pod, inventory)
    lost = lost_node(pod, inventory)
    if MIRROR in (pod.metadata.annotations or {}):
        raise UnusableError(
            sentence(
                "{pod} is a static pod: only the kubelet of {node} ends it, when its manifest there is removed.",
                pod=pod.key,
                node=pod.spec.node_name,
            )
        )
    if (since := pod.metadata.deletion_timestamp) is not None:
        return PlanDraft.nothing(
            sentence(
                "{pod} has been terminating since {since}. {advice}",
                pod=pod.key,
                since=since,
                advice=on_force(pod, lost),
            )
        )
    ref, user = ref_of_pod(pod), user_of_pod(pod, context)
    steps: list[Step] = [Delete(ref=ref, description=sentence("delete pod {pod}", pod=pod.key))]
    if not lost:
        waits = sentence("wait until {pod} is gone", pod=pod.key)
        steps.append(Wait(ref=ref, description=waits, is_gone=True, seconds=GONE_WITHIN))
    return PlanDraft(
        title=sentence("Delete pod {pod}", pod=pod.key),
        stages=in_order(*steps),
        disrupts=pod_disruptions((pod,), context),
        decided=(sentence("delete {pod} with uid {uid}", pod=pod.key, uid=pod.metadata.uid),),
        notes=(
            *await _training_notes(pod, user, context),
            _afterwards(pod, user),
            *([on_force(pod, lost)] if lost else []),
        ),
    )


async def _training_notes(pod: Pod, user: PodUser, context: CommandContext) -> list[str]:
    if user.training is None or pod.status.phase != "Running":
        return []
    found = next((one for one in context.cluster.trainings() if one.id == user.key), None)
    said = sentence("A training that loses a rank is started again as a whole, or fails: see its retries.")
    return [said, await lost_work(found, context)] if found is not None else [said]


def _afterwards(pod: Pod, user: PodUser) -> Sentence:
    owner = controller_of(pod)
    if pod.status.phase in ("Succeeded", "Failed"):
        return sentence("It has finished: its log at the node goes with it.")
    if owner is None:
        return sentence("No controller recreates it: it is gone for good.")
    return sentence(
        "Its {kind} {owner} decides whether another one is made.",
        kind=shown_kind(owner.kind),
        owner=owner.name,
    )


def lost_node(pod: Pod, inventory: Inventory) -> bool:
    """Whether its node does not report, so that nobody can say that its processes have ended."""
    node = inventory.nodes.get(pod.spec.node_name)
    return bool(pod.spec.node_name) and (node is None or is_node_ready(node) is not True)


def on_force(pod: Pod, is_lost: bool) -> Sentence:
    """Return what to know before somebody removes the object by force, which is not suggested."""
    if not is_lost:
        return sentence(
            "It gets its grace period. Yardmaster deletes nothing by force: its processes may go on."
        )
    return sentence(
        "Its node {node} does not confirm that it has ended, so it stays until the node is back. Yardmaster deletes "
        "nothing by force: the processes may go on, and a volume would be mounted twice. If {node} is surely powered "
        "off, an administrator runs `kubectl taint node {node} "
        "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`, and the cluster then removes its pods and frees "
        "their volumes.",
        node=pod.spec.node_name,
    )


DELETE: Command[DeletePod] = Command(
    noun="pod",
    verb="delete",
    summary="Delete one pod, exactly the one that is shown.",
    action=DeletePod,
    parameters=(POD_ARGUMENT,),
    plan=delete,
    rights=(*Delete.rights("", "pods"), *Wait.rights("", "pods")),
    relieves=("KubePodCrashLooping", "KubePodNotReady", "KubeContainerWaiting"),
    example="pod delete vision/detr-worker-3",
    details=(
        "Disruption budgets do not hold it back, unlike `node drain`, so it is for a pod that hangs. It gets "
        "its grace period, and Yardmaster waits until it is gone. A running pod of a training, or one without a "
        "controller, is "
        "work that is lost: a second person confirms it unless it is your own or your team's. Nothing is deleted by "
        "force."
    ),
)
