"""An undo that one object refuses undoes the others, and says which it is not."""

from collections.abc import Sequence
from typing import Any

import pytest

from commands.core.cordoned_nodes import BY
from commands.execution.plan import PlanState, StepState
from commands.execution.plan_card import card_of
from commands.models import CordonLease
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import Yard, text_of

NODES = ("gpu-a01", "gpu-a02", "gpu-a03")
LINE = f"node cordon {' '.join(NODES)}"


@pytest.fixture
def nodes() -> Sequence[str]:
    return NODES


def changed_by_another(kube: KubernetesLookalike, name: str) -> None:
    kube.patch("nodes", "", name, {"metadata": {"annotations": {BY: "eli"}}})


def cordons(kube: KubernetesLookalike) -> list[str]:
    found: list[dict[str, Any]] = [dict(one) for one in kube.list("nodes")]
    return [one["metadata"]["name"] for one in found if one["spec"].get("unschedulable")]


async def leases(yard: Yard) -> list[str]:
    async with yard.store.read() as snapshot:
        return sorted(lease.node for lease in await snapshot.rows(CordonLease).find())


@pytest.mark.parametrize("name", NODES)
async def test_a_node_that_somebody_changed_keeps_no_other_node_cordoned(
    yard: Yard, kube: KubernetesLookalike, name: str
) -> None:
    plan = await yard.do(LINE)
    changed_by_another(kube, name)

    said = await yard.say(f"plan undo {plan.id}")
    proposed = await yard.newest()
    assert proposed is not None
    assert (
        f"This will not be done: uncordon {name} (node {name}: metadata.annotations.{BY} is 'eli' now" in said
    )
    assert "The API server accepted a dry run" not in said

    undone = await yard.executor.execute(await yard.confirmed(proposed))

    assert undone.state is PlanState.FAILED
    assert (cordons(kube), await leases(yard)) == ([name], [name])
    card = text_of(card_of(undone, await yard.records(undone)))
    assert f"✗ uncordon {name} (node {name}: " in card
    assert f"– end the lease of {name}" in card
    for other in set(NODES) - {name}:
        assert f"✓ uncordon {other}" in card
        assert f"✓ end the lease of {other}" in card


async def test_after_the_reason_is_gone_it_can_be_undone_again(yard: Yard, kube: KubernetesLookalike) -> None:
    plan = await yard.do(LINE)
    changed_by_another(kube, "gpu-a02")
    await yard.do(f"plan undo {plan.id}")
    kube.patch("nodes", "", "gpu-a02", {"metadata": {"annotations": {BY: "dana"}}})

    again = await yard.do(f"plan undo {plan.id}")

    assert again.state is PlanState.DONE, again.error
    assert (cordons(kube), await leases(yard)) == ([], [])


async def test_an_undo_that_every_node_refuses_is_not_proposed(yard: Yard, kube: KubernetesLookalike) -> None:
    plan = await yard.do(LINE)
    for name in NODES:
        changed_by_another(kube, name)
    said = await yard.say(f"plan undo {plan.id}")
    assert f"metadata.annotations.{BY} is 'eli' now, not 'dana' as shown: run the command again" in said
    assert "[Confirm]" not in said


async def test_a_node_that_changes_after_the_confirmation_stops_only_its_own_steps(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await yard.do(LINE)
    confirmed = await yard.confirmed(await yard.plan(f"plan undo {plan.id}"))
    changed_by_another(kube, "gpu-a03")  # the first to be undone

    undone = await yard.executor.execute(confirmed)

    assert [one.state for one in await yard.records(undone)] == [
        StepState.FAILED,
        StepState.SKIPPED,
        *[StepState.DONE] * 4,
    ]
    assert (cordons(kube), await leases(yard)) == (["gpu-a03"], ["gpu-a03"])
