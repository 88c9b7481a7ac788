"""A cluster, two people and the bot's jobs in virtual time, for histories of what they do to nodes at the same time."""

import asyncio
import copy
from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import Any

from bot.jobs.lease_watcher import LeaseWatcher
from bot.jobs.unknown_steps import UnknownSteps
from collectors.internal_errors import InternalErrors
from commands.command_catalogue import LEXICON
from commands.core.command import Answer
from commands.core.context import Defaults
from commands.core.cordoned_nodes import BY
from commands.core.pipeline import Pipeline
from commands.core.request import Actor, Request
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Origin, Plan, PlanState, StepRecord, StepState
from commands.execution.plan_journal import records_of
from commands.execution.steps import Record
from commands.models import CordonLease
from tests.support.history_objects import NODES, bare_node, workloads
from tests.support.late_cluster import LateCluster
from tests.support.memory_store import MemoryStore
from tests.support.odd_api import Killed, OddApi
from tests.support.yard import CLUSTER, EVERYTHING, Hands, text_of

DANA = Actor(id="U_DANA", name="dana", teams=frozenset({"sre"}))
ELI = Actor(id="U_ELI", name="eli", teams=frozenset({"sre"}))


class History:
    """What happened, and what is known of it."""

    def __init__(self, seed: int) -> None:
        self.clock = Hands()
        self.api = OddApi(random=Random(seed))
        self.store = MemoryStore()
        for name in NODES:
            self.api.put("nodes", bare_node(name))
        for plural, tree in workloads():
            self.api.put(plural, tree)
        self.cluster = LateCluster(self.api, self.clock)
        self.by_hand: set[str] = set()  # nodes that somebody changed without us
        self.answers: list[str] = []
        self._requests = 0
        self.start()

    def start(self) -> None:
        """Start the bot, on what is stored."""
        writers = {CLUSTER: self.cluster.reader}
        self.pipeline = Pipeline(
            lexicon=LEXICON,
            permissions=EVERYTHING,
            store=self.store,
            clusters={CLUSTER: self.cluster},  # type: ignore[dict-item]
            writers=writers,
            clock=self.clock,
            defaults=Defaults(),
            rules=dict,
        )
        self.executor = PlanExecutor(
            self.store, writers, self.clock, self._pause, lambda: self.clock.elapsed().total_seconds()
        )
        clusters: Any = {CLUSTER: self.cluster}
        self.leases = LeaseWatcher(self.store, clusters, self.clock)
        self.unknown = UnknownSteps(self.store, self.executor, self.clock, errors=InternalErrors())

    async def _pause(self, seconds: float) -> None:
        self.clock.move(timedelta(seconds=seconds))
        await asyncio.sleep(0)

    # What people do.

    async def answer(self, line: str, actor: Actor) -> Answer | None:
        self._requests += 1
        request = Request(
            id=f"r{self._requests}",
            line=line,
            actor=actor,
            at=self.clock.now(),
            origin=Origin(via="slack", channel="C_GPU", thread="1.1"),
        )
        return await self.pipeline.handle(request)

    async def say(self, line: str, actor: Actor) -> str:
        answer = await self.answer(line, actor)
        return "" if answer is None else text_of(answer.message)

    async def proposed(self, line: str, actor: Actor) -> Plan | None:
        known = {plan.id for plan in await self.plans()}
        self.answers.append(await self.say(line, actor))
        return next((plan for plan in await self.plans() if plan.id not in known and plan.line == line), None)

    async def confirmed(self, plan: Plan, actor: Actor) -> Plan | None:
        """Return the plan if it could be confirmed. One that is shown again is left."""
        self.answers.append(await self.say(f"plan confirm {plan.id} --hash {plan.hash}", actor))
        found = await self.plan(plan.id)
        return found if found is not None and found.state is PlanState.CONFIRMED else None

    async def do(self, line: str, actor: Actor) -> Plan | None:
        """Send a line, confirm its plan and run it. None: there was none to run."""
        plan = await self.proposed(line, actor)
        confirmed = await self.confirmed(plan, actor) if plan is not None else None
        return await self.executor.execute(confirmed) if confirmed is not None else None

    async def killed_while(self, line: str, actor: Actor, *, after: int) -> None:
        """Kill the process at a request of the running plan, start it again, and let it go on."""
        plan = await self.proposed(line, actor)
        confirmed = await self.confirmed(plan, actor) if plan is not None else None
        if confirmed is None:
            return
        self.api.dies_in = after
        try:
            await self.executor.execute(confirmed)
        except* Killed:
            pass
        self.api.dies_in = 0
        self.start()
        if (left := await self.plan(confirmed.id)) is not None and not left.has_ended:
            await self.executor.execute(left)

    def hand(self, act: str, name: str) -> None:
        """Let somebody change a node with kubectl."""
        key = ("nodes", "", name)
        self.by_hand.add(name)
        if key not in self.api.objects:
            if act in ("replace", "add"):
                self.api.put("nodes", bare_node(name))
            return
        match act:
            case "cordon":
                self.api.patch(key, {"spec": {"unschedulable": True}})
            case "uncordon":
                self.api.patch(key, {"spec": {"unschedulable": None}})
            case "strip":
                self.api.patch(key, {"metadata": {"annotations": {BY: None}}})
            case "remove":
                self.api.drop(key)
            case "replace":
                self.api.drop(key)
                self.api.put("nodes", bare_node(name))
            case _:
                pass  # one that is there cannot be added

    # What the bot does by itself.

    async def pass_time(self, by: timedelta) -> None:
        self.clock.move(by)
        await self.unknown.check()
        await self.leases.check()

    async def heal(self) -> None:
        """Let the API server and the watch be well, and the bot's jobs run for some minutes."""
        self.api.oddity, self.api.odd_writes, self.api.dark = "", 0, 0
        self.cluster.turn("live")
        for _ in range(3):
            await self.pass_time(timedelta(minutes=1))

    # What happens, and what is known of it.

    async def plans(self) -> Sequence[Plan]:
        async with self.store.read() as snapshot:
            return await snapshot.rows(Plan).find()

    async def plan(self, id: str) -> Plan | None:
        async with self.store.read() as snapshot:
            return await snapshot.rows(Plan).get(id)

    async def records(self, plan: Plan) -> tuple[StepRecord, ...]:
        async with self.store.read() as snapshot:
            return await records_of(plan, snapshot)

    async def lease(self, name: str) -> CordonLease | None:
        async with self.store.read() as snapshot:
            return await snapshot.rows(CordonLease).get(f"{CLUSTER}/{name}")

    def node(self, name: str) -> dict[str, Any] | None:
        return copy.deepcopy(self.api.objects.get(("nodes", "", name)))

    async def named_by_cards(self) -> set[str]:
        """Return the nodes of which the card of a plan says that a step was not done, or is not known to be."""
        found: set[str] = set()
        for plan in await self.plans():
            if plan.state is PlanState.PROPOSED or not plan.error:
                continue
            for step, record in zip(plan.steps, await self.records(plan), strict=True):
                if record.state not in (StepState.DONE, StepState.WAITING):
                    refs = [one.ref for one in step.about] if isinstance(step, Record) else [step.ref]
                    found |= {ref.name for ref in refs if ref.kind == "Node"}
        return found
