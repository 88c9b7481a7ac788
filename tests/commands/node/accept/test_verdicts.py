"""The verdict of `node accept`, also after a kill, and the incident that it proves over."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertState
from alerts.rules import Proof
from collectors.facts.labels import Labels
from collectors.facts.topology import Topology
from commands.acceptance.acceptance import AcceptanceState
from commands.core.request import Request
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Plan, PlanState, StepRecord
from tests.support.accepting import FAIL, PASS, begun, cordon, run_all, the_acceptance, watcher
from tests.support.drained import quick, until
from tests.support.examples import by_profile
from tests.support.grouping import add_alert
from tests.support.node_jobs import JobStage
from tests.support.rows import an_alert


async def test_a_node_that_passes_is_accepted_and_nothing_is_left(stage: JobStage) -> None:
    stage.log += PASS
    await cordon(stage)
    _, task = await begun(stage)
    over = await run_all(stage, task, 0, 0)
    assert over.state is PlanState.DONE, over.error
    await stage.nothing_is_left()
    await watcher(stage).check()
    one = await the_acceptance(stage)
    async with stage.yard.store.unit() as unit:
        steps = await unit.rows(StepRecord).find(plan=over.id)
    assert [step.outcome for step in steps[1:]] == ["done", "done"]  # the figures are in the verdict
    if stage.is_real:  # its API server has no kubelet to read a log from, so nothing proves anything
        assert one.state is AcceptanceState.UNTESTED
        return
    assert (one.state, one.is_first) == (AcceptanceState.ACCEPTED, True)
    assert "accepted" in await stage.yard.say(f"node show {stage.node}")
    assert ", accepted " in await stage.yard.say("node list --cordoned")
    assert "not accepted" not in await stage.yard.say("node list --all")


async def test_a_node_that_somebody_uncordoned_meanwhile_is_not_judged_by_its_figures(
    light_stage: JobStage,
) -> None:
    light_stage.log += PASS
    await cordon(light_stage)
    _, task = await begun(light_stage)
    await light_stage.pod()
    body = {"spec": {"unschedulable": False}}
    await light_stage.kubelets.call("PATCH", f"/api/v1/nodes/{light_stage.node}", body)
    await run_all(light_stage, task, 0, 0)
    lines: list[Request] = []
    await watcher(light_stage, ends_lease=True, lines=lines).check()
    one = await the_acceptance(light_stage)
    assert (one.state, one.reasons) == (
        AcceptanceState.UNTESTED,
        ("somebody uncordoned it while it was tested, so its figures do not count",),
    )
    assert lines == []


async def test_a_part_that_failed_is_named_with_the_next_step(light_stage: JobStage) -> None:
    light_stage.log += FAIL
    await cordon(light_stage)
    _, task = await begun(light_stage)
    await run_all(light_stage, task, 0, 0)
    await watcher(light_stage).check()
    one = await the_acceptance(light_stage)
    assert (one.state, one.reasons) == (AcceptanceState.FAILED, ("disk-write: an I/O error",))


async def test_a_test_that_ends_with_an_error_stops_the_suite(light_stage: JobStage) -> None:
    light_stage.log += PASS
    await cordon(light_stage)
    _, task = await begun(light_stage)
    over = await run_all(light_stage, task, 3)
    assert over.state is PlanState.FAILED
    await light_stage.nothing_is_left()
    await watcher(light_stage).check()
    one = await the_acceptance(light_stage)
    assert one.state is AcceptanceState.UNTESTED
    assert one.reasons == ("devices: it ended with code 3", "disk: it was not started")


@pytest.mark.parametrize("seed", by_profile(range(4), range(30)))
async def test_an_acceptance_that_is_killed_goes_on_and_no_test_runs_twice(
    light_stage: JobStage, seed: int
) -> None:
    light_stage.log += PASS
    point, later = seed % 4, Random(seed).uniform(0, 0.2) if seed >= 4 else 0.0
    await cordon(light_stage)
    plan, task = await begun(light_stage)
    created: set[str] = set()

    async def uid() -> str:
        await light_stage.pod()
        (job,) = await light_stage.jobs()
        created.add(job["metadata"]["uid"])
        return str(job["metadata"]["uid"])

    async def second() -> bool:
        return await uid() != first

    async def killed(running: "asyncio.Task[Plan]") -> "asyncio.Task[Plan]":
        await asyncio.sleep(later)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        again = PlanExecutor(
            light_stage.yard.store, {"prod-a": light_stage.yard.writer}, light_stage.yard.clock, quick
        )
        return asyncio.get_running_loop().create_task(again.execute(plan))

    if point == 0:  # before anything was sent
        task = await killed(task)
    first = await uid()
    if point == 1:  # while the first test runs
        task = await killed(task)
        assert await uid() == first
    await light_stage.kubelets.end(await light_stage.pod(), 0)
    if point == 2:  # when it has ended, and was perhaps not seen to have
        task = await killed(task)
    await until(second)
    if point == 3:  # in the second test
        task = await killed(task)
    await light_stage.kubelets.end(await light_stage.pod(), 0)
    over = await task
    assert over.state is PlanState.DONE, over.error
    assert len(created) == 2
    await light_stage.nothing_is_left()
    await watcher(light_stage).check()
    assert (await the_acceptance(light_stage)).state is AcceptanceState.ACCEPTED


async def test_a_pass_is_the_proof_of_an_incident_that_waits_for_one(light_stage: JobStage) -> None:
    yard, node = light_stage.yard, light_stage.node
    light_stage.log += PASS
    alert = an_alert(node, at=yard.clock.now() - timedelta(hours=1))
    alert = replace(alert, cluster="prod-a", labels=Labels({**alert.labels, "alertname": "GPUXIDError"}))
    incident = open_incident("i1", alert, channels=("C1",), now=yard.clock.now() - timedelta(hours=1))
    topology = Topology(cluster="prod-a")
    incident = add_alert(incident, alert, GroupingContext(rules={}, topology=topology), incident.opened_at)
    (member,) = incident.members
    ended = replace(
        member,
        state=AlertState.RESOLVED,
        resolved_at=incident.opened_at + timedelta(minutes=5),
        proofs=(Proof.GPUS_ALLOCATABLE,),
    )
    async with yard.store.unit() as unit:
        await unit.rows(Incident).put(replace(incident, cluster="prod-a", members=(ended,)))
    await cordon(light_stage)
    _, task = await begun(light_stage)
    await run_all(light_stage, task, 0, 0)
    await watcher(light_stage).check()
    async with yard.store.unit() as unit:
        stored = await unit.rows(Incident).get("i1")
    assert stored is not None
    assert not stored.unproven
    assert stored.members[0].proven is not None
    assert stored.members[0].proven.proof is Proof.ACCEPTED
