"""`node drain` of several nodes for which a budget has not all places: each becomes a plan, and begins when it may."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.core.request import Actor
from commands.execution.plan import OVER, Plan, PlanState
from commands.models import AuditEntry
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.budgets import keep_budgets, of_pool
from tests.support.drained import until
from tests.support.running_plans import runs_plans
from tests.support.yard import CLUSTER, Yard, yard_before

ELI = Actor(id="U_ELI", name="eli", teams=frozenset({"sre"}))
NODES = ("gpu-a01", "gpu-a02", "gpu-a03")
LINE = f"node drain {' '.join(NODES)} --reason 'replace fans' --for 90m"


@pytest.fixture
def nodes() -> Sequence[str]:
    return (*NODES, "gpu-a04")


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    permissions = Permissions(teams={"sre": Grant(commands=("*",))}, automation={})
    async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig"), permissions=permissions) as yard:
        keep_budgets(yard, of_pool(2))
        kube.patch("Node", "", "gpu-a04", {"spec": {"unschedulable": True}})
        await yard.seen(lambda: bool(yard.cluster.inventory().nodes["gpu-a04"].spec.unschedulable))
        yield yard


async def plans(yard: Yard) -> dict[str, Plan]:
    async with yard.store.read() as snapshot:
        return {
            one.line.removesuffix(f" --cluster {CLUSTER}"): one for one in await snapshot.rows(Plan).find()
        }


async def divided(yard: Yard) -> list[Plan]:
    """Return the parts of the plan in the order of its nodes, once one of them is done and the others wait."""

    async def found() -> bool:
        states = [one.state for one in (await parts(yard))]
        return states.count(PlanState.DONE) == 1 and states.count(PlanState.WAITING) == 2

    await until(found)
    return await parts(yard)


async def parts(yard: Yard) -> list[Plan]:
    return [one for one in (await plans(yard)).values() if one.part_of]


def cordoned(kube: KubernetesLookalike) -> list[str]:
    return [name for name in NODES if (kube.get("Node", "", name) or {})["spec"].get("unschedulable")]


async def test_each_node_is_taken_as_a_place_comes_free(yard: Yard, kube: KubernetesLookalike) -> None:
    whole = await yard.confirmed(await yard.plan(LINE))
    async with runs_plans(yard):
        first, second, third = await divided(yard)
        assert cordoned(kube) == ["gpu-a01"], "one place was free"
        assert first.line == (f"node drain gpu-a01 --reason 'replace fans' --for 1h30m --cluster {CLUSTER}")
        assert "2 of 2 nodes out of service" in second.held
        assert "waits longer" in third.held or "2 of 2" in third.held

        kube.patch("Node", "", "gpu-a04", {"spec": {"unschedulable": None}})
        await yard.seen(lambda: not yard.cluster.inventory().nodes["gpu-a04"].spec.unschedulable)
        yard.clock.move(timedelta(minutes=2))

        async def goes_on() -> bool:
            return len(cordoned(kube)) == 2

        await until(goes_on)
        yard.clock.move(timedelta(minutes=2))
        await yard.do("node uncordon gpu-a01")

        async def all_done() -> bool:
            return all(one.state is PlanState.DONE for one in await parts(yard))

        yard.clock.move(timedelta(minutes=2))
        await until(all_done)
    assert cordoned(kube) == ["gpu-a02", "gpu-a03"]
    over = (await plans(yard))[LINE]
    assert over.state is PlanState.CANCELLED
    assert over.error == f"it goes on as plans {first.id}, {second.id} and {third.id}"
    assert over.id == whole.id
    async with yard.store.read() as snapshot:
        entries = await snapshot.rows(AuditEntry).find(plan=first.id)
    assert entries[0].text == f"part of plan {whole.id}, which waited"
    assert entries[0].what == "confirmed"


async def test_what_is_left_is_cancelled_as_one_or_each_by_itself(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    whole = await yard.confirmed(await yard.plan(LINE))
    async with runs_plans(yard):
        _, second, third = await divided(yard)
        await yard.say(f"plan cancel {second.id}")
        assert "1 of its 3 parts was not finished" in await yard.say(f"plan cancel {whole.id}")
        assert (await plans(yard))[
            third.line.removesuffix(f" --cluster {CLUSTER}")
        ].state is PlanState.CANCELLED
        assert "already cancelled" in await yard.say(f"plan cancel {whole.id}")
    assert cordoned(kube) == ["gpu-a01"]


async def test_a_drain_that_fits_stays_one_plan(yard: Yard, kube: KubernetesLookalike) -> None:
    keep_budgets(yard, of_pool(4))
    await yard.confirmed(await yard.plan(LINE))
    async with runs_plans(yard):

        async def over() -> bool:
            return (await plans(yard))[LINE].state in OVER

        await until(over)
    assert (await plans(yard))[LINE].state is PlanState.DONE
    assert await parts(yard) == []
    assert cordoned(kube) == list(NODES)


async def test_a_part_that_would_do_more_than_was_confirmed_is_none(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await yard.confirmed(await yard.plan(LINE))
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "new", "namespace": "default", "labels": {"app": "new"}},
        "spec": {"nodeName": "gpu-a02", "containers": [{"name": "main", "image": "i"}]},
    }
    kube.create(pod)
    await yard.seen(lambda: bool(yard.cluster.inventory().pods_on("gpu-a02")))
    async with runs_plans(yard):

        async def waits() -> bool:
            return (await plans(yard))[LINE].state is PlanState.WAITING

        await until(waits)
        await asyncio.sleep(0.3)
    assert (await plans(yard))[LINE].state is PlanState.WAITING
    assert await parts(yard) == []
    assert cordoned(kube) == []
