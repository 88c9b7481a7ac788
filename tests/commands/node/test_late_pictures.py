"""A command that is planned by a late picture of the cluster: no lease ends while its cordon stands."""

from collections.abc import Sequence

import pytest

from collectors.cluster.inventory import Inventory
from commands.core.cordoned_nodes import BY
from commands.execution.plan import PlanState, StepState
from commands.models import CordonLease
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.execution import executor
from tests.support.yard import Yard, a_node_tree

NODE = "gpu-a01"


@pytest.fixture
def nodes() -> Sequence[str]:
    return (NODE, "gpu-a02")


def with_a_picture_of(yard: Yard, seen: Inventory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the watch of the cluster be silent: the picture stays as it was."""
    monkeypatch.setattr(yard.cluster, "refresh", lambda: seen)


async def leases(yard: Yard) -> list[str]:
    async with yard.store.read() as snapshot:
        return [lease.node for lease in await snapshot.rows(CordonLease).find()]


def is_cordoned(kube: KubernetesLookalike, name: str = NODE) -> bool:
    node = kube.get("nodes", "", name)
    assert node is not None
    ours = BY in (node["metadata"].get("annotations") or {})
    assert bool(node["spec"].get("unschedulable")) is ours
    return ours


async def test_an_uncordon_by_a_picture_from_before_the_cordon_lifts_it(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_a_picture_of(yard, yard.cluster.inventory(), monkeypatch)
    assert (await yard.do(f"node cordon {NODE}")).state is PlanState.DONE

    plan = await yard.do(f"node uncordon {NODE}")

    assert plan.state is PlanState.DONE, plan.error
    assert (is_cordoned(kube), await leases(yard)) == (False, [])


async def test_a_lease_does_not_end_while_its_cordon_stands_whatever_was_planned(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    await yard.do(f"node cordon {NODE}")
    kube.patch("nodes", "", NODE, {"spec": {"unschedulable": None}, "metadata": {"annotations": {BY: None}}})
    forgotten = await yard.confirmed(await yard.plan(f"node uncordon {NODE}"))
    kube.patch(
        "nodes", "", NODE, {"spec": {"unschedulable": True}, "metadata": {"annotations": {BY: "dana"}}}
    )

    plan = await yard.executor.execute(forgotten)

    assert plan.state is PlanState.FAILED
    assert f"node {NODE}: metadata.annotations.{BY} is 'dana' now, not None as shown" in plan.error
    assert (is_cordoned(kube), await leases(yard)) == (True, [NODE])


async def test_a_cordon_that_somebody_lifted_at_once_gets_no_lease(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = yard.writer.patch

    async def lifted(*args: object, **named: object) -> object:
        answer = await real(*args, **named)  # type: ignore[arg-type]
        if not named.get("dry_run"):
            kube.patch(
                "nodes", "", NODE, {"spec": {"unschedulable": None}, "metadata": {"annotations": {BY: None}}}
            )
        return answer

    planned = await yard.confirmed(await yard.plan(f"node cordon {NODE}"))
    monkeypatch.setattr(yard.writer, "patch", lifted)
    plan = await yard.executor.execute(planned)

    assert plan.state is PlanState.FAILED
    assert "spec.unschedulable is None now, not True as shown" in plan.error
    assert (is_cordoned(kube), await leases(yard)) == (False, [])


async def test_a_lease_whose_node_cannot_be_read_is_recorded_once_it_can(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    planned = await yard.confirmed(await yard.plan(f"node cordon {NODE}"))
    kube.fail(lambda seen: seen.method == "GET" and BY in str(kube.get("nodes", "", NODE)), 503, times=100)
    runs = executor(yard.store, yard.writer)
    plan = await runs.execute(planned)

    assert [one.state for one in await yard.records(plan)] == [StepState.DONE, StepState.UNKNOWN]
    assert (is_cordoned(kube), await leases(yard)) == (True, [])
    assert "It is not known whether this step was done: record the cordon of gpu-a01" in plan.error

    kube.recover()
    plan = await runs.settle(plan)

    assert plan.state is PlanState.DONE
    assert (is_cordoned(kube), await leases(yard)) == (True, [NODE])


async def test_an_undo_ends_no_lease_before_its_cordon_is_lifted(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    first = await yard.do(f"node cordon {NODE} gpu-a02")
    planned = await yard.confirmed(await yard.plan(f"plan undo {first.id}"))
    kube.patch("nodes", "", NODE, {"metadata": {"annotations": {BY: "eli"}}})

    undone = await yard.executor.execute(planned)

    assert undone.state is PlanState.FAILED
    assert (is_cordoned(kube), is_cordoned(kube, "gpu-a02"), await leases(yard)) == (True, False, [NODE])


async def test_an_undo_about_a_node_that_is_gone_leaves_the_lease_of_its_successor(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    first = await yard.do(f"node cordon {NODE}")
    kube.delete("nodes", "", NODE)
    kube.create(a_node_tree(NODE), keep_status=True)
    await yard.do(f"node cordon {NODE} --for 1h")

    undone = await yard.do(f"plan undo {first.id}")

    assert undone.state is PlanState.DONE, undone.error
    assert (is_cordoned(kube), await leases(yard)) == (True, [NODE])
