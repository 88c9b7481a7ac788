"""Effects of steps on nodes, as budgets count them: out of service, disrupted, or back. Pure."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

_KEEPS_OUT = ("NoSchedule", "NoExecute")


class NodeEffect(StrEnum):
    OUT = "out"  # of service, until something puts it back
    DISRUPTED = "disrupted"  # while the plan runs: what runs there may notice
    BACK = "back"  # in service again


NodeEffects = Mapping[str, NodeEffect]  # by the node's name

NO_EFFECTS_ON_NODES: NodeEffects = MappingProxyType({})


def effect_of_patch(body: Mapping[str, Any], undo: Mapping[str, Any] | None) -> NodeEffect | None:
    """Return what a merge patch does to its node: by a cordon, or by taints. None: nothing that counts.

    `undo` reverts the patch, so it has the taints of before.
    """
    spec = body.get("spec") or {}
    if "unschedulable" in spec:  # None removes it
        return NodeEffect.OUT if spec["unschedulable"] else NodeEffect.BACK
    if "taints" not in spec:
        return None
    now, before = _keeping_out(body), _keeping_out(undo or {})
    if now - before:
        return NodeEffect.OUT
    return NodeEffect.BACK if before - now else None


def _keeping_out(body: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    taints = (body.get("spec") or {}).get("taints") or ()
    return frozenset((one["key"], one["effect"]) for one in taints if one.get("effect") in _KEEPS_OUT)
