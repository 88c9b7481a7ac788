"""`node reboot`: a request to whoever reboots nodes here, and a bounded wait until the node is back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collectors.cluster.objects import Node
from collectors.facts.sentences import counted, listed, sentence
from commands.core.command import Command, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.drain_pods import why_stays
from commands.core.lookups import read_node, reader_of
from commands.core.parameters import NODE_ARGUMENT, reason_option
from commands.core.reboots import REBOOT_HOOK, RebootDefaults
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import in_order
from commands.execution.preconditions import Precondition
from commands.execution.rights import Right
from commands.execution.steps import Call, Patch, Step, Wait
from commands.node.cordon_steps import ref_of_node
from commands.node.repair.refusals import refuse_control_plane

BOOT_ID = ("status", "nodeInfo", "bootID")
_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class RebootNode:
    node: str
    reason: str


async def reboot(action: RebootNode, context: CommandContext) -> PlanDraft:
    """Plan the request. The node must be drained, and is neither of the control plane nor, alone, a storage host."""
    settings = context.defaults.reboot
    if not settings.is_set:
        raise UnusableError(
            sentence(
                "The settings do not say who reboots nodes here: add `reboot.annotation`, `reboot.label` or "
                "`reboot.webhook`. docs/a-node-is-broken.md has an example of each."
            )
        )
    node = await read_node(action.node, context)
    name = node.metadata.name
    refuse_control_plane(node)
    fields = f"spec.nodeName={name}"
    pods = await reader_of(context).listing(ObjectRef(api="v1", kind="Pod", name=""), fields=fields)
    osds = _osds(node, pods, settings)
    if osds and settings.storage_team not in context.actor.teams:
        raise UnusableError(_ask_storage(name, osds, settings))
    _refuse_undrained(node, pods)
    boot = node.status.node_info.boot_id
    if not boot:
        raise UnusableError(
            sentence("{node} reports no boot id, so its reboot could not be noticed.", node=name)
        )
    return PlanDraft(
        title=sentence("Ask for a reboot of {node}", node=name),
        stages=in_order(*_steps(node, boot, action, settings, context)),
        decided=(sentence("reboot node {node} with uid {uid}", node=name, uid=node.metadata.uid),),
        breaks=(
            (
                sentence(
                    "{node} has OSDs: whether `noout` is set first is the storage team's decision", node=name
                ),
            )
            if osds
            else ()
        ),
        notes=(
            sentence(
                "Yardmaster only asks, and waits at most {within} until the node is back with another boot id.",
                within=settings.within,
            ),
            sentence("It stays cordoned: it is lifted by `node uncordon {node}`.", node=name),
        ),
    )


def _steps(
    node: Node, boot: str, action: RebootNode, settings: RebootDefaults, context: CommandContext
) -> list[Step]:
    name, ref = node.metadata.name, ref_of_node(node)
    back = Wait(
        ref=ref,
        description=sentence("wait until {node} is back, with another boot id", node=name),
        path=BOOT_ID,
        differs=boot,
        seconds=settings.within.total_seconds(),
    )
    if settings.has_webhook:
        content = {
            "action": "reboot",
            "cluster": context.cluster.name,
            "node": name,
            "node_uid": node.metadata.uid,
            "boot_id": boot,
            "asked_by": context.actor.name,
            "reason": action.reason,
        }
        call = Call(
            ref=ref,
            hook=REBOOT_HOOK,
            content=content,
            description=sentence("call the webhook `{hook}` for {node}", hook=REBOOT_HOOK, node=name),
        )
        return [call, back]
    part = "annotations" if settings.annotation else "labels"
    wanted = dict(settings.annotation or settings.label)
    had = (node.metadata.annotations if settings.annotation else node.metadata.labels) or {}
    before = {key: had.get(key) for key in wanted}
    asked = Patch(
        ref=ref,
        description=sentence(
            "ask for it: set {wanted} on {node}",
            wanted=listed(f"{key}={value}" for key, value in wanted.items()),
            node=name,
        ),
        body={"metadata": {part: wanted}},
        requires=(
            Precondition(path=BOOT_ID, equals=boot),
            Precondition(path=("spec", "unschedulable"), equals=True),
        ),
        undo={"metadata": {part: before}},
        undo_text=sentence("take the request back from {node}", node=name),
        disrupts=True,
    )
    taken_back = Patch(
        ref=ref,
        description=sentence("remove the request from {node}, if it is still there", node=name),
        body={"metadata": {part: before}},
    )
    return [asked, back, taken_back]


def _refuse_undrained(node: Node, pods: Sequence[Mapping[str, Any]]) -> None:
    left = [
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        for pod in pods
        if not why_stays(pod) and not pod["metadata"].get("deletionTimestamp")
    ]
    if not node.spec.unschedulable or left:
        why = (
            counted(
                "{count} pod is still there ({pods})",
                "{count} pods are still there ({pods})",
                count=len(left),
                pods=listed(sorted(left), most=_NAMED),
            )
            if left
            else sentence("it is not cordoned")
        )
        raise UnusableError(
            sentence(
                "{node} is not drained: {why}. `node drain {node}` first.", node=node.metadata.name, why=why
            )
        )


def _osds(node: Node, pods: Sequence[Mapping[str, Any]], settings: RebootDefaults) -> list[str]:
    """Return the OSDs of the node: Rook's pods, or the node itself where its labels say that it has some."""
    labels = node.metadata.labels or {}
    if settings.storage_labels and all(
        labels.get(key) == value for key, value in settings.storage_labels.items()
    ):
        return [node.metadata.name]
    return sorted(
        pod["metadata"]["name"]
        for pod in pods
        if (pod["metadata"].get("labels") or {}).get("app") == "rook-ceph-osd"
        or pod["metadata"]["name"].startswith("rook-ceph-osd-")
    )


def _ask_storage(node: str, osds: Sequence[str], settings: RebootDefaults) -> str:
    if not settings.storage_team:
        return sentence(
            "{node} has Ceph OSDs ({osds}), and the settings name no team for storage (`reboot.storage_team`): "
            "whoever runs Ceph reboots it.",
            node=node,
            osds=listed(osds, most=_NAMED),
        )
    return sentence(
        "{node} has Ceph OSDs ({osds}). Only team {team} may ask for its reboot: `ask node reboot {node}`.",
        node=node,
        osds=listed(osds, most=_NAMED),
        team=settings.storage_team,
    )


REBOOT = Command(
    noun="node",
    verb="reboot",
    summary="Ask whoever reboots nodes here for a reboot, and wait until the node is back.",
    action=RebootNode,
    parameters=(NODE_ARGUMENT, reason_option("why, for whoever reboots it")),
    plan=reboot,
    rights=(*Patch.rights("", "nodes"), Right(group="", resources=("pods",), verbs=("list",))),
    example="node reboot gpu-a04",
    details=sentence(
        "The setting `reboot` says how: an annotation or a label that a controller watches, or a signed "
        "webhook. The node must be drained. It is never one of the control plane; one with Ceph OSDs only by "
        "the storage team."
    ),
)
