"""The record that the checker of cards reads: every version of every message, and what was so meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from alerts.cards.headline import alike_of, group_headline
from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.incident import Incident
from alerts.silences import Silence
from collectors.facts.results import SourceError
from collectors.facts.sentences import headline_of
from commands.execution.plan import Plan, PlanState
from commands.models import CordonLease
from demo.card_checks import Moment, OpenIncident, Shown, Version, faults_in
from demo.environment import CHANNELS, CLUSTER, Environment
from demo.lookalikes.slack import Message
from demo.side_tasks import beside

EVERY = 1.0  # seconds
KEPT = timedelta(minutes=10)  # a scenario takes less
NEWEST = 200  # rows of a kind: more are not about what a card still suggests


class CardRecord:
    """It looks at the cluster and the store all the time, and says what was wrong with the cards."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._moments: list[Moment] = []
        self._known: set[str] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look until the block ends."""
        async with beside(self._look(), "record of cards"):
            yield

    async def faults(self) -> list[str]:
        """Return what was wrong with any version of any card, and was not returned before."""
        found = [one for one in faults_in(await self._shown(), self._moments) if one not in self._known]
        self._known |= set(found)
        return found

    async def _look(self) -> None:
        while True:
            moment = await self._moment()
            self._moments = [one for one in self._moments if moment.at - one.at < KEPT]
            self._moments.append(moment)
            await asyncio.sleep(EVERY)

    async def _moment(self) -> Moment:
        environment = self._environment
        async with environment.yard.store.read() as snapshot:
            incidents = await snapshot.rows(Incident).find(newest=True, limit=NEWEST)
            plans = await snapshot.rows(Plan).find(newest=True, limit=NEWEST)
            leases = await snapshot.rows(CordonLease).find(cluster=CLUSTER)
            silences = await snapshot.rows(Silence).find(cluster=CLUSTER)
        at = environment.slack.workspace.clock.now()
        already = {
            *(f"alert ack {one.id}" for one in incidents if one.acknowledged_by),
            *(f"incident resolve {one.id}" for one in incidents if not one.is_open),
            *(f"plan undo {one.id}" for one in plans if one.undone_by),
            *(" ".join(one.line.split()[:3]) for one in plans if _is_frozen(one)),
            *(f"silence expire {one.id}" for one in silences if not one.is_active(at)),
            *self._cordons({lease.node for lease in leases}),
            *self._trainings(),
        }
        return Moment(
            at=at,
            already=frozenset(already),
            incidents={one.id: known_as(one) for one in incidents if one.is_open},
        )

    def _cordons(self, leased: set[str]) -> list[str]:
        """Return the cordons that stand, and the uncordons of nodes that have none, not even a record of one."""
        try:
            nodes = self._environment.yard.clusters[CLUSTER].inventory().nodes
        except SourceError:
            return []
        return [
            f"node {'cordon' if node.spec.unschedulable else 'uncordon'} {name}"
            for name, node in nodes.items()
            if node.spec.unschedulable or name not in leased
        ]

    def _trainings(self) -> list[str]:
        try:
            trainings = self._environment.yard.clusters[CLUSTER].trainings()
        except SourceError:
            return []
        over = [f"training stop {one.typed}" for one in trainings if one.state.is_over]
        return [*over, *(f"gpu free {one.typed}" for one in trainings if not one.gpus)]

    async def _shown(self) -> list[Shown]:
        environment = self._environment
        async with environment.yard.store.read() as snapshot:
            rows = await snapshot.rows(PostedCard).find(kind=(CardKind.INCIDENT.value, CardKind.PARENT.value))
        cards = {row.message_id: row.row_id for row in rows if row.message_id}
        return [
            shown_as(channel, message, cards)
            for channel in CHANNELS
            for message in environment.slack.everything(channel)
            if message.by_bot
        ]


def shown_as(channel: str, message: Message, cards: Mapping[str, str]) -> Shown:
    """Return a message with its versions. `cards`: the incidents by the message of their card."""
    return Shown(
        channel=channel,
        id=message.ts,
        versions=tuple(
            Version(
                at=event.at,
                said=Message(channel=channel, body=event.body).said,
                offers=tuple(_lines(event.body)),
                is_deleted=event.what == "deleted",
            )
            for event in message.history
        ),
        incident=cards.get(message.ts) or cards.get(message.thread_ts or "", ""),
        is_reply=message.is_reply,
    )


def _lines(part: Any) -> list[str]:
    """Return the command lines of the buttons in a message: of its own blocks and of its attachments."""
    if isinstance(part, list):
        return [line for one in part for line in _lines(one)]
    if not isinstance(part, dict):
        return []
    if part.get("type") == "button":
        return [str(part["value"])] if part.get("value") else []
    return [line for one in part.values() for line in _lines(one)]


def known_as(incident: Incident) -> OpenIncident:
    """Return what is known of an open incident."""
    standing = incident.standing
    said = dict[str, int]()
    for member in standing:
        texts = {headline_of(member.summary)}
        alike = [one for one in standing if one.name == member.name and one.gravity == member.gravity]
        for group in (alike, alike_of(incident) if member.name == incident.lead.name else ()):
            if group and (together := group_headline(incident, group)) is not None:
                texts.add(together)
        for text in texts:
            said[str(text)] = max(said.get(str(text), 0), member.gravity)
    objects = {
        name
        for member in standing
        for name in (member.subject.node, member.subject.volume, member.subject.training)
        if name
    }
    return OpenIncident(objects=frozenset(objects), said=said)


def _is_frozen(plan: Plan) -> bool:
    return plan.command == "volume freeze" and plan.state is PlanState.DONE and not plan.undone_by
