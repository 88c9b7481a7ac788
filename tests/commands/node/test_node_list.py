"""`node list` shows the troubled nodes first and counts those that are fine."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from alerts.incidents.incident import Incident
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Plan, PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.alerting import an_alert
from tests.support.incidents import an_open_incident
from tests.support.yard import CLUSTER, Yard, a_node_tree, yard_before

UNSCHEDULABLE, EIGHT = "node.kubernetes.io/unschedulable", "2026-11-21T08:00:00Z"
NODES = tuple(f"gpu-a{number:02}" for number in range(1, 10))


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    """Nine nodes: the last is not ready, the one before cordoned, and gpu-a03 has an open incident."""
    async with KubernetesLookalike.running(controllers=False) as kube:
        for name in NODES:
            tree = a_node_tree(name)
            if name == NODES[-1]:
                tree["status"]["conditions"][0]["status"] = "False"
            tree["spec"] = {"unschedulable": name == NODES[-2]}
            kube.create(tree, keep_status=True)
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
            incident = an_open_incident(an_alert(on={"node": "gpu-a03"}))
            assert incident.cluster == CLUSTER
            async with yard.store.unit() as unit:
                await unit.rows(Incident).put(incident)
            yield yard


def listed(reply: str) -> list[str]:
    return [line.partition(" | ")[0] for line in reply.splitlines() if line.startswith("gpu-")]


async def test_the_troubled_come_first_and_the_rest_are_counted(yard: Yard) -> None:
    reply = await yard.say("node list")

    assert reply.splitlines()[0] == "9 nodes"
    assert listed(reply) == ["gpu-a09", "gpu-a03", "gpu-a08"]
    assert "Ready, critical i1" in reply or "Ready, warning i1" in reply
    assert "6 nodes fine" in reply
    assert "[All nodes] node list --all" in reply


async def test_all_nodes_are_listed_on_request(yard: Yard) -> None:
    reply = await yard.say("node list --all")

    assert listed(reply)[:3] == ["gpu-a09", "gpu-a03", "gpu-a08"]
    assert sorted(listed(reply)) == list(NODES)
    assert "nodes fine" not in reply


async def test_the_cordoned_are_listed_alone(yard: Yard) -> None:
    assert listed(await yard.say("node list --cordoned")) == ["gpu-a08"]


async def test_few_fine_nodes_are_listed_rather_than_counted(tmp_path: Path) -> None:
    async with KubernetesLookalike.running(controllers=False) as kube:
        for name in NODES[:3]:
            kube.create(a_node_tree(name), keep_status=True)
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
            assert listed(await yard.say("node list")) == list(NODES[:3])


async def test_what_is_out_of_service_says_whose_it_is_and_what_it_waits_for(yard: Yard) -> None:
    await yard.do("node cordon gpu-a01 gpu-a03 --reason fan --for 4h")
    await yard.seen(lambda: bool(yard.cluster.inventory().nodes["gpu-a03"].spec.unschedulable))
    reply = await yard.say("node list --out")

    assert reply.splitlines()[0] == "4 nodes are out of service"
    rows = {row[0]: row[1:] for line in reply.splitlines()[2:] if (row := line.split(" | "))}
    assert list(rows) == ["gpu-a01", "gpu-a03", "gpu-a08", "gpu-a09"], "the longest first, unknown at the end"
    assert rows["gpu-a01"][1:] == ["dana", "fan", "it was cordoned because of its hardware: fan"]
    assert rows["gpu-a03"][1:3] == ["dana", "fan"]
    assert rows["gpu-a03"][3].startswith("incident i1 is open: ")
    assert rows["gpu-a08"] == [
        "not known",
        "someone else's",
        "no reason is written on it",
        "someone else cordoned it",
    ]
    assert rows["gpu-a09"] == ["not known", "nobody's", "not ready", "being ready again"]
    assert "No node is out of service" in await yard.say("node list --out --rack nowhere")

    await yard.do("node cordon gpu-a02 --reason tests --for 4h")
    await yard.seen(lambda: bool(yard.cluster.inventory().nodes["gpu-a02"].spec.unschedulable))
    assert "dana | tests | its end at " in await yard.say("node list --out")
    yard.clock.move(timedelta(hours=5))
    assert "dana | tests | node uncordon gpu-a02" in await yard.say("node list --out")


async def test_what_kubernetes_says_of_since_when_is_taken_and_a_plan_at_work_is_named(yard: Yard) -> None:
    """It taints a cordoned node, and dates the condition of one that is not ready."""
    kube = yard.writer
    patches: dict[str, dict[str, Any]] = {
        "gpu-a08": {"spec": {"taints": [{"key": UNSCHEDULABLE, "effect": "NoSchedule", "timeAdded": EIGHT}]}},
        "gpu-a02": {"spec": {"unschedulable": True}},
    }
    for name, patch in patches.items():
        await kube.patch(ObjectRef(api="v1", kind="Node", name=name), patch)
    await yard.seen(lambda: bool(yard.cluster.inventory().nodes["gpu-a02"].spec.unschedulable))
    await yard.seen(lambda: bool(yard.cluster.inventory().nodes["gpu-a08"].spec.taints))
    plan = await yard.confirmed(await yard.plan("node cordon gpu-a03"))
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(replace(plan, state=PlanState.RUNNING))
    await kube.patch(ObjectRef(api="v1", kind="Node", name="gpu-a03"), {"spec": {"unschedulable": True}})
    await yard.seen(lambda: bool(yard.cluster.inventory().nodes["gpu-a03"].spec.unschedulable))
    reply = await yard.say("node list --out")
    rows = {row[0]: row[1:] for line in reply.splitlines()[2:] if (row := line.split(" | "))}
    assert rows["gpu-a08"][0] == "2026-11-21 08:00 UTC"
    assert rows["gpu-a03"][3] == f"plan {plan.id} of dana"
    assert rows["gpu-a02"][0] == "not known"


async def test_a_node_that_our_taint_keeps_pods_off_is_listed_with_it(yard: Yard) -> None:
    over = await yard.do("node taint gpu-a04 gpu=broken:NoSchedule")
    assert over.state is PlanState.DONE, over.error
    await yard.seen(lambda: bool(yard.cluster.inventory().nodes["gpu-a04"].spec.taints))
    reply = await yard.say("node list")
    assert "gpu-a04 | Ready, tainted gpu:NoSchedule" in reply
    assert listed(reply)[:4] == ["gpu-a09", "gpu-a03", "gpu-a08", "gpu-a04"]  # before those that are fine
