"""Runs of scenarios with checks: the alerts fire, one card is posted, the action works, the incident resolves."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic

from alerts.cards.channel_id import channel_id
from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from collectors.cluster.kinds import DEPLOYMENTS
from collectors.trainings.training import TrainingState
from demo.card_record import CardRecord
from demo.environment import CHANNELS, CLUSTER, Environment
from demo.lookalikes.slack import Message
from demo.scenario import Scenario
from demo.scenario_people import FailedError, ScenarioPeople, Scene, look_at_nothing

SETTLES = 3.0  # seconds to wait for late cards at the end


@dataclass(slots=True, kw_only=True)
class Result:
    """The result of one scenario. Seconds count from its start; None: the step was not reached."""

    name: str
    opened: float | None = None  # the incident opened; `alerted`: it holds every alert of the scenario
    alerted: float | None = None
    posted: float | None = None
    done: float | None = None
    resolved: float | None = None
    failures: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not self.failures


class ScenarioRunner:
    """Runs scenarios one after the other in one environment. It waits for `look` at each scene.

    Several runners with the same people may run scenarios at the same time; each knows of the others, whose
    incidents it expects.
    """

    def __init__(
        self,
        environment: Environment,
        *,
        look: Callable[[Scene], Awaitable[None]] = look_at_nothing,
        people: ScenarioPeople | None = None,
    ) -> None:
        self._environment = environment
        self._people = people or ScenarioPeople(environment, look)
        self._record = CardRecord(environment)
        self._start = 0.0
        self._known: set[tuple[str, datetime]] = set()
        self._also: Sequence[str] = ()

    async def run(self, scenario: Scenario, *, beside: Sequence[Scenario] = ()) -> Result:
        """Run a scenario. On failure, record the error in the result and end the scenario's faults.

        `beside`: the scenarios that run at the same time.
        """
        result = Result(name=scenario.name)
        self._start = monotonic()
        # An open incident belongs to the scenario only if its fault began in the simulated history.
        self._known = (
            set() if scenario.initial_faults else {(one.id, one.began_at) for one in await self._everything()}
        )
        theirs = (key for other in beside for key in (other.card.group_key, *other.also) if key)
        self._also = (*scenario.also, *theirs)
        async with self._record.running():
            try:
                await self._run(scenario, result)
            except FailedError as error:
                result.failures.append(str(error))
                await self._end_faults(scenario)
        result.failures += await self._record.faults()
        return result

    async def _run(self, scenario: Scenario, result: Result) -> None:
        for act in scenario.commands:
            await self._people.act(scenario, act)
        for fault in scenario.faults:
            self._environment.start_fault(fault)
        has_incident = scenario.card.group_key or scenario.card.parent
        incident = await self._await_alerts(scenario, result) if has_incident else None
        await self._await_card(scenario, incident, result)
        await self._people.show(scenario, "card")
        if scenario.done.training_gone and not self._holds_gpus(scenario.done.training_gone):
            raise FailedError(f"there is no training {scenario.done.training_gone} that could end")
        for act in scenario.actions:
            await self._people.act(scenario, act)
        await self._people.until(scenario, str(scenario.done), lambda: self._is_done(scenario))
        result.done = self._elapsed()
        await asyncio.sleep(scenario.end_faults_after)
        await self._end_faults(scenario)
        for act in scenario.after:
            await self._people.act(scenario, act)
        if incident is not None:
            await self._await_resolved(scenario, incident)
            result.resolved = self._elapsed()
            await self._people.show(scenario, "end")
        for act in scenario.cleanup:
            await self._people.act(scenario, act)
        await asyncio.sleep(SETTLES)
        await self._check_no_other_cards(scenario, incident)

    async def _await_alerts(self, scenario: Scenario, result: Result) -> Incident | ParentIncident:
        key = scenario.card.group_key or scenario.card.parent

        async def check() -> Incident | ParentIncident | None:
            for incident in await self._everything():
                if _key(incident) == key and self._is_new(incident):
                    result.opened = result.opened or self._elapsed()
                    if set(scenario.alerts) <= await self._alerts_of(incident):
                        return incident
            return None

        what = f"alerts {', '.join(scenario.alerts)} for {key}"
        found: Incident | ParentIncident = await self._people.until(scenario, what, check)
        result.alerted = self._elapsed()
        return found

    async def _alerts_of(self, incident: Incident | ParentIncident) -> set[str]:
        """Return the names of its alerts, or of those of all its members."""
        members = [incident] if isinstance(incident, Incident) else await self._incidents(parent=incident.id)
        return {member.name for one in members for member in one.members}

    async def _await_card(
        self, scenario: Scenario, incident: Incident | ParentIncident | None, result: Result
    ) -> None:
        kind, of = (
            (_kind_of(incident), incident.id)
            if incident is not None
            else (CardKind.LAUNCH, scenario.card.launch)
        )

        async def check() -> bool:
            return all([await self._cards(channel, kind, of) for channel in scenario.card.channels])

        await self._people.until(scenario, f"a card in {', '.join(scenario.card.channels)}", check)
        result.posted = self._elapsed()

    async def _cards(self, channel: str, kind: CardKind, of: str) -> list[Message]:
        """Return the card's messages as the Slack look-alike recorded them. More than one is a duplicate."""
        environment = self._environment
        async with environment.yard.store.unit() as unit:
            rows = await unit.rows(PostedCard).find(
                kind=kind.value, channel=channel_id("slack", environment.slack.id(channel))
            )
        mine = {
            row.message_id
            for row in rows
            if row.message_id and (row.row_id == of or (kind is CardKind.LAUNCH and of in row.row_id))
        }
        return [message for message in environment.slack.everything(channel) if message.ts in mine]

    async def _is_done(self, scenario: Scenario) -> bool:
        done, cluster = scenario.done, self._environment.yard.clusters[CLUSTER]
        inventory = cluster.inventory()
        if done.cordoned and not inventory.nodes[done.cordoned].spec.unschedulable:
            return False
        if done.dns_replicas:
            dns = inventory.all(DEPLOYMENTS)["kube-system/coredns"]
            if dns.status.ready_replicas < done.dns_replicas:
                return False
        if done.training_gone and self._holds_gpus(done.training_gone):
            return False
        if done.training_runs:
            running = [training for training in cluster.trainings() if done.training_runs in training.id]
            if not running or running[0].state is not TrainingState.RUNNING:
                return False
        if done.answered:
            slack = self._environment.slack
            return any(done.answered in one.said for one in slack.ephemerals(scenario.actions[-1].user))
        return True

    def _holds_gpus(self, training: str) -> bool:
        """Whether a training of this name is neither over nor suspended."""
        return any(
            one.shown == training and not one.state.is_over and one.state is not TrainingState.SUSPENDED
            for one in self._environment.yard.clusters[CLUSTER].trainings()
        )

    async def _await_resolved(self, scenario: Scenario, incident: Incident | ParentIncident) -> None:
        async def check() -> bool:
            async with self._environment.yard.store.unit() as unit:
                now = await unit.rows(type(incident)).get(incident.id)
            return now is not None and not now.is_open

        await self._people.until(scenario, "the incident to resolve", check)

        said = ""

        async def is_updated() -> bool:
            nonlocal said
            found = await self._cards(scenario.card.channels[0], _kind_of(incident), incident.id)
            said = found[0].said if found else "there is none"
            return scenario.card_text in said

        try:
            await self._people.until(scenario, f"the card to show `{scenario.card_text}`", is_updated)
        except FailedError as error:
            raise FailedError(f"{error}; it says: {said}") from None

    async def _check_no_other_cards(
        self, scenario: Scenario, incident: Incident | ParentIncident | None
    ) -> None:
        """Check that no other incident opened, and that this one has one card per expected channel and no more."""
        for other in await self._incidents():
            is_expected = incident is not None and incident.id in (other.id, other.parent)
            is_allowed = any(other.group_key.startswith(prefix) for prefix in self._also)
            if self._is_new(other) and not is_expected and not is_allowed:
                raise FailedError(
                    f"unexpected incident: {other.group_key} ({other.lead.name}: {other.lead.summary})"
                )
        if incident is not None:
            for channel in CHANNELS:
                count = len(await self._cards(channel, _kind_of(incident), incident.id))
                wanted = 1 if channel in scenario.card.channels else 0
                if count != wanted:
                    raise FailedError(f"{count} cards in {channel}, expected {wanted}")

    async def _end_faults(self, scenario: Scenario) -> None:
        for name in scenario.end_faults:
            self._environment.end_fault(name)

    async def _incidents(self, **wanted: str) -> list[Incident]:
        async with self._environment.yard.store.unit() as unit:
            return list(await unit.rows(Incident).find(newest=True, limit=200, **wanted))

    async def _everything(self) -> list[Incident | ParentIncident]:
        """Return the newest incidents, and the parents of many."""
        async with self._environment.yard.store.unit() as unit:
            parents = await unit.rows(ParentIncident).find(newest=True, limit=200)
        return [*parents, *await self._incidents()]

    def _is_new(self, incident: Incident | ParentIncident) -> bool:
        """Whether it was opened, or opened again, since the scenario began."""
        return (incident.id, incident.began_at) not in self._known

    def _elapsed(self) -> float:
        return monotonic() - self._start


def _key(incident: Incident | ParentIncident) -> str:
    return incident.group_key if isinstance(incident, Incident) else incident.key


def _kind_of(incident: Incident | ParentIncident) -> CardKind:
    return CardKind.INCIDENT if isinstance(incident, Incident) else CardKind.PARENT
