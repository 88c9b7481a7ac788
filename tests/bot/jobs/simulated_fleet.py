"""A fleet of simulated nodes: each prints what the tools print, and its plan ends."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from alerts.alert import Alert
from alerts.cards.posted import CardKind, PostedCard, new_card
from alerts.lifecycle import AlertState
from bot.jobs.acceptance_watcher import AcceptanceWatcher
from collectors.facts.labels import Labels
from commands.acceptance.acceptance import Acceptance, PlannedTest
from commands.acceptance.suites import AcceptancePolicy
from commands.core.command import Answer
from commands.core.request import Request
from commands.execution.job_runs import JobRun, JobRunState
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Origin, Plan, PlanState
from tests.support.memory_store import MemoryStore
from tests.support.rows import a_job_run, an_alert
from tests.support.yard import Hands

LAB = "lab"
GPUS = 8
MODELS = ("NVIDIA-H100", "NVIDIA-B200")
COPY = {MODELS[0]: 1340.0, MODELS[1]: 3900.0}  # GB/s of one GPU
RING = {MODELS[0]: 466.0, MODELS[1]: 820.0}
TAKES = timedelta(minutes=40)
TESTS = {"driver": "nvidia-smi", "dcgm": "dcgm-diag", "nccl": "nccl-tests", "network": "lines"}


def planned(node: str) -> tuple[PlannedTest, ...]:
    return tuple(
        PlannedTest(name=name, reads=reads, node=node, script=f"accept/{name}")
        for name, reads in TESTS.items()
    )


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """A node of the fleet. `slow`: its GPU that is; `broken`: its GPU that fails; `hangs`; `lies`."""

    name: str
    model: str
    noise: tuple[float, ...]
    slow: int | None = None
    broken: int | None = None
    hangs: bool = False
    lies: bool = False

    def outputs(self) -> list[str | None]:
        """Return what each test prints; None for one that hangs."""
        return [self._driver(), self._dcgm(), None if self.hangs else self._nccl(), self._network()]

    def _driver(self) -> str:
        head = "index, name, driver_version, remapped_rows.pending, remapped_rows.failure"
        rows = [f"{gpu}, {self.model}, 580.126.09, No, No" for gpu in range(GPUS)]
        return "\n".join((head, *rows))

    def _dcgm(self) -> str:
        results: list[dict[str, Any]] = [
            {"entity_group": "GPU", "entity_id": gpu, "status": "Pass"} for gpu in range(GPUS)
        ]
        if self.broken is not None:
            warning = {
                "error_severity": 6,
                "warning": f"Detected 12 double-bit ECC errors in GPU {self.broken}.",
            }
            results[self.broken] |= {"status": "Fail", "warnings": [warning]}
        test = {"name": "memory", "results": results}
        categories = [{"category": "Hardware", "tests": [test]}]
        return json.dumps(
            {"DCGM Diagnostic": {"test_categories": categories}, "metadata": {"version": "4.2.3"}}
        )

    def _nccl(self) -> str:
        head = "#       size         count      type   redop    root     time   algbw   busbw #wrong"
        foot = "# Avg bus bandwidth    : 1"
        lines = []
        for gpu in range(GPUS):
            copied = COPY[self.model] * self.noise[gpu] * (0.82 if gpu == self.slow else 1)
            lines += [f"yardmaster/1 gpu {gpu}", head]
            lines += [f"1073741824 268435456 float sum -1 801 {copied:.1f} 0.00 0", foot]
        # What a slow GPU copies is copied by it alone: the ring is bound by its links.
        ring = RING[self.model] * self.noise[-1]
        lines += [
            "yardmaster/1 gpu all",
            head,
            f"1073741824 268435456 float sum -1 4027 200.0 {ring:.1f} 0",
            foot,
        ]
        return "\n".join(lines)

    def _network(self) -> str:
        return "yardmaster/1 dns pass\nyardmaster/1 network pass\nyardmaster/1 end"


def a_fleet() -> list[Simulated]:
    """Return 200 nodes: 10 with a slow GPU, 5 that fail a test, 3 that hang, 2 that pass and then throttle."""
    random = Random(24)
    nodes = [
        Simulated(
            name=f"gpu-{number:03}",
            model=MODELS[number % 2],
            noise=tuple(random.uniform(0.97, 1.03) for _ in range(GPUS + 1)),
        )
        for number in range(200)
    ]
    # The first node of each model must be well: nothing else is known then.
    chosen = random.sample(range(2, 200), 20)
    for number in chosen[:10]:
        nodes[number] = replace(nodes[number], slow=random.randrange(GPUS))
    for number in chosen[10:15]:
        nodes[number] = replace(nodes[number], broken=random.randrange(GPUS))
    for number in chosen[15:18]:
        nodes[number] = replace(nodes[number], hangs=True)
    for number in chosen[18:]:
        nodes[number] = replace(nodes[number], lies=True)
    return nodes


class Reader:
    """The API server's nodes."""

    def __init__(self) -> None:
        self.boots: dict[str, str] = {}

    async def read(self, ref: ObjectRef, subresource: str = "") -> dict[str, Any] | None:
        return {
            "metadata": {"name": ref.name, "uid": f"uid-{ref.name}"},
            "spec": {"unschedulable": True},
            "status": {"nodeInfo": {"bootID": self.boots.get(ref.name, f"boot-{ref.name}")}},
        }


@dataclass
class OneCluster:
    reader: Reader = field(default_factory=Reader)
    nodes: dict[str, Any] = field(default_factory=dict)  # as the cache has them

    def inventory(self) -> "OneCluster":
        return self


@dataclass
class Fleet:
    """The store, the watcher and the clock of a fleet."""

    clock: Hands = field(default_factory=Hands)
    store: MemoryStore = field(default_factory=MemoryStore)
    cluster: OneCluster = field(default_factory=OneCluster)
    lines: list[str] = field(default_factory=list)

    def watcher(self, policy: AcceptancePolicy | None = None) -> AcceptanceWatcher:
        return AcceptanceWatcher(
            self.store,
            {LAB: self.cluster},  # type: ignore[dict-item]
            self.clock,
            self._take,
            policy or AcceptancePolicy(),
        )

    async def _take(self, request: Request) -> Answer | None:
        self.lines.append(request.line)
        return None

    async def begin(self, node: Simulated) -> None:
        """Begin the tests of a node, as its plan does."""
        now, plan = self.clock.now(), f"p-{node.name}"
        row = Plan(
            id=plan,
            cluster=LAB,
            line=f"node accept {node.name}",
            command="node accept",
            actor="U_DANA",
            actor_name="dana",
            origin=Origin(channel="C_GPU"),
            created_at=now,
            expires_at=now + TAKES,
            stages=(),
            title=f"Test {node.name}",
            state=PlanState.RUNNING,
        )
        acceptance = Acceptance(
            id=f"{LAB}/{node.name}/1",
            cluster=LAB,
            node=node.name,
            uid=f"uid-{node.name}",
            boot_id=f"boot-{node.name}",
            model=node.model,
            gpus=GPUS,
            suite="yardmaster",
            tests=planned(node.name),
            by="U_DANA",
            by_name="dana",
            at=now,
            plan=plan,
        )
        async with self.store.unit() as unit:
            await unit.rows(Plan).put(row)
            await unit.rows(Acceptance).put(acceptance)
            await unit.rows(PostedCard).put(new_card(CardKind.PLAN, row, "slack:C_GPU"))

    async def end(self, node: Simulated) -> None:
        """End the plan with what the node printed."""
        plan, now = f"p-{node.name}", self.clock.now()
        async with self.store.unit() as unit:
            row = await unit.rows(Plan).get(plan)
            assert row is not None
            hung = False
            for test, printed in zip(planned(node.name), node.outputs(), strict=True):
                if hung:
                    break
                hung = printed is None
                run = a_job_run(
                    id=test.run(plan),
                    cluster=LAB,
                    plan=plan,
                    node=node.name,
                    script=test.script,
                    state=JobRunState.FAILED if hung else JobRunState.DONE,
                    exit_code=None if hung else 0,
                    is_late=hung,
                    reason="it did not finish in time, and was ended" if hung else "",
                    log=printed or "# Using devices",
                    ended_at=now,
                )
                await unit.rows(JobRun).put(run)
            ended = PlanState.FAILED if hung else PlanState.DONE
            await unit.rows(Plan).put(replace(row, state=ended, ended_at=now))

    async def throttle(self, node: Simulated, at: datetime) -> None:
        alert = an_alert(node.name)
        alert = replace(
            alert,
            cluster=LAB,
            labels=Labels({**alert.labels, "alertname": "GPUThermalThrottling"}),
            life=replace(alert.life, state=AlertState.FIRING, fired_at=at, since=at),
        )
        async with self.store.unit() as unit:
            await unit.rows(Alert).put(alert)

    async def verdicts(self) -> Mapping[str, Acceptance]:
        async with self.store.read() as snapshot:
            return {one.node: one for one in await snapshot.rows(Acceptance).find(cluster=LAB)}
