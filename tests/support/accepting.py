"""`node accept` on a stage: its suite, its plan while it runs, and the ends of its Jobs."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from bot.jobs.acceptance_watcher import AcceptanceWatcher
from commands.acceptance.acceptance import Acceptance, AcceptanceState
from commands.acceptance.suites import AcceptancePolicy, Suite, SuiteTest
from commands.core.context import Defaults
from commands.core.node_script import NodeJobDefaults
from commands.core.request import Request
from commands.execution.plan import Plan, PlanState
from tests.support.drained import until
from tests.support.node_jobs import JobStage
from tests.support.rows import an_acceptance
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


def an_old_acceptance(cluster: str, node: str) -> Acceptance:
    return an_acceptance(
        node,
        id=f"{cluster}/{node}/1",
        cluster=cluster,
        uid="u9",
        boot_id="b9",
        suite="ours",
        by=DANA.person,
        plan="",
        at=NOON - timedelta(days=1),
        ended_at=NOON - timedelta(days=1),
        state=AcceptanceState.ACCEPTED,
    )
