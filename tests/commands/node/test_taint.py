"""`node taint` and `node untaint`: ours only, NoExecute by people only, and what others have changed meanwhile."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands.core.grant import Grant
from commands.core.nodes_out import OUR_TAINTS as OURS
from commands.core.permissions import Permissions
from commands.execution.plan import PlanState, Risk
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import EVERYTHING, RECLAIM, Yard, yard_before

NODE = "gpu-a01"
THEIRS = {"key": "example.com/rack-work", "effect": "NoSchedule"}


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    permissions: Permissions = replace(
        EVERYTHING, automation={**EVERYTHING.automation, "reclaim": Grant(commands=("*",))}
    )
    async with yard_before(kube.kubeconfig(tmp_path / "config"), permissions=permissions) as made:
        yield made


def taints(kube: KubernetesLookalike) -> list[tuple[str, str, str]]:
    node = kube.get("nodes", "", NODE)
    assert node is not None
    return [(one["key"], one.get("value", ""), one["effect"]) for one in node["spec"].get("taints") or ()]


def set_taints(kube: KubernetesLookalike, *found: Any) -> None:
    kube.patch("nodes", "", NODE, {"spec": {"taints": list(found)}})


def a_pod(kube: KubernetesLookalike, name: str, **spec: Any) -> None:
    meta = {"name": name, "namespace": "default"}
    container = {"name": "main", "image": "i"}
    tree = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {"nodeName": NODE, "containers": [container], **spec},
        "status": {"phase": "Running"},
    }
    kube.create(tree, namespace="default", keep_status=True)


async def test_a_taint_is_set_marked_as_ours_and_removed(yard: Yard, kube: KubernetesLookalike) -> None:
    assert (await yard.do(f"node taint {NODE} gpu=broken:NoSchedule")).state is PlanState.DONE
    assert taints(kube) == [("gpu", "broken", "NoSchedule")]
    assert (await yard.do(f"node untaint {NODE} gpu")).state is PlanState.DONE
    assert taints(kube) == []
    node = kube.get("nodes", "", NODE)
    assert node is not None
    assert OURS not in node["metadata"].get("annotations", {})


async def test_an_undo_restores_what_was_there(yard: Yard, kube: KubernetesLookalike) -> None:
    set_taints(kube, THEIRS)
    done = await yard.do(f"node taint {NODE} gpu:NoSchedule")
    assert len(taints(kube)) == 2
    await yard.do(f"plan undo {done.id}")
    assert taints(kube) == [("example.com/rack-work", "", "NoSchedule")]


async def test_a_taint_of_others_is_left(yard: Yard, kube: KubernetesLookalike) -> None:
    set_taints(kube, THEIRS)
    said = await yard.say(f"node untaint {NODE} example.com/rack-work")
    assert "was not set by Yardmaster, so it is left" in said
    assert await yard.newest() is None


async def test_taints_that_somebody_changes_meanwhile_are_not_overwritten(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await yard.confirmed(await yard.plan(f"node taint {NODE} gpu:NoSchedule"))
    set_taints(kube, THEIRS)
    over = await yard.executor.execute(plan)
    assert over.state is PlanState.FAILED
    assert "spec.taints is" in over.error
    assert taints(kube) == [("example.com/rack-work", "", "NoSchedule")]


async def test_no_execute_names_what_it_ends_and_needs_a_second_person(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    a_pod(kube, "web")
    a_pod(kube, "agent", tolerations=[{"operator": "Exists"}])
    await yard.seen(lambda: len(yard.cluster.inventory().pods_on(NODE)) == 2)
    plan = await yard.plan(f"node taint {NODE} gpu:NoExecute")
    assert plan.risk is Risk.BREAK
    assert [one.label for one in plan.disrupts] == ["default/Pod/web"] or len(plan.disrupts) == 1
    assert "1 pod that does not tolerate it is ended at once" in plan.notes[0]


async def test_automation_never_sets_no_execute(yard: Yard) -> None:
    said = await yard.say(f"node taint {NODE} gpu:NoExecute", RECLAIM)
    assert "only a person may set it" in said
    assert await yard.newest() is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("gpu", "is not a taint: write it like"),
        ("gpu:NoWay", "is not an effect of a taint"),
        ("node.kubernetes.io/not-ready:NoExecute", "is Kubernetes' own"),
        ("'gpu:NoSchedule;reboot'", "is not a taint"),
        ("a/b/c:NoSchedule", "is not a taint"),
        ("gpu=x,y:NoSchedule", "is one word too many"),
    ],
)
async def test_what_is_no_taint_is_refused(yard: Yard, given: str, says: str) -> None:
    assert says in await yard.say(f"node taint {NODE} {given}")


async def test_the_same_taint_again_is_nothing_to_do(yard: Yard, kube: KubernetesLookalike) -> None:
    set_taints(kube, {"key": "gpu", "value": "broken", "effect": "NoSchedule"})
    assert "already has the taint" in await yard.say(f"node taint {NODE} gpu=broken:NoSchedule")
    assert "with another value (broken)" in await yard.say(f"node taint {NODE} gpu=old:NoSchedule")
