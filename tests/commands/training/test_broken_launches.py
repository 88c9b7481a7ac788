"""Launches that crash or are undone: nothing is created twice, and nothing is left."""

from typing import Any

import pytest

from commands.execution.executor import PlanExecutor
from commands.execution.plan import PlanState, StepState
from commands.execution.steps import Create, Patch
from commands.models import Launch
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.training.test_launching import LINE, owned
from tests.support.yard import ANA, DANA, Yard


class Crash(BaseException):
    """A crash of the process."""


@pytest.mark.parametrize("is_after", [False, True], ids=["before the call", "after the call"])
async def test_a_crash_at_any_step_creates_nothing_twice(
    yard: Yard, kube: KubernetesLookalike, is_after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = await yard.confirmed(await yard.plan(LINE, ANA), ANA)
    calls = {"create": type(yard.writer).create, "patch": type(yard.writer).patch}
    writes = sum(isinstance(step, Create | Patch) for step in plan.steps)
    for _ in range(writes):
        count = 0

        async def dying(*args: Any, call: Any, **more: Any) -> Any:
            nonlocal count
            number, count = count, count + 1
            # Each run does at least the step at which the last one crashed.
            if number == 1 and not is_after:
                raise Crash
            made = await call(*args, **more)
            if number == 0 and is_after:
                raise Crash
            return made

        with monkeypatch.context() as patched:
            for name, call in calls.items():
                patched.setattr(
                    type(yard.writer),
                    name,
                    lambda *args, call=call, **more: dying(*args, call=call, **more),
                )
            try:
                await yard.executor.execute(await yard.stored(plan.id))
            except Crash:
                continue
            break
    done = await PlanExecutor(yard.store, {"prod-a": yard.writer}, yard.clock).execute(
        await yard.stored(plan.id)
    )
    assert done.state is PlanState.DONE, done.error
    assert all(record.state is StepState.DONE for record in await yard.records(done))
    assert len(owned(kube, "jobs")) == 1
    assert len(owned(kube, "services")) == 2
    job = kube.get("jobs", "mnist", "mnist-worker")
    assert job is not None
    assert job["spec"]["suspend"] is False


async def test_undoing_a_launch_leaves_nothing(yard: Yard, kube: KubernetesLookalike) -> None:
    plan = await yard.do(LINE, ANA)
    undone = await yard.do(f"plan undo {plan.id}", DANA)
    assert undone.state is PlanState.DONE, undone.error
    space = kube.get(
        "namespaces", "", "mnist"
    )  # its pods only end if a kubelet reports it, and there is none
    assert space is None or space["metadata"]["deletionTimestamp"]
    assert not owned(kube, "jobs")
    assert not owned(kube, "services")
    assert not owned(kube, "secrets")
    async with yard.store.unit() as unit:
        launch = await unit.rows(Launch).get("prod-a/mnist/Namespace/mnist")
    assert launch is not None
    assert (launch.is_over, launch.reported_state) == (True, "stopped")
