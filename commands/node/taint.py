"""`node taint` and `node untaint`: a taint of ours on a node. NoExecute ends pods, and is for people only."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from collectors.facts.sentences import as_code, counted, listed, sentence
from commands.core.command import Command, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.drain_pods import disruptions_of, why_stays
from commands.core.lookups import node_named, reader_of
from commands.core.nodes_out import OUR_TAINTS as OURS
from commands.core.parameter_types import TAINT_NAME
from commands.core.parameters import NODE_ARGUMENT, reason_option
from commands.core.request import ActorKind
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import in_order
from commands.execution.preconditions import Precondition
from commands.execution.steps import Patch

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_TAINT = re.compile(
    r"(?P<key>(?:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)"
    r"(?:=(?P<value>[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?))?:(?P<effect>[A-Za-z]+)"
)
_KEY = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_./]{0,316}(:[A-Za-z]+)?")
_OF_KUBERNETES = ("node.kubernetes.io/", "node-role.kubernetes.io/", "node.cloudprovider.kubernetes.io/")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintNode:
    node: str
    taint: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UntaintNode:
    node: str
    taint: str


async def taint(action: TaintNode, context: CommandContext) -> PlanDraft:
    """Plan the taint. With NoExecute the running pods that do not tolerate it are the disruption."""
    new = _parsed(action.taint)
    if new["effect"] == "NoExecute" and context.actor.kind is ActorKind.AUTOMATION:
        raise UnusableError(sentence("NoExecute ends running pods: only a person may set it."))
    found = await _read(action.node, context)
    before: list[dict[str, Any]] = list(found["spec"].get("taints") or ())
    same = [one for one in before if (one["key"], one["effect"]) == (new["key"], new["effect"])]
    if same and same[0].get("value", "") == new.get("value", ""):
        said = sentence("{node} already has the taint `{taint}`.", node=action.node, taint=action.taint)
        return PlanDraft.nothing(said)
    if same:
        raise UnusableError(
            sentence(
                "{node} has the taint `{taint}` with another value (`{value}`), which Yardmaster did not set.",
                node=action.node,
                taint=f"{new['key']}:{new['effect']}",
                value=same[0].get("value", ""),
            )
        )
    pods: list[dict[str, Any]] = []
    if new["effect"] == "NoExecute":
        on_node = f"spec.nodeName={action.node}"
        reader = reader_of(context)
        here = await reader.listing(ObjectRef(api="v1", kind="Pod", name=""), fields=on_node)
        pods = [pod for pod in here if not why_stays(pod) and not _tolerates(pod, new)]
    marks = [*_marks(found), f"{new['key']}:{new['effect']}"]
    return PlanDraft(
        title=sentence("Taint {node} with {taint}", node=action.node, taint=action.taint),
        stages=in_order(
            _patch(
                found,
                before,
                [*before, new],
                marks,
                text=sentence("taint {node} with {taint}", node=action.node, taint=action.taint),
                undo=sentence("remove the taint {taint} from {node}", taint=action.taint, node=action.node),
            )
        ),
        disrupts=disruptions_of(pods, context.cluster.topology()),
        breaks=(
            (sentence("NoExecute ends pods at once: no disruption budget is asked"),)
            if new["effect"] == "NoExecute" and pods
            else ()
        ),
        notes=tuple(_notes(new, pods, action)),
    )


async def untaint(action: UntaintNode, context: CommandContext) -> PlanDraft:
    """Plan to remove our taints with this key, or with this key and effect. Others' are left."""
    if not _KEY.fullmatch(action.taint):
        raise UnusableError(_how_to_write(action.taint))
    found = await _read(action.node, context)
    before: list[dict[str, Any]] = list(found["spec"].get("taints") or ())
    key, _, effect = action.taint.partition(":")
    meant = [one for one in before if one["key"] == key and effect in ("", one["effect"])]
    ours = _marks(found)
    removed = [one for one in meant if f"{one['key']}:{one['effect']}" in ours]
    if not meant:
        there = (
            as_code(f"{one['key']}:{one['effect']}" for one in before) if before else sentence("no taints")
        )
        said = sentence(
            "{node} has no taint `{taint}`: it has {there}.",
            node=action.node,
            taint=action.taint,
            there=there,
        )
        return PlanDraft.nothing(said)
    if not removed:
        raise UnusableError(
            sentence(
                "The taint `{taint}` of {node} was not set by Yardmaster, so it is left: "
                "`kubectl taint node {node} {taint}-` removes it.",
                taint=action.taint,
                node=action.node,
            )
        )
    gone = [f"{one['key']}:{one['effect']}" for one in removed]
    return PlanDraft(
        title=sentence("Remove {taints} from {node}", taints=listed(gone), node=action.node),
        stages=in_order(
            _patch(
                found,
                before,
                [one for one in before if one not in removed],
                [one for one in ours if one not in gone],
                text=sentence("remove the taint {taint} from {node}", taint=listed(gone), node=action.node),
                undo=sentence("taint {node} with {taint} again", node=action.node, taint=listed(gone)),
            )
        ),
    )


def _parsed(given: str) -> dict[str, str]:
    shape = _TAINT.fullmatch(given)
    if shape is None:
        raise UnusableError(_how_to_write(given))
    if shape["effect"] not in EFFECTS:
        raise UnusableError(
            sentence(
                "`{effect}` is not an effect of a taint; these are: {effects}.",
                effect=shape["effect"],
                effects=as_code(EFFECTS),
            )
        )
    if given.startswith(_OF_KUBERNETES):
        raise UnusableError(
            sentence("`{key}` is Kubernetes' own: it sets and removes that taint itself.", key=shape["key"])
        )
    taint = {"key": shape["key"], "effect": shape["effect"]}
    return {**taint, "value": shape["value"]} if shape["value"] else taint


def _how_to_write(given: str) -> str:
    return sentence(
        "`{given}` is not a taint: write it like `gpu=broken:NoSchedule` or `gpu:NoSchedule`.",
        given=given[:120],
    )


async def _read(name: str, context: CommandContext) -> Mapping[str, Any]:
    node_named(name, context.cluster.inventory())
    found = await reader_of(context).read(ObjectRef(api="v1", kind="Node", name=name))
    if found is None:
        raise UnusableError(sentence("{node} is no longer in the cluster.", node=name))
    return found


def _marks(found: Mapping[str, Any]) -> list[str]:
    written = (found["metadata"].get("annotations") or {}).get(OURS, "")
    return [one for one in written.split(",") if one]


def _patch(
    found: Mapping[str, Any],
    before: Sequence[Mapping[str, Any]],
    after: Sequence[Mapping[str, Any]],
    marks: Sequence[str],
    *,
    text: str,
    undo: str,
) -> Patch:
    """Return the step that writes the whole list, as a merge patch must, if nobody has changed it meanwhile."""
    meta = found["metadata"]
    written = (meta.get("annotations") or {}).get(OURS)
    return Patch(
        ref=ObjectRef(api="v1", kind="Node", name=meta["name"], uid=meta["uid"]),
        description=text,
        body={
            "spec": {"taints": [dict(one) for one in after] or None},
            "metadata": {"annotations": {OURS: ",".join(marks) or None}},
        },
        requires=(Precondition(path=("spec", "taints"), equals=[dict(one) for one in before] or None),),
        undo={
            "spec": {"taints": [dict(one) for one in before] or None},
            "metadata": {"annotations": {OURS: written}},
        },
        undo_text=undo,
    )


def _tolerates(pod: Mapping[str, Any], taint: Mapping[str, str]) -> bool:
    return any(
        one.get("effect") in (None, "", taint["effect"])
        and (
            (one.get("operator") == "Exists" and one.get("key") in (None, "", taint["key"]))
            or (one.get("key") == taint["key"] and one.get("value", "") == taint.get("value", ""))
        )
        for one in pod["spec"].get("tolerations") or ()
    )


def _notes(new: Mapping[str, str], pods: Sequence[Mapping[str, Any]], action: TaintNode) -> list[str]:
    notes: list[str] = []
    if new["effect"] == "NoExecute":
        notes.append(
            counted(
                "{count} pod that does not tolerate it is ended at once; an undo does not bring it back.",
                "{count} pods that do not tolerate it are ended at once; an undo does not bring them back.",
                count=len(pods),
            )
        )
    else:
        notes.append(sentence("Running pods stay. New pods need a toleration for it."))
    if action.reason:
        notes.append(sentence("Why: {reason}", reason=action.reason))
    return notes


TAINT = Command(
    noun="node",
    verb="taint",
    summary="Taint a node; NoExecute by people only.",
    action=TaintNode,
    parameters=(
        NODE_ARGUMENT,
        click.Argument(["taint"], type=TAINT_NAME, metavar="TAINT"),
        reason_option("why"),
    ),
    plan=taint,
    rights=Patch.rights("", "nodes"),
    example="node taint gpu-a04 gpu=broken:NoSchedule",
)
UNTAINT = Command(
    noun="node",
    verb="untaint",
    summary="Remove a taint that Yardmaster set; others are left alone.",
    action=UntaintNode,
    parameters=(NODE_ARGUMENT, click.Argument(["taint"], type=TAINT_NAME, metavar="KEY[:EFFECT]")),
    plan=untaint,
    rights=Patch.rights("", "nodes"),
    example="node untaint gpu-a04 gpu",
)
