"""A bug in one plan fails that plan, for good; the others are run, and no process takes it up again."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.jobs.plan_runner import PlanRunner
from collectors.internal_errors import InternalErrors
from collectors.sources.kubernetes.client import KubernetesClient
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Plan, PlanState, StepState
from commands.models import AuditEntry, CordonLease
from tests.support.execution import executor as executor_of
from tests.support.yard import CLUSTER, Yard

BROKEN, SOUND = "gpu-a01", "gpu-a02"


async def run_until_ended(yard: Yard, executor: PlanExecutor, *plans: Plan) -> list[Plan]:
    """Run a plan runner, as a new process does, until these plans have ended."""
    runner = PlanRunner(yard.store, executor, channel="C_GPU", pauses=(0.01, 0.01))
    stop = yard.store.listen(runner.wake)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        task = group.create_task(runner.run())
        while True:
            async with yard.store.unit() as unit:
                found = [await unit.rows(Plan).get(plan.id) for plan in plans]
            if all(plan is not None and plan.has_ended for plan in found):
                break
            await asyncio.sleep(0.01)
        task.cancel()
    stop()
    return [plan for plan in found if plan is not None]


def breaking(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `read` with a bug that one node triggers."""

    async def read(ref: Any, subresource: str = "") -> Any:
        if ref.name == BROKEN:
            raise KeyError("metadata")
        return await real(ref, subresource)

    return read


async def test_a_bug_fails_its_plan_and_the_next_one_is_run(yard: Yard) -> None:
    broken = await yard.confirmed(await yard.plan(f"node cordon {BROKEN}"))
    sound = await yard.confirmed(await yard.plan(f"node cordon {SOUND}"))
    counts: list[str] = []
    executor = PlanExecutor(
        yard.store, {CLUSTER: yard.writer}, yard.clock, errors=InternalErrors(counts.append)
    )
    yard.writer.read = breaking(yard.writer.read)  # type: ignore[method-assign]

    with capture_logs() as logs:
        failed, done = await run_until_ended(yard, executor, broken, sound)

    assert (failed.state, done.state) == (PlanState.FAILED, PlanState.DONE)
    assert [record.state for record in await yard.records(failed)] == [StepState.FAILED, StepState.SKIPPED]
    (logged,) = [log for log in logs if log["event"] == "internal error"]
    assert logged["reference"] in failed.error
    assert "This step was not done" in failed.error  # the bug was before the write
    assert counts == ["plan"]


async def test_a_failed_plan_is_not_taken_up_by_the_next_process(yard: Yard) -> None:
    plan = await yard.confirmed(await yard.plan(f"node cordon {BROKEN}"))
    real = yard.writer.read
    yard.writer.read = breaking(real)  # type: ignore[method-assign]
    with capture_logs():
        await run_until_ended(yard, yard.executor, plan)
    yard.writer.read = real  # type: ignore[method-assign]

    (again,) = await run_until_ended(yard, yard.executor, plan)

    assert again.state is PlanState.FAILED


async def test_a_plan_that_broke_between_its_steps_is_ended_too(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = await yard.confirmed(await yard.plan(f"node cordon {SOUND}"))

    async def broken(*_: Any) -> Plan:
        raise RuntimeError("a bug")

    with monkeypatch.context() as patched, capture_logs():
        patched.setattr(PlanExecutor, "execute", broken)
        (ended,) = await run_until_ended(yard, yard.executor, plan)

    assert ended.state is PlanState.FAILED
    assert "internal error RuntimeError" in ended.error


async def test_a_store_that_is_away_for_long_ends_no_plan(yard: Yard) -> None:
    """Away for more tries than a bug gets."""
    plan = await yard.confirmed(await yard.plan(f"node cordon {SOUND}"))
    real, left = yard.store.unit, 40

    def away() -> Any:
        nonlocal left
        if left and (task := asyncio.current_task()) is not None and task.get_name() == f"plan {plan.id}":
            left -= 1
            raise OSError("the database is gone")
        return real()

    yard.store.unit = away  # type: ignore[method-assign]
    with capture_logs():
        (ended,) = await run_until_ended(yard, yard.executor, plan)

    assert left == 0
    assert ended.state is PlanState.DONE, ended.error


async def test_a_proxy_that_answers_with_other_json_is_named_and_nothing_breaks(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = await yard.confirmed(await yard.plan(f"node cordon {SOUND}"))

    async def behind_a_login_page(self: KubernetesClient, *_: Any, **__: Any) -> bytes:
        return json.dumps({"error": "log in first"}).encode()

    monkeypatch.setattr(KubernetesClient, "call", behind_a_login_page)
    with capture_logs() as logs:
        (ended,) = await run_until_ended(yard, executor_of(yard.store, yard.writer), plan)

    assert ended.state is PlanState.FAILED
    assert "proxy in between" in ended.error
    assert not [log for log in logs if log["event"] == "internal error"]


class FaultyStore:
    """A store whose `fail_at`-th unit fails, before its commit or after it."""

    def __init__(self, store: Any, fail_at: int, *, is_committed: bool) -> None:
        self._store = store
        self._left = fail_at
        self._is_committed = is_committed

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Any]:
        self._left -= 1
        if self._left == 0 and not self._is_committed:
            raise OSError("database is locked")
        async with self._store.unit() as unit:
            yield unit
        if self._left == 0:
            raise OSError("connection lost")


@pytest.mark.parametrize("is_committed", [False, True], ids=["not committed", "committed"])
@pytest.mark.parametrize("fail_at", range(1, 10))
async def test_one_error_of_the_store_anywhere_fails_no_plan(
    yard: Yard, fail_at: int, *, is_committed: bool
) -> None:
    plan = await yard.confirmed(await yard.plan(f"node cordon {SOUND}"))
    executor = executor_of(FaultyStore(yard.store, fail_at, is_committed=is_committed), yard.writer)

    with capture_logs():
        (ended,) = await run_until_ended(yard, executor, plan)

    assert ended.state is PlanState.DONE
    assert [record.state for record in await yard.records(ended)] == [StepState.DONE, StepState.DONE]
    async with yard.store.unit() as unit:
        assert len(await unit.rows(CordonLease).find()) == 1
        assert [one.what for one in await unit.rows(AuditEntry).find(plan=plan.id)][-1] == "done"


async def test_what_is_known_of_the_steps_stays_when_a_plan_is_abandoned(yard: Yard) -> None:
    plan = await yard.do(f"node cordon {SOUND}")
    interrupted = replace(plan, state=PlanState.RUNNING, ended_at=None)
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(interrupted)

    with capture_logs():
        ended = await yard.executor.abandon(interrupted, RuntimeError("a bug"))

    assert ended.state is PlanState.FAILED
    assert [record.state for record in await yard.records(ended)] == [StepState.DONE, StepState.DONE]
    assert await yard.executor.abandon(plan, RuntimeError("again")) == ended
