"""The story of one action: from its button, through a refusal, another actor and a restart, to its undo."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from collectors.facts.results import SourceError
from commands.execution.plan import Plan
from demo.lookalikes.slack.interactions.interaction import NotPossibleError
from demo.lookalikes.slack.state.messages import Message
from tests.support.actions.action_row import PlayedRow
from tests.support.actions.action_rows import PLAYED
from tests.support.actions.action_stage import SEEN, WAIT, ActionStage, action_stage, shown
from tests.support.drained import until
from tests.support.examples import by_profile
from tests.support.light import CHANNEL

# The others are a line of `action_lines.py` too, which is cheaper.
LATER = by_profile((), (("after a minute", timedelta(minutes=1)), ("after an hour", timedelta(hours=1))))
REFUSALS = by_profile(("who may not",), ("who may not", "impossible", "another actor"))


@dataclass(kw_only=True)
class ActionStory(PlayedRow):
    """One row on a stage. `faults` is what a person would stop at."""

    stage: ActionStage
    plan: Plan | None = None

    async def tell(self, part: str) -> None:
        """Play one part, unless an earlier one failed."""
        if self.faults or (self.row.answered and part not in ("who may not", "begins")):
            return
        parts: Mapping[str, Callable[[], Awaitable[None]]] = {
            "who may not": self._is_not_allowed,
            "impossible": self._is_refused,
            "another actor": self._is_surprised,
            "begins": self._begins,
            "done": self._is_done,
            "undone": self._is_undone,
        }
        try:
            await parts[part]()
        except TimeoutError:
            self.faults.append(f"{part}: nothing happens. {self._shown()}")
        except AssertionError as error:
            self.faults.append(f"{part}: {error}")
        except (SourceError, NotPossibleError) as error:
            self.faults.append(f"{part}: {error}. {self._shown()}")

    async def _is_not_allowed(self) -> None:
        """Somebody without the right gets no button in an answer, and a refusal from that of a card."""
        if self.row.answer:
            assert f"[{self._label}]" not in (await self.stage.source(self.row, self.site, "ana")).said
            return
        self._says("Only sre may run", (await self.stage.presses(self.row, self.site, "ana")).said)

    async def _is_refused(self) -> None:
        if (obstacle := self.row.refused) is None:
            return
        await obstacle.arises(self.site)
        if obstacle.read:
            self._says(obstacle.read, await self._answered(obstacle.read))
        else:
            await self._until_offered(is_so=False)
        await obstacle.goes(self.site)
        if not obstacle.read:
            await self._until_offered(is_so=True)

    async def _until_offered(self, *, is_so: bool) -> None:
        async def holds() -> bool:
            said = (await self.stage.source(self.row, self.site)).said
            return (f"[{self._label}]" in said) is is_so

        await until(holds, seconds=WAIT)

    async def _answered(self, words: str) -> str:
        """Press until the answer is no preview: the bot may not have seen yet what has just changed."""
        said = [""]

        async def is_refused() -> bool:
            said[0] = (await self.stage.presses(self.row, self.site)).said.replace("`", "")
            return words in said[0]

        try:
            await until(is_refused, seconds=WAIT)
        except TimeoutError:
            return said[0]
        return said[0]

    async def _is_surprised(self) -> None:
        """Another actor is faster than the confirmation: nothing of theirs is overwritten, and the person reads it."""
        if (obstacle := self.row.surprised) is None:
            return
        preview = await self.stage.presses(self.row, self.site)
        await obstacle.arises(self.site)
        await asyncio.sleep(SEEN)
        said = await self.stage.confirms(preview)
        if not said:
            said = (await self.stage.plan_of(self.row, self.site, "failed")).error
        self._says(obstacle.read, said)
        await obstacle.goes(self.site)

    async def _begins(self) -> None:
        await asyncio.sleep(SEEN)
        preview = await self.stage.presses(self.row, self.site)
        if self.row.answered:
            return  # it has answered
        # Another story may have changed what the preview says of tests.
        if said := await self.stage.confirms(preview):
            assert "[Confirm]" in said, said
            said = await self.stage.confirms(preview)
        assert not said, said
        self.plan = await self.stage.plan_of(self.row, self.site, "running", "done")

    async def _is_done(self) -> None:
        await self.row.release(self.site)
        self.plan = await self.stage.plan_of(self.row, self.site, "done")
        await until(lambda: self.row.is_done(self.site), seconds=WAIT / 2)
        card = await self._card(self.plan, self.site.filled(self.row.leads_to))
        assert ("[Undo]" in card.said) is not self._is_final, card.said

    async def _is_undone(self) -> None:
        assert self.plan is not None
        if self.row.undone:
            self._says(
                self.row.undone, (await self.stage.asks(f"plan undo {self.plan.id}", f"{self.plan.id}`")).said
            )
            return
        card = await self._card(self.plan)
        await self.stage.undoes(card, self.plan)

        async def is_undone() -> bool:
            return not await self.row.is_done(self.site)

        await until(is_undone, seconds=WAIT)

    async def is_listed(self, moment: str, said: str) -> None:
        """Check what `node list` says of the node."""
        line = next((one for one in said.splitlines() if self.site.node in one.split(" | ")[0]), "")
        if not self.faults and self.row.listed not in line:
            self.faults.append(f"`node list` {moment} does not say `{self.row.listed}`: {line}")

    async def _card(self, plan: Plan, button: str = "") -> Message:
        """Return the card of the plan, once it says that it is done, or has this button."""
        done = f"[{button}]" if button else ": done"

        def found() -> Message | None:
            seen = self.stage.light.slack.everything(CHANNEL)
            name = f"plan `{plan.id}`"
            mine = [one for one in seen if done in one.said and name in one.said]
            return mine[-1] if mine else None

        return await shown(found)

    @property
    def _label(self) -> str:
        return self.site.filled(self.row.button)

    @property
    def _is_final(self) -> bool:
        return "nothing that can be undone" in self.row.undone

    def _shown(self) -> str:
        seen = (*self.stage.light.slack.everything(CHANNEL), *self.stage.light.slack.ephemerals("dana"))
        return "\n--\n".join(one.said for one in seen if self.site.node in one.said)[-3000:]


async def played_stories(folder: Path) -> Mapping[str, Sequence[str]]:
    """Play all stories side by side, and return what is wrong in each, by command."""
    async with action_stage(folder) as stage:
        stories = [ActionStory(stage=stage, row=row, site=stage.site(row)) for row in PLAYED]

        async def together(part: str) -> None:
            await asyncio.gather(*(one.tell(part) for one in stories))

        async def listed(moment: str) -> None:
            said = (await stage.asks("node list --all", "nodes*")).said
            for one in stories:
                await one.is_listed(moment, said)

        for part in REFUSALS:
            await together(part)
        stage.kubelets.ends_pods = False
        await together("begins")
        await stage.light.restart()
        stage.kubelets.ends_pods = True
        await together("done")
        for moment, ahead in LATER:
            stage.light.clock.forward(ahead)
            await stage.light.next_rounds()
            await listed(moment)
        await stage.light.restart()
        await listed("after a restart")
        await together("undone")
        return {one.row.command: one.faults for one in stories}
