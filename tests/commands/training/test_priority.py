"""`training launch --priority-class`: reserved classes, unknown ones, and what the preview says of preemption."""

from typing import Any

import pytest

from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import ANA, Yard

LINE = "training launch mnist --image registry.example/mnist:7 --gpus 1 --priority-class"


def a_class(name: str, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": 1000,
        **more,
    }


@pytest.mark.parametrize("name", ["system-node-critical", "system-cluster-critical", "system-mine"])
async def test_a_class_of_the_clusters_own_pods_is_refused(yard: Yard, name: str) -> None:
    assert f"Priority class {name} is reserved for the cluster's own pods" in await yard.say(
        f"{LINE} {name}", ANA
    )


async def test_a_class_that_does_not_exist_is_refused(yard: Yard) -> None:
    assert "There is no priority class nope" in await yard.say(f"{LINE} nope", ANA)


@pytest.mark.parametrize(
    ("policy", "note"),
    [
        ({}, "urgent (1000) preempts: where a task does not fit, Kubernetes ends running pods"),
        ({"preemptionPolicy": "Never"}, "urgent (1000) goes first in the queue and preempts no running pod"),
    ],
    ids=["preempts", "never preempts"],
)
async def test_the_preview_says_whether_the_class_preempts(
    yard: Yard, kube: KubernetesLookalike, policy: dict[str, Any], note: str
) -> None:
    kube.create(a_class("urgent", **policy))
    plan = await yard.plan(f"{LINE} urgent", ANA)
    assert any(note in one for one in plan.notes), plan.notes
