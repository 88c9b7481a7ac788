"""F7: many nodes are cordoned on an API server that answers after 20 ms, within a budget.

Ours are plans of one node each that are executed at once, with the journal on disk and the budget taken in the
transaction that begins each plan. The peer is the same executor with one plan after the other, as programs that cordon
serially do. For both the server runs in another process, the cache of the cluster watches, and garbage is collected as
in the product. What exceeds the budget waits.
"""

import asyncio
import gc
import sys
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import node_server
from benchmarks.row import Benchmark, Goal, Outcome, Peer, Row
from bot.jobs.garbage_collection import collect_in_small_parts
from bot.store.sql_store import SqlStore
from collectors.cluster.cache import ReflectorTiming
from commands.core.budget_pictures import Pool
from commands.core.budgets import Budgets
from commands.execution.executor import PlanExecutor
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Plan, PlanState
from commands.gates.budget import Budget, BudgetScope
from demo.parts.processes import Program, answers, free_port, running
from tests.support.yard import CLUSTER, Yard, yard_before

LATENCY = timedelta(milliseconds=20)
PLACES = 40  # nodes that may be out of service
MORE = 20  # plans beyond them
NAMES = node_server.names(PLACES + MORE)


async def run(_: Mapping[str, Outcome]) -> Outcome:
    threshold = gc.get_threshold()
    collect_in_small_parts()
    try:
        return await _outcome()
    finally:
        gc.set_threshold(*threshold)
        gc.unfreeze()


async def _outcome() -> Outcome:
    one_by_one, _held, serial_out = await _measured(at_once=False)
    together, held, out = await _measured(at_once=True)
    most = max(out, serial_out)
    return Outcome(
        rows=(
            Row(
                id="F7",
                measure=f"{PLACES} nodes cordoned at once, API server with 20 ms latency: speed",
                unit="nodes/s",
                value=PLACES / together,
                peer=Peer(name="one after the other", value=PLACES / one_by_one),
                goal=Goal(limit=10, at_least=True),
            ),
            Row(
                id="F7",
                measure=f"… {PLACES + MORE} plans, a budget of {PLACES}: nodes over it",
                value=max(0, most - PLACES),
                goal=Goal(limit=0, of_value=True),
            ),
            Row(
                id="F7",
                measure="… plans that wait for the budget",
                value=held,
                goal=Goal(limit=MORE, of_value=True, at_least=True),
            ),
        )
    )


async def _measured(*, at_once: bool) -> tuple[float, int, int]:
    """Return the seconds until the places were taken, the plans that wait, and the nodes that are cordoned."""
    async with _yard() as (yard, executor):
        plans = [await yard.confirmed(await yard.plan(f"node cordon {name}")) for name in NAMES]
        if at_once:
            done_at: list[float] = []

            async def execute(plan: Plan) -> Plan:
                ended = await executor.execute(plan)
                if ended.state is PlanState.DONE:
                    done_at.append(time.perf_counter())
                return ended

            began = time.perf_counter()
            ended: Sequence[Plan] = await asyncio.gather(*map(execute, plans))
            seconds = max(done_at) - began
        else:
            began = time.perf_counter()
            first = [await executor.execute(plan) for plan in plans[:PLACES]]
            seconds = time.perf_counter() - began
            ended = [*first, *[await executor.execute(plan) for plan in plans[PLACES:]]]
        nodes = await yard.writer.listing(ObjectRef(api="v1", kind="Node", name=""))
        out = sum(bool(node["spec"].get("unschedulable")) for node in nodes)
        return seconds, sum(plan.state is PlanState.WAITING for plan in ended), out


@asynccontextmanager
async def _yard() -> AsyncGenerator[tuple[Yard, PlanExecutor]]:
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        async with _served(folder) as kubeconfig, yard_before(kubeconfig, timing=ReflectorTiming()) as yard:
            store = await SqlStore.open(f"sqlite+aiosqlite:///{folder / 'store.db'}")
            budgets = Budgets(
                clusters={CLUSTER: yard.cluster},
                clock=yard.clock,
                budgets=(Budget(scope=BudgetScope.POOL, nodes=PLACES),),
                pools={"all": Pool()},
            )
            yard.store = store  # type: ignore[assignment]
            yard.pipeline = replace(yard.pipeline, store=store, budgets=budgets)
            executor = PlanExecutor(store, {CLUSTER: yard.writer}, yard.clock, gate=budgets)
            try:
                yield yard, executor
            finally:
                await store.close()


@asynccontextmanager
async def _served(folder: Path) -> AsyncGenerator[Path]:
    """Serve the nodes from another process, and yield the kubeconfig for it."""
    port, kubeconfig = free_port(), folder / "kubeconfig"
    milliseconds = round(LATENCY.total_seconds() * 1000)
    program = Program(
        name="the server of nodes",
        argv=(
            *(sys.executable, "-m", "benchmarks.node_server"),
            *(str(kubeconfig), str(port), str(len(NAMES)), str(milliseconds)),
        ),
        log=folder / "server.log",
        folder=Path(__file__).parents[2],
    )
    url = f"http://127.0.0.1:{port}/readyz"
    async with running(program, lambda: kubeconfig.exists() and answers(url), grace=timedelta(seconds=2)):
        yield kubeconfig


BENCHMARK = Benchmark(id="F7", title="cordons at once", run=run, limit=timedelta(minutes=3))
