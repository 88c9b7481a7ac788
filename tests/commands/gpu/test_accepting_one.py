"""`gpu accept` on the look-alike and on a real control plane, whose scheduler gives the claim of a test its GPU."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.jobs.acceptance_watcher import AcceptanceWatcher
from collectors.facts.results import SourceError
from commands.acceptance.acceptance import Acceptance, AcceptanceState
from commands.acceptance.suites import AcceptancePolicy, Suite, SuiteTest
from commands.core.context import Defaults
from commands.core.node_script import NodeJobDefaults
from commands.core.request import Request
from commands.execution.plan import Plan, PlanState
from tests.support.claimed_gpus import CLAIMS, DRIVER, RULES, GpuStage, a_device, gpu_stage
from tests.support.drained import ON_BOTH_SERVERS, until

SCRIPT = "echo yardmaster/1 end"
PASS = b"yardmaster/1 copy pass 1340 GB/s gpu=0\nyardmaster/1 end\n"
FAIL = b"yardmaster/1 memory fail gpu=0 next=replace -- a row could not be remapped\nyardmaster/1 end\n"


def with_suite(jobs: NodeJobDefaults) -> Defaults:
    tests = tuple(
        SuiteTest(name=name, reads="lines", text=SCRIPT, one_gpu=one, within=timedelta(minutes=5))
        for name, one in (("dcgm", True), ("nccl", True), ("fabric", False))
    )
    suites = {"ours": Suite(name="ours", tests=tests), "node": Suite(name="node", tests=tests[2:])}
    return Defaults(node_jobs=jobs, acceptance=AcceptancePolicy(suites=suites, suite="ours"))


@pytest.fixture(params=ON_BOTH_SERVERS)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[GpuStage]:
    async with gpu_stage(request, tmp_path, policy=with_suite) as made:
        with suppress(SourceError):  # another test made it
            await made.kube.call(
                "POST", f"{CLAIMS}/deviceclasses", {"metadata": {"name": DRIVER}, "spec": {}}
            )
        yield made


@pytest.fixture
async def light_stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[GpuStage]:
    async with gpu_stage(request, tmp_path, policy=with_suite) as made:
        yield made


async def cordoned(stage: GpuStage, gpu: str = "3") -> None:
    await stage.list_devices(*map(a_device, range(8)))
    plan = await stage.yard.do(f'gpu cordon {stage.node} {gpu} --reason "throttles"')
    assert plan.state is PlanState.DONE, plan.error
    await stage.rules_seen(1)


async def proposed(stage: GpuStage, line: str) -> Plan:
    """Return the plan that a line proposes. Its Jobs are in the namespace of the test."""
    reply = await stage.yard.say(line)
    plan = await stage.yard.newest()
    assert plan is not None, reply
    assert plan.line == line, reply
    return plan


async def run_suite(stage: GpuStage, *codes: int) -> Plan:
    """Run the tests, whose Jobs end with these codes."""
    plan = await proposed(stage, f"gpu accept {stage.node} 3")
    confirmed = await stage.yard.confirmed(plan)
    task = asyncio.get_running_loop().create_task(stage.yard.executor.execute(confirmed))
    await stage.ended(*codes, task=task)
    return await task


def watcher(stage: GpuStage, *, lines: list[Request] | None = None) -> AcceptanceWatcher:
    async def take(request: Request) -> None:
        if lines is not None:
            lines.append(request)

    policy = replace(stage.yard.pipeline.defaults.acceptance, ends_lease=lines is not None)
    return AcceptanceWatcher(stage.yard.store, {"prod-a": stage.yard.cluster}, stage.yard.clock, take, policy)


async def the_acceptance(stage: GpuStage) -> Acceptance:
    async with stage.yard.store.read() as snapshot:
        (found,) = await snapshot.rows(Acceptance).find()
    return found


async def test_the_pod_of_a_test_gets_the_cordoned_gpu_and_nothing_is_left(stage: GpuStage) -> None:
    stage.log += PASS
    await cordoned(stage)
    plan = await proposed(stage, f"gpu accept {stage.node} 3")
    assert plan.title == f"Test GPU 3 of {stage.node} with suite ours"
    task = asyncio.get_running_loop().create_task(
        stage.yard.executor.execute(await stage.yard.confirmed(plan))
    )
    await stage.kube.until_running(stage.node, 1)
    (claim,) = await stage.claims()
    (pod,) = await stage.kube.pods(stage.node)
    assert pod["spec"]["resourceClaims"][0]["resourceClaimName"] == claim["metadata"]["name"]
    if stage.is_real:  # the scheduler of the look-alike gives no devices
        (given,) = claim["status"]["allocation"]["devices"]["results"]
        assert (given["pool"], given["device"]) == (stage.node, "gpu-3")
    (job, _) = await stage.ended(0, 0, task=task)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["/bin/sh", "-c", SCRIPT]
    env = {one["name"]: one.get("value") for one in container["env"]}
    assert (env["YARDMASTER_GPU"], env["YARDMASTER_GPUS"]) == ("GPU-0003", "1")
    over = await task
    assert over.state is PlanState.DONE, over.error

    async def nothing_is_left() -> bool:
        return not await stage.pods() and not await stage.claims()

    await until(nothing_is_left)
    await watcher(stage).check()
    one = await the_acceptance(stage)
    assert (one.gpu, one.device, one.gpus) == ("3", "gpu-3", 1)
    if stage.is_real:  # its API server has no kubelet to read a log from, so nothing proves anything
        assert one.state is AcceptanceState.UNTESTED
        return
    assert one.state is AcceptanceState.ACCEPTED
    assert [figure.gpu for figure in one.figures] == [3, 3]
    for line in ("node list", f"node show {stage.node}"):
        said = await stage.yard.say(line)
        assert "GPU 3 cordoned by dana: throttles, accepted" in said
        assert "not accepted" not in said


async def test_a_pass_ends_the_lease_and_the_rule_and_pods_may_have_it(light_stage: GpuStage) -> None:
    stage = light_stage
    stage.log += PASS
    await cordoned(stage)
    await run_suite(stage, 0, 0)
    lines: list[Request] = []
    await watcher(stage, lines=lines).check()
    (request,) = lines
    assert request.line == f"gpu uncordon {stage.node} 3 --cluster prod-a"
    over = await stage.yard.do(request.line)
    assert over.state is PlanState.DONE, over.error
    assert (await stage.rules(), await stage.leases()) == ([], [])
    await stage.rules_seen(0)
    await watcher(stage).check()
    assert (await the_acceptance(stage)).returned_at is not None
    gpus = stage.yard.cluster.inventory().gpus_on(stage.node)
    assert gpus is not None
    assert gpus.counts[DRIVER].allocatable == 8


async def test_a_part_that_failed_is_of_the_gpu_that_was_named(light_stage: GpuStage) -> None:
    light_stage.log += FAIL
    await cordoned(light_stage)
    await run_suite(light_stage, 0, 0)
    lines: list[Request] = []
    await watcher(light_stage, lines=lines).check()
    one = await the_acceptance(light_stage)
    assert (one.state, one.reasons) == (
        AcceptanceState.FAILED,
        ("memory of GPU 3: a row could not be remapped",),
    )
    assert lines == []
    said = await light_stage.yard.say(f"gpu uncordon {light_stage.node} 3")
    assert f"GPU 3 of {light_stage.node} was not accepted since it was cordoned" in said
    assert "last tested" in await light_stage.yard.say(f"node show {light_stage.node}")


async def test_a_gpu_that_takes_pods_is_not_tested_and_a_cordon_is_suggested(light_stage: GpuStage) -> None:
    await light_stage.list_devices(a_device(0))
    said = await light_stage.yard.say(f"gpu accept {light_stage.node} 0")
    assert f"GPU 0 of {light_stage.node} is not cordoned, and its tests need it alone" in said
    assert "[Cordon GPU 0 of" in said


async def test_a_gpu_that_pods_still_have_is_not_tested(light_stage: GpuStage) -> None:
    await cordoned(light_stage)
    await light_stage.give("late", "gpu-3")
    said = await light_stage.yard.say(f"gpu accept {light_stage.node} 3")
    assert "and these pods have it" in said
    assert "late" in said


async def test_what_somebody_else_cordoned_is_left(light_stage: GpuStage) -> None:
    stage = light_stage
    await stage.list_devices(a_device(0))
    taint = {"key": "example.com/bad", "effect": "NoSchedule"}
    spec = {"deviceSelector": {"driver": DRIVER, "pool": stage.node, "device": "gpu-0"}, "taint": taint}
    await stage.kube.call("POST", RULES, {"metadata": {"name": "theirs"}, "spec": spec})
    await stage.rules_seen(1)
    assert "is cordoned by someone else, by the DeviceTaintRule theirs" in await stage.yard.say(
        f"gpu accept {stage.node} 0"
    )


async def test_without_dynamic_resource_allocation_the_node_is_suggested(light_stage: GpuStage) -> None:
    said = await light_stage.yard.say(f"gpu accept {light_stage.node} 0")
    assert "a device plugin cannot keep one of them back" in said
    assert f"node accept {light_stage.node} then tests them" in said


async def test_a_suite_without_a_test_of_one_gpu_says_what_to_mark(light_stage: GpuStage) -> None:
    await cordoned(light_stage)
    said = await light_stage.yard.say(f"gpu accept {light_stage.node} 3 --suite node")
    assert "Suite node has no test of one GPU alone: mark one with one_gpu: true" in said


async def test_a_rule_that_is_gone_meanwhile_stops_the_tests(light_stage: GpuStage) -> None:
    stage = light_stage
    await cordoned(stage)
    plan = await stage.yard.confirmed(await proposed(stage, f"gpu accept {stage.node} 3"))
    (rule,) = await stage.rules()
    await stage.kube.call("DELETE", f"{RULES}/{rule['metadata']['name']}")
    over = await stage.yard.executor.execute(plan)
    assert over.state is PlanState.FAILED
    assert await stage.pods() == []


async def test_the_whole_node_is_tested_by_a_claim_of_all_its_gpus(stage: GpuStage) -> None:
    """A node of dynamic resource allocation has no `nvidia.com/gpu`."""
    await stage.list_devices(*map(a_device, range(8)))
    await stage.yard.do(f"node cordon {stage.node} --reason test")
    await stage.yard.seen(lambda: stage.yard.cluster.inventory().nodes[stage.node].spec.unschedulable)
    plan = await proposed(stage, f"node accept {stage.node} --suite node")
    task = asyncio.get_running_loop().create_task(
        stage.yard.executor.execute(await stage.yard.confirmed(plan))
    )
    await stage.kube.until_running(stage.node, 1)
    if stage.is_real:
        (claim,) = await stage.claims()
        assert len(claim["status"]["allocation"]["devices"]["results"]) == 8
    await stage.ended(0, task=task)
    over = await task
    assert over.state is PlanState.DONE, over.error
