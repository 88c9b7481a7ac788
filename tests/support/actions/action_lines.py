"""The same rows as lines of a pipeline, without chat: refused, crashed midway, done, undone, on any API server."""

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from collectors.facts.results import SourceError
from commands.acceptance.suites import AcceptancePolicy, Suite, SuiteTest
from commands.core.context import Defaults
from commands.core.node_script import NodeJobDefaults
from commands.core.reboots import RebootDefaults
from commands.core.request import Actor
from commands.execution.plan import Plan, PlanState
from tests.support.actions.action_row import PlayedRow, Site
from tests.support.actions.action_rows import ROWS
from tests.support.actions.site_checks import ASKED
from tests.support.claimed_gpus import RULES
from tests.support.drained import kubelets, quick, until
from tests.support.examples import by_profile
from tests.support.yard import Yard, yard_before

ELI = Actor(id="U_ELI", name="eli", teams=frozenset({"sre"}))
SEEN = 1.0  # seconds within which the cache has what somebody changed
WITHIN = 60.0  # seconds
# `pod stacks` runs in a container, which needs a kubelet.
COMMANDS = by_profile(
    ("node repair", "node accept", "node reboot", "gpu accept", "volume thaw"),
    tuple(row.command for row in ROWS if row.command != "pod stacks"),
)


@dataclass(kw_only=True)
class ActionLine(PlayedRow):
    """One row in a yard."""

    yard: Yard

    async def play(self) -> None:
        try:
            async with asyncio.timeout(4 * WITHIN):
                await self._play()
        except (AssertionError, SourceError, TimeoutError) as error:
            self.faults.append(f"{type(error).__name__}: {error}")

    async def _play(self) -> None:
        row, site = self.row, self.site
        await site.kubelets.add_node(site.node, **{"nvidia.com/gpu": "2"})
        await row.arrange(site)
        await asyncio.sleep(SEEN)
        if row.before:
            first = await self._proposed(site.filled(row.before))
            done = await self.yard.executor.execute(await self.yard.confirmed(first, ELI))
            assert done.state is PlanState.DONE, done.error
            await asyncio.sleep(SEEN)
        if row.answer:
            self._says(f"[{site.filled(row.button)}]", await self.yard.say(site.filled(row.answer)))
        if row.answered:
            self._says(site.filled(row.answered), await self.yard.say(site.filled(row.line)))
            return
        if row.refused is not None and row.refused.read:
            await row.refused.arises(site)
            await asyncio.sleep(SEEN)
            self._says(row.refused.read, await self.yard.say(site.filled(row.line)))
            await row.refused.goes(site)
            await asyncio.sleep(SEEN)
        if row.surprised is not None:
            plan = await self._proposed(site.filled(row.line))
            await row.surprised.arises(site)
            await asyncio.sleep(SEEN)
            said = await self.yard.say(f"plan confirm {plan.id} --hash {plan.hash}", ELI)
            self._says(row.surprised.read, said)
            await row.surprised.goes(site)
            await asyncio.sleep(SEEN)
        over = await self._crashed_and_resumed(await self._confirmed(site.filled(row.line)))
        assert over.state is PlanState.DONE, over.error
        await until(lambda: row.is_done(site), seconds=WITHIN)
        if row.listed and not row.leads_to:  # nobody judges tests here
            await until(self._is_listed, seconds=WITHIN)
        if row.undone:
            self._says(row.undone, await self.yard.say(f"plan undo {over.id}"))
            return
        undo = await self._proposed(f"plan undo {over.id}")
        undone = await self.yard.executor.execute(await self.yard.confirmed(undo, ELI))
        assert undone.state is PlanState.DONE, undone.error

        async def is_undone() -> bool:
            return not await row.is_done(site)

        await until(is_undone, seconds=WITHIN)

    async def _is_listed(self) -> bool:
        """Whether `node list` says of the node what it is to say."""
        lines = (await self.yard.say("node list --all")).splitlines()
        return any(self.site.node in one and self.row.listed in one for one in lines)

    async def _proposed(self, line: str) -> Plan:
        said = await self.yard.say(line)
        found = await self._newest(line)
        assert found is not None, said
        return found

    async def _newest(self, line: str) -> Plan | None:
        async with self.yard.store.unit() as unit:
            found = await unit.rows(Plan).find(newest=True, limit=100)
        return next((one for one in found if one.line == line), None)

    async def _confirmed(self, line: str) -> Plan:
        """Confirm it. Another line may have changed what the preview says of tests: then the new one is confirmed."""
        plan = await self._proposed(line)
        said = await self.yard.say(f"plan confirm {plan.id} --hash {plan.hash}", ELI)
        newest = await self._newest(line)
        if newest is not None and newest.id != plan.id:
            return await self.yard.confirmed(newest, ELI)
        assert newest is not None, said
        assert newest.state is PlanState.CONFIRMED, said
        return newest

    async def _crashed_and_resumed(self, confirmed: Plan) -> Plan:
        """Execute it, end that in the middle if it waits for anything, and execute it again."""
        first = asyncio.get_running_loop().create_task(self.yard.executor.execute(confirmed))
        await asyncio.wait((first,), timeout=SEEN)
        if first.done():
            return first.result()
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        again = asyncio.get_running_loop().create_task(self.yard.executor.execute(confirmed))
        await self.row.release(self.site)
        return await again


async def played_lines(config: Path) -> Mapping[str, Sequence[str]]:
    """Play all rows side by side on this server, and return what is wrong in each, by command."""
    mark = uuid.uuid4().hex[:5]
    space = f"actions-{mark}"
    test = SuiteTest(name="copy", reads="lines", text="echo", one_gpu=True, within=timedelta(minutes=5))
    policy = Defaults(
        node_jobs=NodeJobDefaults(namespace=space, image="registry.example/tools:1"),
        reboot=RebootDefaults(annotation=ASKED),
        acceptance=AcceptancePolicy(suites={"ours": Suite(name="ours", tests=(test,))}, suite="ours"),
    )
    rows = [row for row in ROWS if row.command in COMMANDS]
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
            await asyncio.gather(*(one.play() for one in lines))
        finally:
            names = {one.site.node for one in lines}
            rules = (await made.call("GET", RULES))["items"]
            ours = [one for one in rules if one["spec"]["deviceSelector"].get("pool") in names]
            gone = [f"/api/v1/namespaces/{space}", *(f"{RULES}/{one['metadata']['name']}" for one in ours)]
            for one in lines:
                name = one.site.node
                gone += [f"/api/v1/nodes/{name}", f"/api/v1/persistentvolumes/{name}"]
                gone += [f"/apis/resource.k8s.io/v1/resourceslices/{name}"]
            for path in gone:
                with suppress(SourceError):
                    await made.call("DELETE", path)
        return {one.row.command: one.faults for one in lines}
