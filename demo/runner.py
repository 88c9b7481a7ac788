"""This file plays scenarios on a stage, and judges them: seen, told in one card, done, recovered, and nothing else."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar

from alerts.cards.posted import CardKind
from alerts.incidents.incident import Incident
from collectors.trainings.training import TrainingState
from commands.plans.plan import PlanState
from demo.environment import CHANNELS, CLUSTER, Environment, describe_state
from demo.lookalikes.slack import Message
from demo.scenario import Act, Scenario

LOG = logging.getLogger(__name__)
LOOK_EVERY = 0.25  # seconds
SETTLES = 3.0  # seconds that a lane is watched for late cards after the end

T = TypeVar("T")


class FailedError(Exception):
    """The scenario did not go as it says. The text is for the table."""


@dataclass(slots=True, kw_only=True)
class Result:
    """How one scenario went. Seconds count from its beginning; None: it did not come to that."""

    name: str
    opened: float | None = None  # its incident, by the first alert; `seen`: every alert that it names
    seen: float | None = None
    posted: float | None = None
    done: float | None = None
    recovered: float | None = None
    failures: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not self.failures


class ScenarioRunner:
    """Plays one scenario after the other on one stage."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._began = 0.0
        self._known: set[str] = set()

    async def run(self, scenario: Scenario) -> Result:
        """Play it to its end, whatever goes wrong on the way; nothing of it is left behind."""
        result = Result(name=scenario.name)
        self._began = monotonic()
        # What stands already is the scenario's own only where it began in the past.
        self._known = set() if scenario.begins else {one.id for one in await self._incidents()}
        try:
            await self._play(scenario, result)
        except FailedError as error:
            result.failures.append(str(error))
            await self._mend(scenario)
        return result

    async def _play(self, scenario: Scenario, result: Result) -> None:
        for act in scenario.types:
            await self._act(scenario, act, None)
        for fault in scenario.happens:
            self._environment.break_it(fault)
        incident = await self._seen(scenario, result) if scenario.card.group_key else None
        card = await self._told(scenario, incident, result)
        for act in scenario.acts:
            await self._act(scenario, act, card)
        await self._until(scenario, f"done: {scenario.done}", lambda: self._is_done(scenario))
        result.done = self._after()
        await asyncio.sleep(scenario.mends_after)
        await self._mend(scenario)
        if incident is not None:
            await self._recovered(scenario, incident, card)
            result.recovered = self._after()
        for act in scenario.then:
            await self._act(scenario, act, None)
        await asyncio.sleep(SETTLES)
        await self._nothing_else(scenario, incident)

    async def _seen(self, scenario: Scenario, result: Result) -> Incident:
        async def look() -> Incident | None:
            for incident in await self._incidents():
                if incident.group_key == scenario.card.group_key and self._is_ours(incident):
                    result.opened = result.opened or self._after()
                    names = {member.name for member in incident.members}
                    if set(scenario.seen) <= names:
                        return incident
            return None

        found = await self._until(
            scenario, f"seen: {', '.join(scenario.seen)} of {scenario.card.group_key}", look
        )
        result.seen = self._after()
        return found

    async def _told(self, scenario: Scenario, incident: Incident | None, result: Result) -> Message | None:
        kind, of = (
            (CardKind.INCIDENT, incident.id)
            if incident is not None
            else (CardKind.LAUNCH, scenario.card.launch)
        )

        async def look() -> list[Message] | None:
            found = [await self._cards(channel, kind, of) for channel in scenario.card.channels]
            return [cards[0] for cards in found] if all(found) else None

        cards = await self._until(scenario, f"told in {', '.join(scenario.card.channels)}", look)
        result.posted = self._after()
        return cards[0]

    async def _cards(self, channel: str, kind: CardKind, of: str) -> list[Message]:
        """The messages of a card in the look-alike's own record: one, or the bot repeated itself."""
        environment = self._environment
        async with environment.yard.store.unit() as unit:
            rows = await unit.cards.find(kind=kind.value, channel=environment.slack.id(channel))
        mine = {
            row.message_id
            for row in rows
            if row.message_id and (row.row_id == of or (kind is CardKind.LAUNCH and of in row.row_id))
        }
        return [message for message in environment.slack.everything(channel) if message.ts in mine]

    async def _act(self, scenario: Scenario, act: Act, card: Message | None) -> None:
        slack = self._environment.slack
        where = act.where or scenario.card.channels[0]
        before = len(slack.ephemerals(act.who))
        if act.type:
            await slack.types(act.who, where, act.type)
        else:
            on = await self._until(
                scenario, f"a button `{act.press}` in {where}", lambda: self._button(where, act.press)
            )
            await slack.presses(act.who, on, act.press)

        async def answered() -> Message | None:
            found = slack.ephemerals(act.who)
            return found[-1] if len(found) > before else None

        answer = await self._until(scenario, f"an answer to {act.type or act.press}", answered)
        if act.refused:
            if act.refused not in answer.said:
                raise FailedError(f"`{act.type}` was not refused with `{act.refused}`: {answer.said[:300]}")
            return
        if act.confirm:
            if "Confirm" not in answer.said:
                raise FailedError(f"no preview of {act.type or act.press}: {answer.said[:300]}")
            named = re.findall(r"plan `(p\d+)`", answer.said)
            await slack.presses(act.who, answer, "Confirm")
            await self._until(
                scenario, f"the deed {act.type or act.press}", lambda: self._deed_is_over(named[-1])
            )

    async def _deed_is_over(self, id: str) -> bool:
        async with self._environment.yard.store.unit() as unit:
            plan = await unit.plans.get(id)
        if plan is None or plan.state in (PlanState.FAILED, PlanState.CANCELLED):
            why = f"{plan.line}: {plan.state.value}, {plan.error}" if plan else "is not there"
            raise FailedError(f"plan {id} {why}")
        return plan.state is PlanState.DONE

    async def _button(self, where: str, label: str) -> Message | None:
        """The newest message there with such a button; the card of an incident, a claim, or a deed."""
        slack = self._environment.slack
        for message in reversed(slack.messages(where)):
            if f"[{label}]" in message.said:
                return message
        return None

    async def _is_done(self, scenario: Scenario) -> bool:
        done, site = scenario.done, self._environment.yard.clusters[CLUSTER]
        inventory = site.inventory()
        if done.cordoned and not inventory.nodes[done.cordoned].spec.unschedulable:
            return False
        if done.dns_replicas:
            dns = inventory.deployments["kube-system/coredns"]
            if dns.status.ready_replicas < done.dns_replicas:
                return False
        trainings = {view.id: view for view in site.trainings()}
        if (
            done.training_gone
            and done.training_gone in trainings
            and not trainings[done.training_gone].state.is_over
            and trainings[done.training_gone].state is not TrainingState.SUSPENDED
        ):
            return False
        if done.training_runs:
            running = [view for id, view in trainings.items() if done.training_runs in id]
            if not running or running[0].state is not TrainingState.RUNNING:
                return False
        if done.answered:
            slack = self._environment.slack
            return any(done.answered in one.said for one in slack.ephemerals(scenario.acts[-1].who))
        return True

    async def _recovered(self, scenario: Scenario, incident: Incident, card: Message | None) -> None:
        async def look() -> bool:
            async with self._environment.yard.store.unit() as unit:
                now = await unit.incidents.get(incident.id)
            return now is not None and not now.is_open

        await self._until(scenario, "recovered: the incident resolved", look)

        async def says() -> bool:
            found = await self._cards(scenario.card.channels[0], CardKind.INCIDENT, incident.id)
            return bool(found) and scenario.says in found[0].said

        await self._until(scenario, f"the card saying `{scenario.says}`", says)

    async def _nothing_else(self, scenario: Scenario, incident: Incident | None) -> None:
        """No incident but the named one, and one card of it in each channel where it belongs, none elsewhere."""
        for other in await self._incidents():
            is_named = incident is not None and other.id == incident.id
            may_come = any(other.group_key.startswith(prefix) for prefix in scenario.also)
            if self._is_ours(other) and not is_named and not may_come:
                raise FailedError(
                    f"another incident: {other.group_key} ({other.lead.name}: {other.lead.summary})"
                )
        if incident is not None:
            for channel in CHANNELS:
                count = len(await self._cards(channel, CardKind.INCIDENT, incident.id))
                wanted = 1 if channel in scenario.card.channels else 0
                if count != wanted:
                    raise FailedError(f"{count} cards in {channel}, {wanted} wanted")

    async def _mend(self, scenario: Scenario) -> None:
        for name in scenario.mends:
            self._environment.mend(name)

    async def _incidents(self) -> list[Incident]:
        async with self._environment.yard.store.unit() as unit:
            return list(await unit.incidents.find(newest=True, limit=200))

    def _is_ours(self, incident: Incident) -> bool:
        return incident.id not in self._known

    async def _until(self, scenario: Scenario, what: str, look: Callable[[], Awaitable[T | None]]) -> T:
        """Look until there is something. Raises FailedError when the scenario's patience ends."""
        end = monotonic() + scenario.within
        while monotonic() < end:
            if found := await look():
                return found
            await asyncio.sleep(LOOK_EVERY)
        LOG.warning(
            "%s: not within %.0f s: %s; %s",
            scenario.name,
            scenario.within,
            what,
            await describe_state(self._environment),
        )
        raise FailedError(f"not within {scenario.within:.0f} s: {what}")

    def _after(self) -> float:
        return monotonic() - self._began
