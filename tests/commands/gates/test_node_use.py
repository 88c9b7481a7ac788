"""Effects of each kind of step on nodes, as budgets count them."""

from typing import Any

import pytest

from commands.execution.node_effects import NodeEffect
from commands.execution.object_refs import ObjectRef
from commands.execution.steps import Call, Delete, Evict, NodeJob, Patch, Record, Step
from tests.support.execution import a_job

NODE = ObjectRef(api="v1", kind="Node", name="gpu-a01")
POD = ObjectRef(api="v1", kind="Pod", name="web-0", namespace="default")
BROKEN = {"key": "gpu", "value": "broken", "effect": "NoSchedule"}


def patch(body: dict[str, Any], undo: dict[str, Any] | None = None, **named: Any) -> Patch:
    return Patch(ref=NODE, description="patch", body=body, undo=undo, **named)


@pytest.mark.parametrize(
    ("step", "effect"),
    [
        (patch({"spec": {"unschedulable": True}}), NodeEffect.OUT),
        (patch({"spec": {"unschedulable": False}}), NodeEffect.BACK),
        (patch({"spec": {"unschedulable": None}}), NodeEffect.BACK),
        (patch({"spec": {"taints": [BROKEN]}}, {"spec": {"taints": None}}), NodeEffect.OUT),
        (patch({"spec": {"taints": None}}, {"spec": {"taints": [BROKEN]}}), NodeEffect.BACK),
        (patch({"spec": {"taints": [BROKEN]}}, {"spec": {"taints": [BROKEN]}}), None),
        (patch({"spec": {"taints": [{**BROKEN, "effect": "PreferNoSchedule"}]}}), None),
        (patch({"metadata": {"annotations": {"reboot": "now"}}}, disrupts=True), NodeEffect.DISRUPTED),
        (patch({"metadata": {"labels": {"rack": "b"}}}), None),
        (NodeJob(node=NODE, manifest=a_job("mend"), script="mend", description="mend"), NodeEffect.DISRUPTED),
        (Call(ref=NODE, hook="reboot", content={}, description="call"), NodeEffect.DISRUPTED),
        (Delete(ref=NODE, description="delete"), NodeEffect.OUT),
        (Delete(ref=POD, description="delete"), None),
        (Evict(ref=POD, description="evict"), None),
        (Record(table="leases", id="a", description="record"), None),
    ],
)
def test_a_step_says_what_it_does_to_its_node(step: Step, effect: NodeEffect | None) -> None:
    assert step.on_nodes() == ({"gpu-a01": effect} if effect is not None else {})


def test_the_undo_of_a_taint_puts_the_node_back() -> None:
    undone = patch({"spec": {"taints": [BROKEN]}}, {"spec": {"taints": None}}).inverse("")
    assert undone is not None
    assert undone.on_nodes() == {"gpu-a01": NodeEffect.BACK}
