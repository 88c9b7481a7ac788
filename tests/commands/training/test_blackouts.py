"""A blackout at each write of a launch and of a stop: afterwards nothing is orphaned."""

import pytest

from bot.jobs.unknown_steps import UnknownSteps
from collectors.cluster.kinds import NAMESPACES
from collectors.internal_errors import InternalErrors
from commands.execution.plan import Plan, PlanState, StepState
from commands.models import Launch
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.blackout import blackout
from tests.support.execution import executor
from tests.support.yard import ANA, DANA, Yard

LAUNCH = "training launch mnist --image registry.example/mnist:7 --gpus 1"
WRITES = 5  # namespace, pull secret, service, job, resume


@pytest.mark.parametrize("lands", [True, False], ids=["landed", "did not land"])
@pytest.mark.parametrize("at", range(1, WRITES + 1))
async def test_a_launch_that_was_cut_off_by_a_blackout_can_be_undone_without_a_rest(
    yard: Yard, kube: KubernetesLookalike, at: int, lands: bool
) -> None:
    plan = await yard.confirmed(await yard.plan(LAUNCH, ANA), ANA)
    runs = executor(yard.store, yard.writer)
    with blackout(lands=lands, at=at):
        over = await runs.execute(plan)
    assert over.state is PlanState.FAILED
    states = [record.state for record in await yard.records(over)]
    assert states[: at - 1] == [StepState.DONE] * (at - 1)
    assert states[at - 1] is StepState.UNKNOWN

    assert await UnknownSteps(yard.store, runs, yard.clock, errors=InternalErrors()).check() == 0

    async with yard.store.unit() as unit:
        launches = await unit.rows(Launch).find()
        settled = await unit.rows(Plan).get(plan.id)
    assert settled is not None
    assert bool(launches) == (lands and at == WRITES)
    assert settled.state is (PlanState.DONE if lands and at == WRITES else PlanState.FAILED)
    if at > 1 or lands:
        if made := kube.get("namespaces", "", "mnist"):
            uid = made["metadata"]["uid"]
            await yard.seen(lambda: getattr(_namespace(yard), "uid", "") == uid)
        undone = await yard.do(f"plan undo {plan.id}", DANA)
        assert undone.state is PlanState.DONE, undone.error
    assert (
        kube.get("namespaces", "", "mnist") is None
        or "deletionTimestamp"
        in kube.get(  # type: ignore[index]
            "namespaces", "", "mnist"
        )["metadata"]
    )
    assert not kube.list("jobs", "mnist")


def _namespace(yard: Yard) -> object:
    found = yard.cluster.inventory().all(NAMESPACES).get("mnist")
    return found.metadata if found is not None else None
