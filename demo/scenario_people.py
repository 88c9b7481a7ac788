"""The people of a scenario: they type, press buttons, fill in forms, and wait for what comes."""

import asyncio
import logging
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from bot.channels.slack.listeners import BUSY, NOT_TAKEN, PENDING, TAKEN
from commands.execution.plan import Plan, PlanState
from demo.environment import Environment, describe_state
from demo.lookalikes.slack import Message
from demo.scenario import Action, Scenario

LOG = logging.getLogger(__name__)
POLL_EVERY = 0.25  # seconds

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a person can see now in a channel: `card`, `preview`, `answer`, `form`, `done` or `end`."""

    scenario: str
    what: str
    person: str
    channel: str


async def look_at_nothing(_scene: Scene) -> None:
    pass


class FailedError(Exception):
    """The scenario failed. The text is shown in the table."""


class ScenarioPeople:
    """They act in the Slack look-alike, one step after the other. `look` is awaited at each scene."""

    def __init__(
        self, environment: Environment, look: Callable[[Scene], Awaitable[None]] = look_at_nothing
    ) -> None:
        self._environment = environment
        self._look = look
        self._hands: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def act(self, scenario: Scenario, act: Action) -> None:
        """Do one thing: type or press, and confirm the preview. Raises FailedError."""
        where, on = act.channel or scenario.card.channels[0], None
        if not act.type:
            on = await self.until(
                scenario, f"a button `{act.press}` in {where}", lambda: self._button(where, act.press)
            )
        async with self._hands[act.user]:  # the next answer is to this
            await self._act(scenario, act, where, on)

    async def _act(self, scenario: Scenario, act: Action, where: str, on: Message | None) -> None:
        slack = self._environment.slack
        known = {message.ts for message in slack.ephemerals(act.user)}

        async def send() -> None:
            if on is None:
                await slack.types(act.user, where, act.type)
            else:
                await slack.presses(act.user, on, act.press)
            if act.form:
                await self._submit(scenario, act)

        async def answered() -> Message | None:
            new = [message for message in slack.ephemerals(act.user) if message.ts not in known]
            found = [message for message in new if TAKEN not in message.said and PENDING not in message.said]
            return found[-1] if found and not _asks_again(found[-1]) else None

        answer = await self._until_follows(
            scenario, f"an answer to {act.type or act.press}", act.user, send, answered
        )
        await self.show(scenario, "preview" if act.confirm else "answer", act)
        if act.refused:
            if act.refused not in answer.said:
                raise FailedError(f"`{act.type}` was not refused with `{act.refused}`: {answer.said[:300]}")
            return
        if act.confirm:
            if "Confirm" not in answer.said:
                raise FailedError(f"no preview of {act.type or act.press}; the answer: {answer.said[:300]}")
            named = re.findall(r"plan `(p\d+)`", answer.said)

            async def confirm() -> None:
                if "[Confirm]" in answer.said:  # otherwise it was not lost
                    await slack.presses(act.user, answer, "Confirm")

            await self._until_follows(
                scenario,
                f"the end of plan {named[-1]}",
                act.user,
                confirm,
                lambda: self._is_plan_done(named[-1]),
            )
            await self.show(scenario, "done", act)

    async def _submit(self, scenario: Scenario, act: Action) -> None:
        """Fill in and submit the form that the action opens."""
        slack = self._environment.slack

        async def opened() -> dict[str, Any] | None:
            return next(iter(slack.views(act.user)), None)

        form = await self.until(scenario, f"the form of {act.type or act.press}", opened)
        await self.show(scenario, "form", act)
        await slack.submits(act.user, form, act.form)

    async def show(self, scenario: Scenario, what: str, act: Action | None = None) -> None:
        """Let `look` see what came last: as the person who acts, or who acts first."""
        act = act or next(iter((*scenario.commands, *scenario.actions)), Action(user="dana"))
        channel = act.channel or scenario.card.channels[0]
        await self._look(Scene(scenario=scenario.name, what=what, person=act.user, channel=channel))

    async def _until_follows(
        self,
        scenario: Scenario,
        what: str,
        user: str,
        send: Callable[[], Awaitable[None]],
        check: Callable[[], Awaitable[T | None]],
    ) -> T:
        """Send what a person does, and again when the bot says that it was not taken, until `check` is true."""

        def asked_again() -> int:
            return sum(map(_asks_again, self._environment.slack.ephemerals(user)))

        asked = asked_again()
        await send()

        async def follows() -> T | None:
            nonlocal asked
            if (found := await check()) or asked_again() == asked:
                return found
            asked = asked_again()
            await send()
            return None

        return await self.until(scenario, what, follows)

    async def _is_plan_done(self, id: str) -> bool:
        async with self._environment.yard.store.unit() as unit:
            plan = await unit.rows(Plan).get(id)
        if plan is None or plan.state in (PlanState.FAILED, PlanState.CANCELLED):
            outcome = f"`{plan.line}` is {plan.state.value}: {plan.error}" if plan else "does not exist"
            raise FailedError(f"plan {id} {outcome}")
        return plan.state is PlanState.DONE

    async def _button(self, where: str, label: str) -> Message | None:
        """Return the newest message in the channel that has this button, or None."""
        slack = self._environment.slack
        for message in reversed(slack.messages(where)):
            if f"[{label}]" in message.said:
                return message
        return None

    async def until(self, scenario: Scenario, what: str, check: Callable[[], Awaitable[T | None]]) -> T:
        """Poll `check` until it returns something true. Raises FailedError after the scenario's time limit."""
        end = monotonic() + scenario.within
        while monotonic() < end:
            if found := await check():
                return found
            await asyncio.sleep(POLL_EVERY)
        LOG.warning(
            "%s: timed out after %.0f s waiting for %s; %s",
            scenario.name,
            scenario.within,
            what,
            await describe_state(self._environment),
        )
        raise FailedError(f"timed out after {scenario.within:.0f} s waiting for {what}")


def _asks_again(message: Message) -> bool:
    """Whether the bot says that what the person sent was not taken: on a slow machine the store does not answer."""
    return NOT_TAKEN in message.said or BUSY in message.said
