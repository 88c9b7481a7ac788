"""`node accept` before a cluster: what it plans and refuses, what its Jobs are, and what becomes of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertState
from alerts.rules import Proof
from bot.jobs.acceptance_watcher import AcceptanceWatcher
from collectors.facts.labels import Labels
from collectors.facts.topology import Topology
from commands.acceptance.acceptance import Acceptance, AcceptanceState
from commands.acceptance.suites import AcceptancePolicy, Suite, SuiteTest
from commands.core.context import Defaults
from commands.core.node_script import NodeJobDefaults
from commands.core.request import Request
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Plan, PlanState
from commands.models import CordonLease
from tests.support.drained import ON_BOTH_SERVERS, quick, until
from tests.support.examples import by_profile
from tests.support.grouping import add_alert
from tests.support.node_jobs import JobStage, job_stage
from tests.support.rows import an_alert
from tests.support.yard import DANA, NOON

PASS = b"yardmaster/1 disk-write pass 1.9 GB/s\nyardmaster/1 end\n"
SCRIPT = "echo yardmaster/1 end"
FAIL = b"yardmaster/1 disk-write fail next=replace -- an I/O error\nyardmaster/1 end\n"


def a_suite(*names: str) -> AcceptancePolicy:
    tests = tuple(
        SuiteTest(name=name, reads="lines", text=SCRIPT, gpus=name != "disk", within=timedelta(minutes=5))
        for name in names
    )
    return AcceptancePolicy(suites={"ours": Suite(name="ours", tests=tests)}, suite="ours")


def with_suite(jobs: NodeJobDefaults) -> Defaults:
    return Defaults(node_jobs=jobs, acceptance=a_suite("devices", "disk"))


@pytest.fixture(params=ON_BOTH_SERVERS)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[JobStage]:
    async with job_stage(request, tmp_path, policy=with_suite) as made:
        yield made


@pytest.fixture
async def light_stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[JobStage]:
    async with job_stage(request, tmp_path, policy=with_suite) as made:
        yield made


async def cordon(stage: JobStage) -> None:
    plan = await stage.yard.do(f"node cordon {stage.node} --reason test")
    assert plan.state is PlanState.DONE, plan.error
    await stage.yard.seen(lambda: stage.yard.cluster.inventory().nodes[stage.node].spec.unschedulable)


async def begun(stage: JobStage, line: str = "") -> tuple[Plan, "asyncio.Task[Plan]"]:
    reply = await stage.yard.say(line or f"node accept {stage.node}")
    plan = await stage.yard.newest()
    assert plan is not None, reply
    assert plan.command == "node accept", reply
    confirmed = await stage.yard.confirmed(plan)
    return confirmed, asyncio.get_running_loop().create_task(stage.yard.executor.execute(confirmed))


def watcher(
    stage: JobStage, *, ends_lease: bool = False, lines: list[Request] | None = None
) -> AcceptanceWatcher:
    async def take(request: Request) -> None:
        if lines is not None:
            lines.append(request)

    policy = replace(stage.yard.pipeline.defaults.acceptance, ends_lease=ends_lease)
    return AcceptanceWatcher(stage.yard.store, {"prod-a": stage.yard.cluster}, stage.yard.clock, take, policy)


async def the_acceptance(stage: JobStage) -> Acceptance:
    async with stage.yard.store.unit() as unit:
        (found,) = await unit.rows(Acceptance).find()
    return found


async def run_all(stage: JobStage, task: "asyncio.Task[Plan]", *codes: int) -> Plan:
    """End the pod of each Job in turn with a code."""
    ended: set[str] = set()
    for code in codes:

        async def another() -> bool:
            return await stage.pod() not in ended

        await until(another)
        ended.add(pod := await stage.pod())
        await stage.kubelets.end(pod, code)
    return await task


async def test_a_node_that_takes_pods_is_not_tested_and_a_cordon_is_offered(light_stage: JobStage) -> None:
    said = await light_stage.yard.say(f"node accept {light_stage.node}")
    assert f"{light_stage.node} is not cordoned, and its tests take all its GPUs" in said
    assert "node cordon" in said


async def test_a_suite_that_is_not_there_is_answered_with_those_that_are(light_stage: JobStage) -> None:
    await cordon(light_stage)
    said = await light_stage.yard.say(f"node accept {light_stage.node} --suite burn-in")
    assert said == "There is no suite burn-in. There are certification, nvsentinel, ours, yardmaster."


async def test_images_that_are_missing_are_asked_for_by_name(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    def without(jobs: NodeJobDefaults) -> Defaults:
        images = {"accept/devices": "registry.example/cuda:1"}
        return Defaults(
            node_jobs=replace(jobs, image="", images=images), acceptance=a_suite("devices", "disk", "nccl")
        )

    async with job_stage(request, tmp_path, policy=without) as stage:
        await cordon(stage)
        said = await stage.yard.say(f"node accept {stage.node}")
    assert "The settings name no image for accept/disk, accept/nccl: add each to node_jobs.images" in said


async def test_the_jobs_get_the_gpus_and_nothing_of_the_chat_is_in_their_commands(
    light_stage: JobStage,
) -> None:
    await cordon(light_stage)
    plan, task = await begun(light_stage)
    assert plan.title == f"Test {light_stage.node} with suite ours"
    await light_stage.pod()
    (job,) = await light_stage.jobs()
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "8"}
    assert container["command"] == ["/bin/sh", "-c", SCRIPT]
    assert {one["name"] for one in container["env"]} == {
        "NODE_NAME",
        "YARDMASTER_GPUS",
        "YARDMASTER_NEIGHBOUR",
    }
    await run_all(light_stage, task, 0, 0)
    await light_stage.nothing_is_left()


async def test_a_node_that_passes_is_accepted_and_nothing_is_left(stage: JobStage) -> None:
    stage.log += PASS
    await cordon(stage)
    _, task = await begun(stage)
    over = await run_all(stage, task, 0, 0)
    assert over.state is PlanState.DONE, over.error
    await stage.nothing_is_left()
    await watcher(stage).check()
    one = await the_acceptance(stage)
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


async def test_a_cordoned_node_that_was_rebooted_after_its_pass_is_not_said_to_be_accepted(
    light_stage: JobStage,
) -> None:
    light_stage.log += PASS
    await cordon(light_stage)
    _, task = await begun(light_stage)
    await run_all(light_stage, task, 0, 0)
    await watcher(light_stage).check()
    inventory = light_stage.yard.cluster.inventory
    body = {"status": {"nodeInfo": {"bootID": "another boot"}}}
    await light_stage.kubelets.call("PATCH", f"/api/v1/nodes/{light_stage.node}/status", body)
    await light_stage.yard.seen(
        lambda: inventory().nodes[light_stage.node].status.node_info.boot_id == "another boot"
    )
    for line in ("node list --cordoned", f"node show {light_stage.node}"):
        assert "not accepted since it was rebooted" in await light_stage.yard.say(line)


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


async def test_a_pass_ends_the_lease_by_itself_where_the_settings_say_so(light_stage: JobStage) -> None:
    light_stage.log += PASS
    await cordon(light_stage)
    _, task = await begun(light_stage)
    await run_all(light_stage, task, 0, 0)
    lines: list[Request] = []
    await watcher(light_stage, ends_lease=True, lines=lines).check()
    await watcher(light_stage, ends_lease=True, lines=lines).check()
    (request,) = lines
    assert request.line == f"node uncordon {light_stage.node} --cluster prod-a"
    assert request.actor.person == "automation:acceptance"


async def test_a_cordon_that_is_newer_than_the_test_is_not_ended(light_stage: JobStage) -> None:
    light_stage.log += PASS
    await cordon(light_stage)
    _, task = await begun(light_stage)
    await run_all(light_stage, task, 0, 0)
    async with light_stage.yard.store.unit() as unit:
        (lease,) = await unit.rows(CordonLease).find()
        await unit.rows(CordonLease).put(replace(lease, since=lease.since + timedelta(hours=1)))
    lines: list[Request] = []
    await watcher(light_stage, ends_lease=True, lines=lines).check()
    assert lines == []


async def test_an_uncordon_without_a_test_is_said_before_it_is_done_and_in_the_lists(
    light_stage: JobStage,
) -> None:
    yard, node = light_stage.yard, light_stage.node
    async with yard.store.unit() as unit:  # something was tested here before
        await unit.rows(Acceptance).put(an_old_acceptance("prod-a", "gpu-z99"))
    await cordon(light_stage)
    said = await yard.say(f"node uncordon {node}")
    assert f"{node} was not accepted since it was cordoned: node accept {node} tests it." in said
    plan = await yard.newest()
    assert plan is not None
    assert plan.title == f"Uncordon {node}"
    over = await yard.executor.execute(await yard.confirmed(plan))
    assert over.state is PlanState.DONE, over.error
    await yard.seen(lambda: not yard.cluster.inventory().nodes[node].spec.unschedulable)
    assert "not tested before it returned" in await yard.say("node list")
    assert "not tested before it returned" in await yard.say(f"node show {node}")
    undone = await yard.do(f"plan undo {plan.id}")
    assert undone.state is PlanState.DONE, undone.error
    async with yard.store.unit() as unit:
        assert await unit.rows(Acceptance).find(node=node) == []


async def test_a_node_that_was_rebooted_since_it_was_accepted_says_so(light_stage: JobStage) -> None:
    yard, node = light_stage.yard, light_stage.node
    uid = yard.cluster.inventory().nodes[node].metadata.uid
    async with yard.store.unit() as unit:
        await unit.rows(Acceptance).put(
            replace(an_old_acceptance("prod-a", node), uid=uid, boot_id="a boot of before")
        )
    assert "not accepted since it was rebooted" in await yard.say("node list")


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


def an_old_acceptance(cluster: str, node: str) -> Acceptance:
    return Acceptance(
        id=f"{cluster}/{node}/1",
        cluster=cluster,
        node=node,
        uid="u9",
        boot_id="b9",
        model="NVIDIA-H100",
        gpus=8,
        suite="ours",
        by=DANA.person,
        by_name="dana",
        at=NOON - timedelta(days=1),
        ended_at=NOON - timedelta(days=1),
        state=AcceptanceState.ACCEPTED,
    )


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
