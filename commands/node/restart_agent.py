"""`node restart-agent`: delete the pod of one DaemonSet on one node, and wait until the next one runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from collectors.facts.sentences import listed, sentence
from commands.core.command import Command, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import known_name, read_node, reader_of
from commands.core.parameter_types import AGENT
from commands.core.parameters import NODE_ARGUMENT
from commands.execution.object_refs import ObjectReader, ObjectRef
from commands.execution.plan import Plan, PlanState, in_order
from commands.execution.rights import Right
from commands.execution.steps import Delete, Running, Wait

GONE_WITHIN, BACK_WITHIN = 180.0, 300.0  # seconds
_CEPHFS, _KERNEL = "cephfs.csi.ceph.com", "kernel"
_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartAgent:
    node: str
    agent: str


async def restart_agent(action: RestartAgent, context: CommandContext) -> PlanDraft:
    """Plan to delete the pod, by its uid. Refused where mounts of running pods would end with it."""
    node = await read_node(action.node, context)
    name, reader = node.metadata.name, reader_of(context)
    pods = await reader.listing(ObjectRef(api="v1", kind="Pod", name=""), fields=f"spec.nodeName={name}")
    by_agent = {agent: pod for pod in pods if (agent := _agent_of(pod))}
    short = {agent.partition("/")[2]: agent for agent in by_agent}
    longer = [
        agent for name, agent in short.items() if name.endswith(f"-{action.agent}")
    ]  # nvidia-dcgm-exporter
    found_by = longer[0] if action.agent not in short and len(longer) == 1 else action.agent
    agent = known_name(short.get(found_by, found_by), by_agent, "agent")
    pod = by_agent[agent]
    meta, owner = pod["metadata"], _daemon_set(pod)
    assert owner is not None
    ref = ObjectRef(api="apps/v1", kind="DaemonSet", namespace=meta["namespace"], name=owner["name"])
    found = await reader.read(ref)
    if found is None:
        raise UnusableError(
            sentence("The DaemonSet of {agent} is gone: nothing would start it again.", agent=agent)
        )
    await _refuse_second(ref, context)
    if mounts := await _mounts_that_end(pod, pods, reader):
        raise UnusableError(
            sentence(
                "Not restarted: it holds mounts that would end with it, of {pods}. ceph-fuse has its mounts in "
                "this pod; they come back only when the pods that use them are started again. Drain {node} first.",
                pods=listed(mounts, most=_NAMED),
                node=name,
            )
        )
    selector = (found["spec"].get("selector") or {}).get("matchLabels") or {}
    label = ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
    itself = ObjectRef(api="v1", kind="Pod", namespace=meta["namespace"], name=meta["name"], uid=meta["uid"])
    return PlanDraft(
        title=sentence("Restart {agent} on {node}", agent=agent, node=name),
        stages=in_order(
            Delete(
                ref=itself,
                description=sentence("delete {pod}: its DaemonSet starts another", pod=str(itself)),
            ),
            Wait(
                ref=itself,
                description=sentence("wait until {pod} is gone", pod=meta["name"]),
                is_gone=True,
                seconds=GONE_WITHIN,
            ),
            Running(
                ref=ref,
                description=sentence("wait until {agent} runs on {node} again", agent=agent, node=name),
                label=label,
                count=1,
                node=name,
                seconds=BACK_WITHIN,
            ),
        ),
        decided=(
            sentence(
                "restart {agent} on node {node} with uid {uid}", agent=agent, node=name, uid=node.metadata.uid
            ),
        ),
        notes=tuple(_notes(found, owner["name"])),
    )


def _notes(found: Mapping[str, Any], name: str) -> list[str]:
    notes: list[str] = [sentence("It cannot be undone; running pods of others stay.")]
    if "device-plugin" in name:
        notes.append(sentence("Until it is back, no pod gets GPUs there. Pods that have GPUs keep them."))
    if "csi" in name:
        notes.append(sentence("Until it is back, no volume is mounted or unmounted there."))
    if "calico" in name or "cilium" in name:
        notes.append(sentence("Until it is back, network policies and routes of the node do not change."))
    strategy = (found["spec"].get("updateStrategy") or {}).get("type")
    if strategy == "OnDelete":
        notes.append(sentence("Its DaemonSet updates on delete: the new pod may be of a newer version."))
    return notes


async def _refuse_second(daemon_set: ObjectRef, context: CommandContext) -> None:
    """Refuse while a plan restarts a pod of the same DaemonSet: not more than one node at a time."""
    async with context.store.read() as snapshot:
        running = await snapshot.rows(Plan).find(cluster=context.cluster.name, state=PlanState.RUNNING.value)
    for plan in running:
        if any(isinstance(step, Running) and step.ref == daemon_set for step in plan.steps):
            raise UnusableError(
                sentence(
                    "Plan `{plan}` of {who} restarts a pod of {agent} now. One node at a time.",
                    plan=plan.id,
                    who=plan.actor_name,
                    agent=str(daemon_set),
                )
            )


async def _mounts_that_end(
    pod: Mapping[str, Any], pods: Sequence[Mapping[str, Any]], reader: ObjectReader
) -> list[str]:
    """Return the pods of the node whose CephFS volumes this pod may have mounted by ceph-fuse.

    A volume that names the kernel's client as its mounter does not end. One that names none may be either.
    """
    if not _is_ceph_agent(pod):
        return []
    users: list[str] = []
    for one in pods:
        claims = [
            volume["persistentVolumeClaim"]["claimName"]
            for volume in one["spec"].get("volumes") or ()
            if "persistentVolumeClaim" in volume
        ]
        if (one.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
            continue
        for claim in claims:
            if await _is_fuse(one["metadata"]["namespace"], claim, reader):
                users.append(f"{one['metadata']['namespace']}/{one['metadata']['name']}")
                break
    return users


def _is_ceph_agent(pod: Mapping[str, Any]) -> bool:
    """Whether the pod mounts CephFS for others: a CSI node plugin of CephFS, or a pod that runs ceph-fuse."""
    words: list[str] = []
    for container in pod["spec"].get("containers") or ():
        words += [container.get("name", ""), container.get("image", "")]
        words += [*(container.get("command") or ()), *(container.get("args") or ())]
    text = " ".join([pod["metadata"]["name"], *words]).lower()
    return "cephfs" in text or "ceph-fuse" in text


async def _is_fuse(namespace: str, claim: str, reader: ObjectReader) -> bool:
    named = ObjectRef(api="v1", kind="PersistentVolumeClaim", namespace=namespace, name=claim)
    found = await reader.read(named)
    volume = ((found or {}).get("spec") or {}).get("volumeName")
    if not volume:
        return False
    there = await reader.read(ObjectRef(api="v1", kind="PersistentVolume", name=volume))
    csi = ((there or {}).get("spec") or {}).get("csi") or {}
    if not str(csi.get("driver", "")).endswith(_CEPHFS):
        return False
    return (csi.get("volumeAttributes") or {}).get("mounter") != _KERNEL


def _daemon_set(pod: Mapping[str, Any]) -> Mapping[str, Any] | None:
    owners: Sequence[Mapping[str, Any]] = pod["metadata"].get("ownerReferences") or ()
    return next((one for one in owners if one.get("controller") and one["kind"] == "DaemonSet"), None)


def _agent_of(pod: Mapping[str, Any]) -> str:
    """Return the DaemonSet of the pod, as namespace/name; empty if it has none."""
    owner = _daemon_set(pod)
    return f"{pod['metadata']['namespace']}/{owner['name']}" if owner else ""


RESTART_AGENT = Command(
    noun="node",
    verb="restart-agent",
    summary="Restart the pod of a DaemonSet on one node.",
    action=RestartAgent,
    parameters=(
        NODE_ARGUMENT,
        click.Argument(["agent"], type=AGENT, metavar="DAEMONSET"),
    ),
    plan=restart_agent,
    rights=(
        *Delete.rights("", "pods"),
        *Running.rights("apps", "daemonsets"),
        Right(group="", resources=("pods",), verbs=("list",)),
    ),
    example="node restart-agent gpu-a04 nvidia-device-plugin",
    details=sentence(
        "For a device plugin, an exporter, a network agent or a CSI node plugin. It is refused where ceph-fuse "
        "would take the mounts of running pods with it, and while another node's pod of that DaemonSet is being "
        "restarted."
    ),
)
