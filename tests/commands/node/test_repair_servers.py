"""`node repair` on the look-alike and on a real control plane: done, refused, never started, crashed, nothing left."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from commands.execution.executor import PlanExecutor
from commands.execution.job_runs import JobRunState
from commands.execution.plan import Plan, PlanState, StepState
from commands.execution.plan_card import card_of
from tests.support.drained import ON_BOTH_SERVERS, quick, until
from tests.support.node_jobs import JobStage, job_stage
from tests.support.yard import text_of


@pytest.fixture(params=ON_BOTH_SERVERS)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[JobStage]:
    async with job_stage(request, tmp_path) as made:
        yield made


async def begun(stage: JobStage, line: str = "") -> tuple[Plan, "asyncio.Task[Plan]"]:
    """Confirm a repair and begin it. The namespace of the rights is that of the chart, so they are not compared."""
    reply = await stage.yard.say(line or f"node repair {stage.node} --with nvidia-uvm")
    plan = await stage.yard.newest()
    assert plan is not None, reply
    confirmed = await stage.yard.confirmed(plan)
    return confirmed, asyncio.get_running_loop().create_task(stage.yard.executor.execute(confirmed))


async def waits_for(stage: JobStage, plan: Plan, text: str) -> None:
    async def is_said() -> bool:
        return any(text in record.outcome for record in await stage.yard.records(plan))

    await until(is_said)


async def test_a_repair_runs_on_its_node_and_leaves_nothing(stage: JobStage) -> None:
    stage.log += b"loaded nvidia-uvm\n"
    plan, task = await begun(stage)
    pod = await stage.pod()
    (job,) = await stage.jobs()
    spec = job["spec"]["template"]["spec"]
    assert spec["nodeName"] == stage.node
    assert spec["containers"][0]["securityContext"] == {"privileged": True}
    assert (job["spec"]["backoffLimit"], spec["restartPolicy"]) == (0, "Never")
    assert job["spec"]["activeDeadlineSeconds"] == 300
    await waits_for(stage, plan, "it runs")
    if not stage.is_real:  # its API server has no kubelet to read a log from
        await waits_for(stage, plan, "it runs: loaded nvidia-uvm")
        card = card_of(plan, await stage.yard.records(plan), await stage.runs())
        assert "loaded nvidia-uvm" in text_of(card)
    await stage.kubelets.end(pod, 0)
    over = await task
    assert over.state is PlanState.DONE, over.error
    await stage.nothing_is_left()
    await stage.tidy()
    (run,) = await stage.runs()
    assert (run.state, run.exit_code, run.remove_at) == (JobRunState.DONE, 0, None)


async def test_a_repair_that_fails_says_with_what(stage: JobStage) -> None:
    stage.log += b"modprobe could not load nvidia-uvm\n"
    _, task = await begun(stage)
    await stage.kubelets.end(await stage.pod(), 1)
    over = await task
    assert over.state is PlanState.FAILED
    assert "it ended with code 1" in over.error
    assert stage.is_real or "modprobe could not load nvidia-uvm" in over.error
    await stage.nothing_is_left()


async def test_an_image_that_is_not_there_is_named_and_the_job_removed(stage: JobStage) -> None:
    stage.kubelets.starts_pods = False
    plan, task = await begun(stage)
    waiting = {"reason": "ImagePullBackOff", "message": "not found"}
    status = {"name": "script", "ready": False, "restartCount": 0, "image": "registry.example/tools:1"}
    pod = await stage.waiting_pod()
    await stage.set_status(
        pod, phase="Pending", containerStatuses=[{**status, "imageID": "", "state": {"waiting": waiting}}]
    )
    await waits_for(stage, plan, "it has not started: the image registry.example/tools:1 cannot be pulled")
    stage.yard.clock.move(timedelta(minutes=4))
    over = await task
    assert over.state is PlanState.FAILED
    assert "it never started: the image registry.example/tools:1 cannot be pulled" in over.error
    await stage.nothing_is_left()


async def test_a_kubelet_that_does_not_start_it_is_waited_for_and_then_given_up(stage: JobStage) -> None:
    stage.kubelets.starts_pods = False
    plan, task = await begun(stage)
    await stage.waiting_pod()
    await waits_for(stage, plan, "the kubelet has not started its pod")
    stage.yard.clock.move(timedelta(minutes=4))
    over = await task
    assert "it never started: the kubelet has not started its pod" in over.error
    await stage.nothing_is_left()


async def test_after_a_crash_there_is_one_job_which_is_followed(stage: JobStage) -> None:
    plan, task = await begun(stage)
    pod = await stage.pod()
    await waits_for(stage, plan, "it runs")
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    uid = (await stage.jobs())[0]["metadata"]["uid"]
    again = PlanExecutor(stage.yard.store, {"prod-a": stage.yard.writer}, stage.yard.clock, quick)
    second = asyncio.get_running_loop().create_task(again.execute(plan))
    await asyncio.sleep(0.3)
    assert [one["metadata"]["uid"] for one in await stage.jobs()] == [uid]
    await stage.kubelets.end(pod, 0)
    over = await second
    assert over.state is PlanState.DONE, over.error
    (run,) = await stage.runs()
    assert run.uid == uid
    await stage.nothing_is_left()


async def test_what_a_dead_process_left_is_removed_when_its_time_is_over(stage: JobStage) -> None:
    plan, task = await begun(stage)
    await stage.pod()
    await waits_for(stage, plan, "it runs")
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert await stage.jobs()
    stage.yard.clock.move(timedelta(hours=1))
    await stage.tidy()
    await stage.nothing_is_left()
    over = await stage.yard.executor.execute(plan)  # what it did is not known, and it is not run again
    assert over.state is PlanState.FAILED
    assert [record.state for record in await stage.yard.records(over)] == [StepState.UNKNOWN]
    assert "how it ended was not seen" in over.error
    assert not await stage.jobs()


async def test_a_job_that_somebody_deletes_is_not_begun_again(stage: JobStage) -> None:
    plan, task = await begun(stage)
    await stage.pod()
    await waits_for(stage, plan, "it runs")
    (job,) = await stage.jobs()
    path = stage.kubelets.path("jobs", job["metadata"]["name"], api="/apis/batch/v1")
    await stage.kubelets.call("DELETE", path, {"propagationPolicy": "Background"})
    over = await task
    assert "its Job is gone, and how it ended was not seen" in over.error
    await stage.nothing_is_left()


async def test_a_node_that_is_replaced_under_its_name_ends_the_repair(stage: JobStage) -> None:
    plan, task = await begun(stage)
    await stage.pod()
    await waits_for(stage, plan, "it runs")
    await stage.kubelets.call("DELETE", f"/api/v1/nodes/{stage.node}")
    over = await task
    assert over.state is PlanState.FAILED
    assert "its Job is gone" in over.error or "no longer in the cluster" in over.error
    await stage.tidy()
    await stage.nothing_is_left()


async def test_a_second_repair_of_the_node_is_refused_while_one_runs(stage: JobStage) -> None:
    plan, task = await begun(stage)
    pod = await stage.pod()
    said = await stage.yard.say(f"node repair {stage.node} --with clear-images")
    assert f"Plan {plan.id} of dana runs repair/nvidia-uvm on {stage.node} now" in said
    await stage.kubelets.end(pod, 0)
    assert (await task).state is PlanState.DONE


async def test_two_plans_confirmed_at_once_run_one_after_the_other(stage: JobStage) -> None:
    plans = []
    for name in ("nvidia-uvm", "clear-images"):
        await stage.yard.say(f"node repair {stage.node} --with {name}")
        newest = await stage.yard.newest()
        assert newest is not None
        plans.append(newest)
    confirmed = [await stage.yard.confirmed(plan) for plan in plans]
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(stage.yard.executor.execute(plan)) for plan in confirmed]
    for _ in tasks:
        pod = await stage.pod()
        assert len(await stage.jobs()) == 1
        await stage.kubelets.end(pod, 0)

        async def gone(name: str = pod) -> bool:
            return name not in [one["metadata"]["name"] for one in await stage.all_pods()]

        await until(gone)
    assert [(await task).state for task in tasks] == [PlanState.DONE, PlanState.DONE]
    await stage.nothing_is_left()


async def test_a_namespace_that_forbids_privileged_pods_is_named_at_once(stage: JobStage) -> None:
    if not stage.is_real:
        pytest.skip("the look-alike has no pod security")
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    path = f"/api/v1/namespaces/{stage.kubelets.namespace}"
    await stage.kubelets.call("PATCH", path, {"metadata": {"labels": labels}})
    _, task = await begun(stage)
    over = await task
    assert f"the namespace {stage.kubelets.namespace} forbids its pod" in over.error
    assert "pod-security.kubernetes.io/enforce=privileged" in over.error
    await stage.nothing_is_left()


async def test_a_namespace_that_is_not_there_is_named_with_its_setting(stage: JobStage) -> None:
    await stage.kubelets.call("DELETE", f"/api/v1/namespaces/{stage.kubelets.namespace}")

    async def gone() -> bool:
        found = await stage.kubelets.call("GET", "/api/v1/namespaces")
        return stage.kubelets.namespace not in [one["metadata"]["name"] for one in found["items"]]

    await until(gone)
    said = await stage.yard.say(f"node repair {stage.node} --with nvidia-uvm")
    assert f"there is no namespace {stage.kubelets.namespace}" in said
    assert "node_jobs.namespace" in said
