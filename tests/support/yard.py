"""A command pipeline for a cluster in tests: cluster, store, pipeline and executor, without the bot."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from alerts.cards.message import Buttons, Context, Fields, Image, Message, Paragraph, Preformatted, Table
from alerts.cards.text import plain
from bot.live_cluster import LiveCluster
from collectors.cluster.cache import ClusterCache, ReflectorTiming
from collectors.sources.cluster_sources import ClusterSources
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from commands.command_catalogue import CATALOGUE, LEXICON
from commands.core.command import Answer
from commands.core.context import Defaults
from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.core.pipeline import Pipeline
from commands.core.request import Actor, ActorKind, Request, Upload
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.executor import PlanExecutor
from commands.execution.impersonation import Impersonation
from commands.execution.plan import Origin, Plan, PlanState, StepRecord
from commands.execution.plan_journal import records_of
from demo.lookalikes.kubernetes import KubernetesLookalike
from demo.side_tasks import beside
from tests.support.canned_prometheus import CannedPrometheus
from tests.support.cluster_cache import CALM, until
from tests.support.memory_store import MemoryStore
from tests.support.step_rights import forgotten_rights
from tests.support.tls import end_closed_connections

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CLUSTER = "prod-a"
RIGHTS = {command.name: command.rights for command in CATALOGUE}
ANA = Actor(id="U_ANA", name="ana", teams=frozenset({"vision"}))
DANA = Actor(id="U_DANA", name="dana", teams=frozenset({"sre"}))
BO = Actor(id="U_BO", name="bo", teams=frozenset({"speech"}))
RECLAIM = Actor(id="reclaim", name="reclaim", kind=ActorKind.AUTOMATION, person="automation:reclaim")
EVERYTHING = Permissions(
    teams={
        "sre": Grant(commands=("*",), may_confirm_alone=("*",)),
        "vision": Grant(commands=("training *",)),
        "speech": Grant(commands=("training *",), namespaces=("speech-*",)),
    },
    automation={"reclaim": Grant(commands=("gpu settle",))},
)


@dataclass
class Hands:
    """A clock that a test moves."""

    at: datetime = NOON
    wrong_by: timedelta = timedelta()

    def now(self) -> datetime:
        return self.at

    def elapsed(self) -> timedelta:
        return self.at - NOON - self.wrong_by

    def move(self, by: timedelta) -> None:
        """Let time pass."""
        self.at += by

    def set_by(self, by: timedelta) -> None:
        """Set the wall clock; no time passes."""
        self.at += by
        self.wrong_by += by


@dataclass
class Yard:
    """One cluster and its pipeline. `say` sends a line; `do` sends it, confirms the plan and executes it."""

    cluster: LiveCluster
    store: MemoryStore
    pipeline: Pipeline
    executor: PlanExecutor
    clock: Hands
    prometheus: CannedPrometheus
    writer: ClusterWriter
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    async def say(self, line: str, actor: Actor = DANA, *, uploads: tuple[Upload, ...] = ()) -> str:
        """Send a line and return the answer as text."""
        answer = await self.answer(line, actor, uploads=uploads)
        return "" if answer is None else text_of(answer.message)

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
        """Return the plan that a line proposes. Fails with the answer if it is refused."""
        reply = await self.say(line, actor, uploads=uploads)
        newest = await self.newest()
        assert newest is not None, reply
        assert newest.line == line, reply
        forgotten = forgotten_rights(RIGHTS[newest.command], newest.steps) if not newest.undo_of else ()
        assert not forgotten, f"add to `rights` of the command `{newest.command}`: {forgotten}"
        return newest

    async def stored(self, id: str) -> Plan:
        """Return a plan as it is now."""
        async with self.store.read() as snapshot:
            found = await snapshot.rows(Plan).get(id)
        assert found is not None
        return found

    async def newest(self) -> Plan | None:
        async with self.store.unit() as unit:
            found = await unit.rows(Plan).find(newest=True, limit=1)
        return found[0] if found else None

    async def confirmed(self, plan: Plan, actor: Actor = DANA) -> Plan:
        reply = await self.say(f"plan confirm {plan.id} --hash {plan.hash}", actor)
        async with self.store.unit() as unit:
            stored = await unit.rows(Plan).get(plan.id)
        assert stored is not None
        assert stored.state is PlanState.CONFIRMED, reply
        return stored

    async def records(self, plan: Plan) -> tuple[StepRecord, ...]:
        """Return the journal of the plan's steps."""
        async with self.store.unit() as unit:
            return await records_of(plan, unit)

    async def do(self, line: str, actor: Actor = DANA, *, uploads: tuple[Upload, ...] = ()) -> Plan:
        plan = await self.plan(line, actor, uploads=uploads)
        return await self.executor.execute(await self.confirmed(plan, actor))

    async def seen(self, holds: Callable[[], bool]) -> None:
        """Wait until the cache fulfils the condition."""
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
    impersonation: Impersonation | None = None,
    timing: ReflectorTiming = CALM,
) -> AsyncGenerator[Yard]:
    """Yield a yard for the cluster of this kubeconfig, with a synced cache."""
    hands = clock or Hands()
    async with AsyncExitStack() as stack:
        client = await KubernetesClient.connect(
            KubernetesOptions(kubeconfig=str(kubeconfig), context=context, timeout=timedelta(seconds=10))
        )
        stack.push_async_callback(closed, client)
        source = KubernetesSource(client)
        # Tests jump hours ahead, which would make the cache stale.
        cache = ClusterCache(source, clock=hands, timing=timing, stale_after=timedelta(days=30))
        writer = ClusterWriter(client)
        prometheus = CannedPrometheus()
        cluster = LiveCluster(
            CLUSTER,
            clock=hands,
            cache=cache,
            sources=ClusterSources([prometheus]),
            pod_logs=source,
            writer=writer,
            snapshot_every=0,
        )
        cluster.logs = logs
        store = MemoryStore()
        pipeline = Pipeline(
            lexicon=LEXICON,
            permissions=permissions,
            store=store,
            clusters={CLUSTER: cluster},
            writers={CLUSTER: writer},
            clock=hands,
            defaults=policy or Defaults(),
            rules=dict,
            impersonation=impersonation or Impersonation(),
        )
        executor = PlanExecutor(store, {CLUSTER: writer}, hands, pause, impersonation=impersonation)
        async with beside(cache.run()):
            await cluster.synced(timedelta(seconds=20))
            yield Yard(
                cluster=cluster,
                store=store,
                pipeline=pipeline,
                executor=executor,
                clock=hands,
                prometheus=prometheus,
                writer=writer,
            )


async def closed(client: KubernetesClient) -> None:
    """Close the client and its TLS connections, which would end a moment later."""
    await client.close()
    await end_closed_connections()


def text_of(message: Message) -> str:
    """Return the text of a message, one line per part, without backticks."""
    lines = [plain(message.title)]
    for block in message.blocks:
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
                lines += [f"[{one.label}] {one.line or one.address}" for one in block.flat.buttons]
            case Image():
                lines.append(block.alt)
    return "\n".join(lines).replace("`", "")


@asynccontextmanager
async def yard_on(folder: Path, *nodes: str) -> AsyncGenerator[Yard]:
    """A pipeline before a look-alike with these ready nodes, for tests that do not look at it themselves."""
    async with (
        lookalike_with(*nodes) as kube,
        yard_before(kube.kubeconfig(folder / "kubeconfig")) as yard,
    ):
        yield yard


@asynccontextmanager
async def lookalike_with(*nodes: str) -> AsyncGenerator[KubernetesLookalike]:
    """Run a look-alike without controllers, with these ready nodes."""
    async with KubernetesLookalike.running(controllers=False) as kube:
        for name in nodes:
            kube.create(a_node_tree(name), keep_status=True)
        yield kube


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
