"""`volume fix-mounts`: let the unmounts of the host reach pods that mount its root, through their owner."""

from dataclasses import dataclass
from typing import Any

import click

from collectors.cluster.host_mounts import HOLDING, KEEPS_UNMOUNTED, by_kept_mount
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Pod
from collectors.facts.sentences import counted, listed, sentence
from collectors.facts.workload_keys import is_workload_key, parse_workload, shown_kind
from commands.core.command import Command, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import reader_of
from commands.core.named_pod import MIRROR, pod_named
from commands.core.owned_by_others import managed_by
from commands.core.parameter_types import POD
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import in_order
from commands.execution.preconditions import Precondition
from commands.execution.steps import Patch

REACHES = "HostToContainer"
_APIS = {"DaemonSet": "apps/v1", "Deployment": "apps/v1", "StatefulSet": "apps/v1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FixMounts:
    pod: str


async def fix(action: FixMounts, context: CommandContext) -> PlanDraft:
    """Plan to patch the template of the pod's owner. Raises UnusableError where Helm or GitOps manages it."""
    inventory = context.cluster.inventory()
    pod = _pod_of(action.pod, inventory)
    key = parse_workload(inventory.workload_of(pod) or f"{pod.metadata.namespace}/Pod/{pod.metadata.name}")
    if key.kind not in _APIS or MIRROR in (pod.metadata.annotations or {}):
        raise UnusableError(
            sentence(
                "{kind} {name} is not made from a template that Yardmaster can change: set `mountPropagation: "
                "HostToContainer` where it is made.",
                kind=shown_kind(key.kind),
                name=key.object_key,
            )
        )
    ref = ObjectRef(api=_APIS[key.kind], kind=key.kind, namespace=key.namespace, name=key.name)
    found = await reader_of(context).read(ref)
    if found is None:
        raise UnusableError(sentence("{object} is gone.", object=str(ref)))
    changed, names = _fixed(found["spec"]["template"]["spec"])
    if not names:
        return PlanDraft.nothing(
            sentence("What the host unmounts reaches all containers of {object}.", object=str(ref))
        )
    if owner := managed_by(found["metadata"]):
        raise UnusableError(
            sentence(
                "{owner} manages {object} and would revert it. Set `mountPropagation: "
                "HostToContainer` there, on these mounts: {mounts}.",
                owner=owner,
                object=str(ref),
                mounts=listed(names),
            )
        )
    meta = found["metadata"]
    ref = ObjectRef(api=ref.api, kind=ref.kind, namespace=ref.namespace, name=ref.name, uid=meta["uid"])
    template = found["spec"]["template"]["spec"]
    pods = len(inventory.pods_of(inventory.workload_of(pod)))
    patch = Patch(
        ref=ref,
        description=sentence(
            "set HostToContainer in {object} on {mounts}", object=str(ref), mounts=listed(names)
        ),
        body={"spec": {"template": {"spec": changed}}},
        requires=tuple(
            Precondition(path=("spec", "template", "spec", part), equals=template[part]) for part in changed
        ),
        undo={"spec": {"template": {"spec": {part: template[part] for part in changed}}}},
        undo_text=sentence("set the mounts of {object} back", object=str(ref)),
    )
    notes = [
        counted(
            "Its {count} pod is replaced, by the strategy of its owner.",
            "Its {count} pods are replaced, by the strategy of their owner.",
            count=pods,
        )
    ]
    if (found["spec"].get("updateStrategy") or {}).get("type") == "OnDelete":
        notes.append(
            sentence(
                "Its strategy is OnDelete: a pod has it only once it was deleted, such as by `pod delete`."
            )
        )
    return PlanDraft(
        title=sentence("Let the host's unmounts reach {object}", object=str(ref)),
        stages=in_order(patch),
        notes=tuple(notes),
    )


def _pod_of(name: str, inventory: Inventory) -> Pod:
    """Return the pod, or one of the DaemonSet of this `namespace/name`, as the alert names it."""
    if is_workload_key(name) and (made := inventory.pods_of(name)):  # as a card writes it
        return next((pod for pod in made if by_kept_mount(pod)), made[0])
    for kind in _APIS:
        namespace, slash, own = name.partition("/")
        if slash and (found := inventory.pods_of(f"{namespace}/{kind}/{own}")):
            return next((pod for pod in found if by_kept_mount(pod)), found[0])
    return pod_named(name, inventory)


def _fixed(spec: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the lists of containers with the mounts changed, whole, as a merge patch has them; and those mounts."""
    volumes = {
        one["name"]
        for one in spec.get("volumes") or ()
        if (one.get("hostPath") or {}).get("path", "x").rstrip("/") in HOLDING
    }
    changed: dict[str, Any] = {}
    names: list[str] = []
    for part in ("containers", "initContainers"):
        containers = []
        before = len(names)
        for container in spec.get(part) or ():
            mounts = []
            for mount in container.get("volumeMounts") or ():
                keeps = KEEPS_UNMOUNTED.get(mount.get("mountPropagation") or "", False)
                if mount.get("name") in volumes and keeps:
                    names.append(f"{container['name']}/{mount['name']}")
                    mounts.append({**mount, "mountPropagation": REACHES})
                else:
                    mounts.append(mount)
            containers.append({**container, "volumeMounts": mounts} if mounts else container)
        if len(names) > before:
            changed[part] = containers
    return changed, names


FIX: Command[FixMounts] = Command(
    noun="volume",
    verb="fix-mounts",
    summary="Let what the host unmounts be unmounted in the pods that mount its root.",
    action=FixMounts,
    parameters=(click.Argument(["pod"], type=POD, metavar="POD"),),
    plan=fix,
    rights=Patch.rights("apps", "daemonsets", "deployments", "statefulsets"),
    relieves=("HostRootMountPrivate",),
    example="volume fix-mounts monitoring/node-exporter",
    details=(
        "The pod is named, or its DaemonSet as `namespace/name`. Its owner gets `mountPropagation: HostToContainer` on "
        "the mounts of the host's paths below which volumes are mounted, and replaces its pods. Where Helm, "
        "Argo CD or Flux manages it, nothing is changed, and the answer says what to set there."
    ),
)
