"""The same rows as lines of a pipeline, without chat: refused, crashed midway, done, undone, on any API server."""

import asyncio
import uuid
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from collectors.facts.results import SourceError
from commands.core.context import Defaults
from commands.core.node_script import NodeJobDefaults
from commands.core.reboots import RebootDefaults
from commands.core.request import Actor
from commands.execution.plan import Plan, PlanState
from tests.support.actions.action_row import ActionRow, Site, nothing
from tests.support.actions.action_rows import ASKED, ROWS
from tests.support.drained import kubelets, quick, until
from tests.support.yard import DANA, Yard, yard_before

ELI = Actor(id="U_ELI", name="eli", teams=frozenset({"sre"}))
SEEN = 1.0  # seconds within which the cache has what somebody changed
WITHIN = 60.0  # seconds
RUNS_IN_CONTAINERS = ("pod stacks",)  # without a kubelet nothing does


@dataclass(kw_only=True)
class ActionLine:
    """One row on its site, in a yard. `faults` is what is wrong; after the first the rest is left out."""

    yard: Yard
    row: ActionRow
    site: Site
    faults: list[str] = field(default_factory=list)

    async def play(self) -> None:
        try:
            async with asyncio.timeout(4 * WITHIN):
                await self._play()
        except (AssertionError, SourceError, TimeoutError) as error:
            self.faults.append(f"{type(error).__name__}: {error}")

    async def _play(self) -> None:
        row, site = self.row, self.site
        await row.arrange(site)
        await asyncio.sleep(SEEN)
        if row.refusing is not nothing and row.refused:
            await row.refusing(site)
            await asyncio.sleep(SEEN)
            self._says(row.refused, await self.yard.say(site.filled(row.line)))
            await row.allowing(site)
            await asyncio.sleep(SEEN)
        if row.others is not nothing:
            plan = await self._proposed()
            await row.others(site)
            await asyncio.sleep(SEEN)
            said = await self.yard.say(f"plan confirm {plan.id} --hash {plan.hash}", self._confirmer)
            self._says(row.surprised, said)
            await row.back(site)
            await asyncio.sleep(SEEN)
        over = await self._crashed_and_resumed(await self._proposed())
        assert over.state is PlanState.DONE, over.error
        await until(lambda: row.is_done(site), seconds=WITHIN)
        if row.undone:
            self._says(row.undone, await self.yard.say(f"plan undo {over.id}"))
            return
        undo = await self.yard.plan(f"plan undo {over.id}")
        undone = await self.yard.executor.execute(await self.yard.confirmed(undo, self._confirmer))
        assert undone.state is PlanState.DONE, undone.error

        async def is_undone() -> bool:
            return not await row.is_done(site)

        await until(is_undone, seconds=WITHIN)

    async def _proposed(self) -> Plan:
        line = self.site.filled(self.row.line)
        said = await self.yard.say(line)
        async with self.yard.store.unit() as unit:
            found = [one for one in await unit.rows(Plan).find(newest=True, limit=100) if one.line == line]
        assert found, said
        return found[0]

    async def _crashed_and_resumed(self, plan: Plan) -> Plan:
        """Execute it, end that in the middle if it waits for anything, and execute it again."""
        confirmed = await self.yard.confirmed(plan, self._confirmer)
        first = asyncio.get_running_loop().create_task(self.yard.executor.execute(confirmed))
        await asyncio.wait((first,), timeout=SEEN)
        if first.done():
            return first.result()
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        again = asyncio.get_running_loop().create_task(self.yard.executor.execute(confirmed))
        await self._release()
        return await again

    async def _release(self) -> None:
        await self.row.release(self.site)

    @property
    def _confirmer(self) -> Actor:
        return ELI if self.row.second else DANA

    def _says(self, words: str, said: str) -> None:
        assert words in said.replace("`", ""), f"`{words}` is not said: {said}"


async def played_lines(config: Path) -> Mapping[str, Sequence[str]]:
    """Play all rows side by side on this server, and return what is wrong in each, by command."""
    mark = uuid.uuid4().hex[:5]
    space = f"actions-{mark}"
    policy = Defaults(
        node_jobs=NodeJobDefaults(namespace=space, image="registry.example/tools:1"),
        reboot=RebootDefaults(annotation=ASKED),
    )
    rows = [row for row in ROWS if row.command not in RUNS_IN_CONTAINERS]
    async with AsyncExitStack() as stack:
        made = await stack.enter_async_context(kubelets(config, space))
        made.every = 0.2
        yard = await stack.enter_async_context(yard_before(config, policy=policy, pause=quick))
        lines = [
            ActionLine(
                yard=yard,
                row=row,
                site=Site(kubelets=made, node=f"{row.command.replace(' ', '-')}-{mark}"),
            )
            for row in rows
        ]
        try:
            for one in lines:
                await made.add_node(one.site.node, **{"nvidia.com/gpu": "2"})
            plays: list[Awaitable[None]] = [one.play() for one in lines]
            await asyncio.gather(*plays)
        finally:
            gone = [f"/api/v1/namespaces/{space}"]
            for one in lines:
                name = one.site.node
                gone += [f"/api/v1/nodes/{name}", f"/api/v1/persistentvolumes/{name}"]
                gone += [f"/apis/resource.k8s.io/v1/resourceslices/{name}"]
            for path in gone:
                with suppress(SourceError):
                    await made.call("DELETE", path)
        return {one.row.command: one.faults for one in lines}
