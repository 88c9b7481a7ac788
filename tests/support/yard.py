"""This file puts the road of commands before a cluster, for tests: site, store, pipeline and performer, no bot."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from alerts.cards.message import Buttons, Context, Fields, Message, Paragraph, Preformatted, Table, plain
from bot.live_cluster import LiveCluster
from bot.store.memory_store import MemoryStore
from collectors.cluster.cache import ClusterCache
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult, Sample, Seen
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from commands.command_catalogue import CATALOGUE
from commands.core.command import Answer
from commands.core.context import Defaults
from commands.core.permissions import Grant, Permissions
from commands.core.pipeline import Pipeline
from commands.core.request import Actor, ActorKind, Request, Upload
from commands.plans.cluster_writer import ClusterWriter
from commands.plans.executor import PlanExecutor
from commands.plans.plan import Origin, Plan, PlanState
from tests.support.cluster_cache import QUICK, until

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CLUSTER = "prod-a"
ANA = Actor(id="U_ANA", name="ana", teams=frozenset({"vision"}))
DANA = Actor(id="U_DANA", name="dana", teams=frozenset({"sre"}))
BO = Actor(id="U_BO", name="bo", teams=frozenset({"speech"}))
CLAIMS = Actor(id="reclaim", name="reclaim", kind=ActorKind.AUTOMATION)
EVERYTHING = Permissions(
    teams={
        "sre": Grant(commands=("*",)),
        "vision": Grant(commands=("training *",)),
        "speech": Grant(commands=("training *",), namespaces=("speech-*",)),
    },
    automation={"reclaim": Grant(commands=("gpu settle",))},
)


@dataclass
class Hands:
    """A clock whose hands a test moves."""

    at: datetime = NOON

    def now(self) -> datetime:
        return self.at

    def move(self, by: timedelta) -> None:
        self.at += by


@dataclass
class CannedPrometheus:
    """Answers the question whose expression holds all words of a row, the last such row; else with no samples."""

    rows: list[tuple[tuple[str, ...], tuple[tuple[dict[str, str], float], ...] | str]] = field(
        default_factory=list
    )
    asked: list[str] = field(default_factory=list)

    def say(self, *words: str, samples: Sequence[tuple[dict[str, str], float]]) -> None:
        self.rows.append((words, tuple(samples)))

    def go_blind(self, *words: str, why: str) -> None:
        self.rows.append((words, why))

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        self.asked.append(query.expr)
        found: tuple[tuple[dict[str, str], float], ...] | str = ()
        for words, said in self.rows:
            if all(word in query.expr for word in words):
                found = said
        if isinstance(found, str):
            return Blind(source="prometheus", at=at, reason=found)
        samples = tuple(Sample(labels=Labels(labels), value=value) for labels, value in found)
        return Seen(source="prometheus", at=at, samples=samples)


@dataclass
class Yard:
    """One cluster behind the road. `say` writes a line; `do` writes it, confirms the plan and performs it."""

    cluster: LiveCluster
    store: MemoryStore
    pipeline: Pipeline
    performer: PlanExecutor
    clock: Hands
    prometheus: CannedPrometheus
    writer: ClusterWriter
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    async def say(self, line: str, actor: Actor = DANA, *, uploads: tuple[Upload, ...] = ()) -> str:
        """What is answered, as a text."""
        answer = await self.answer(line, actor, uploads=uploads)
        return "" if answer is None else told(answer.message)

    async def answer(
        self, line: str, actor: Actor = DANA, *, uploads: tuple[Upload, ...] = ()
    ) -> Answer | None:
        request = Request(
            id=f"r{next(self.numbers)}",
            line=line,
            actor=actor,
            at=self.clock.now(),
            origin=Origin(via="slack", channel="C_GPU", thread="1.1"),
            uploads=uploads,
        )
        return await self.pipeline.handle(request)

    async def plan(self, line: str, actor: Actor = DANA, *, uploads: tuple[Upload, ...] = ()) -> Plan:
        """The plan that a line proposes. Fails with the answer when it is refused."""
        said = await self.say(line, actor, uploads=uploads)
        newest = await self.newest()
        assert newest is not None, said
        assert newest.line == line, said
        return newest

    async def newest(self) -> Plan | None:
        async with self.store.unit() as unit:
            found = await unit.plans.find(newest=True, limit=1)
        return found[0] if found else None

    async def confirmed(self, plan: Plan, actor: Actor = DANA) -> Plan:
        said = await self.say(f"plan confirm {plan.id} --hash {plan.hash}", actor)
        async with self.store.unit() as unit:
            kept = await unit.plans.get(plan.id)
        assert kept is not None
        assert kept.state is PlanState.CONFIRMED, said
        return kept

    async def do(self, line: str, actor: Actor = DANA, *, uploads: tuple[Upload, ...] = ()) -> Plan:
        plan = await self.plan(line, actor, uploads=uploads)
        return await self.performer.execute(await self.confirmed(plan, actor))

    async def seen(self, holds: Callable[[], bool]) -> None:
        """Wait until the cache shows it."""
        assert self.cluster.cache is not None
        await until(self.cluster.cache, holds)


@asynccontextmanager
async def yard_before(
    kubeconfig: Path,
    *,
    clock: Hands | None = None,
    policy: Defaults | None = None,
    permissions: Permissions = EVERYTHING,
    context: str = "",
    logs: Any = None,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncGenerator[Yard]:
    """A yard before the cluster of this kubeconfig, its cache synced."""
    hands = clock or Hands()
    async with AsyncExitStack() as stack:
        client = await KubernetesClient.connect(
            KubernetesOptions(kubeconfig=str(kubeconfig), context=context, timeout=timedelta(seconds=10))
        )
        stack.push_async_callback(client.close)
        source = KubernetesSource(client)
        # Tests jump hours ahead; the cache would rightly call all that it knows too old.
        cache = ClusterCache(source, clock=hands, timing=QUICK, stale_after=timedelta(days=30))
        writer = ClusterWriter(client)
        prometheus = CannedPrometheus()
        cluster = LiveCluster(CLUSTER, clock=hands, cache=cache, pod_logs=source, writer=writer, logs=logs)
        cluster.prometheus = prometheus  # type: ignore[assignment]
        store = MemoryStore()
        pipeline = Pipeline(
            catalogue=CATALOGUE,
            permissions=permissions,
            store=store,
            clusters={CLUSTER: cluster},
            writers={CLUSTER: writer},
            clock=hands,
            defaults=policy or Defaults(),
            rules=dict,
        )
        performer = PlanExecutor(store, {CLUSTER: writer}, hands, pause)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(cache.run())
            try:
                await cache.synced(timedelta(seconds=20))
                yield Yard(
                    cluster=cluster,
                    store=store,
                    pipeline=pipeline,
                    performer=performer,
                    clock=hands,
                    prometheus=prometheus,
                    writer=writer,
                )
            finally:
                task.cancel()


def told(view: Message) -> str:
    """All words of a view, a line each, without the marks of code."""
    lines = [plain(view.title)]
    for block in view.blocks:
        match block:
            case Paragraph() | Context():
                lines.append(plain(block.text))
            case Fields():
                lines += [f"{name}: {plain(words)}" for name, words in block.rows]
            case Preformatted():
                lines += block.lines
            case Table():
                lines += [" | ".join(row) for row in (block.heading, *block.rows)]
            case Buttons():
                lines += [f"[{button.label}] {button.line}" for button in block.buttons]
    return "\n".join(lines).replace("`", "")


def a_node_tree(
    name: str, *, gpus: int = 8, labels: Mapping[str, str] | None = None, **amounts: str
) -> dict[str, Any]:
    """A ready node for the look-alike's `create(keep_status=True)`."""
    status = {"cpu": "64", "memory": "512Gi", "pods": "110", **amounts}
    if gpus:
        status["nvidia.com/gpu"] = str(gpus)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "status": {
            "capacity": status,
            "allocatable": status,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }
