"""The chart maker: puts a chart on the card of each PromQL incident, after the card, and another when it has ended.

Nothing waits for it: a card without its chart is whole, and a chart that fails is left out.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta

import structlog

from alerts.alert import Alert
from alerts.cards.channel_id import kind_and_name
from alerts.cards.posted import CardImage, CardKind, PostedCard
from alerts.incidents.incident import Incident
from alerts.rules import Rule
from alerts.store import Changed, Store
from bot.charts.chart_renderer import ChartRenderer, DrawingError
from bot.charts.incident_chart import chart_plans, charted_members
from bot.charts.line_chart import alt_text
from bot.delivery.notifier_protocol import Notifier, Picture, SendError
from bot.live_cluster import LiveCluster
from collectors.facts.clock import Clock
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import SourceError
from collectors.internal_errors import InternalErrors

SETTLES = timedelta(
    seconds=15
)  # other alerts of the same fault join meanwhile, and the picture shows them too
AGAIN = timedelta(minutes=1)  # after a failure
ATTEMPTS = 3
PAUSE = 5.0  # seconds between two looks: in a storm, rows change all the time
SPACING = 2.0  # seconds between two charts: an upload takes part of the channel's limit, and news comes first
SEND_WITHIN = timedelta(seconds=30)

_log = structlog.get_logger()


@dataclass(slots=True)
class _Wanted:
    """A card that waits for the chart of its incident as of `resolved_at`."""

    resolved_at: datetime | None
    due: timedelta  # by Clock.elapsed()
    failures: int = 0


@dataclass(eq=False, slots=True)
class ChartMaker:
    """Charts of the live incident cards in channels that take pictures. Pass `wake` to the store's `listen`."""

    store: Store
    clusters: Mapping[str, LiveCluster]
    notifiers: Mapping[str, Notifier]
    rules: Callable[[], Mapping[str, Rule]]
    clock: Clock
    _: KW_ONLY
    renderer: ChartRenderer
    errors: InternalErrors = field(default_factory=InternalErrors)
    # By card; one that has what it wants stays until its incident changes.
    _wanted: dict[str, _Wanted] = field(default_factory=dict, init=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def wake(self, changed: Changed) -> None:
        """Listen to the store: a card may have been posted, or an incident may have ended."""
        if not changed.keys().isdisjoint(("cards", "incidents")):
            self._changed.set()

    async def run(self) -> None:
        """Run until cancelled."""
        try:
            while True:
                self._changed.clear()
                await self._look()
                await self._work()
                await self._rest()
        finally:
            await self.renderer.close()

    async def _rest(self) -> None:
        """Wait for a change, or until a chart is due. The child ends meanwhile."""
        due = min((one.due for one in self._wanted.values() if one.failures < ATTEMPTS), default=None)
        pause = None if due is None else max(0.0, (due - self.clock.elapsed()).total_seconds())
        if pause is None or pause > 0:
            await self.renderer.close()
        try:
            async with asyncio.timeout(pause):
                await self._changed.wait()
                await asyncio.sleep(PAUSE)
        except TimeoutError:
            return

    def _takes_images(self, channel: str) -> bool:
        notifier = self.notifiers.get(kind_and_name(channel)[0])
        return notifier is not None and notifier.capabilities.images

    async def _look(self) -> None:
        """Find the live cards that lack the chart of their incident's state."""
        async with self.store.read() as snapshot:
            found = await snapshot.rows(PostedCard).find(state="live", kind=CardKind.INCIDENT.value)
            cards = [one for one in found if one.message_id and self._takes_images(one.channel)]
            incidents = await snapshot.rows(Incident).get_all({one.row_id for one in cards})
            images = await snapshot.rows(CardImage).get_all(one.id for one in cards)
        wanted: dict[str, _Wanted] = {}
        for card in cards:
            incident, image = incidents.get(card.row_id), images.get(card.id)
            if incident is None or not self._is_missing(incident, image):
                continue
            known = self._wanted.get(card.id)
            if known is None or known.resolved_at != incident.resolved_at:
                known = _Wanted(incident.resolved_at, self.clock.elapsed() + SETTLES)
            wanted[card.id] = known
        self._wanted = wanted

    def _is_missing(self, incident: Incident, image: CardImage | None) -> bool:
        """Return whether a chart is to be drawn: one, as a second one would be a second file in the thread.

        A card that points to a parent gets none.
        """
        return image is None and not incident.parent and bool(charted_members(incident, self.rules()))

    async def _work(self) -> None:
        """Make the charts that are due."""
        for id, wanted in list(self._wanted.items()):
            if wanted.failures >= ATTEMPTS or wanted.due > self.clock.elapsed():
                continue
            try:
                is_done = await self._make(id)
            except (SourceError, DrawingError, SendError, TimeoutError) as error:
                _log.info("chart is left out", card=id, reason=str(error))
                is_done = False
            except Exception as error:  # one chart's bug must not stop the others
                self.errors.contain(error, "chart", card=id)
                is_done = False
            if not is_done:
                wanted.failures += 1
                wanted.due = self.clock.elapsed() + AGAIN
            await asyncio.sleep(SPACING)

    async def _make(self, id: str) -> bool:
        """Draw, upload and store the chart of a card. Return False when there is nothing to draw yet."""
        rules = self.rules()
        async with self.store.read() as snapshot:
            card = await snapshot.rows(PostedCard).get(id)
            incident = await snapshot.rows(Incident).get(card.row_id) if card is not None else None
            if card is None or incident is None:
                return False
            members = charted_members(incident, rules)
            alerts = await snapshot.rows(Alert).get_all(one.alert for one in members)
        cluster = self.clusters.get(incident.cluster)
        source = cluster.sources.answering(PromQLQuery) if cluster is not None else None
        if source is None:
            return False
        for plan in chart_plans(incident, members, alerts, rules, self.clock.now()):
            series = await source.range(plan.query, start=plan.start, end=plan.end, step=plan.step)
            if (chart := plan.chart(series)) is not None:
                break
        else:
            return False
        alt = alt_text(chart)
        content = await self.renderer.render(chart)
        kind, channel = kind_and_name(card.channel)
        picture = Picture(name=f"{incident.id}.png", content=content, alt=alt)
        async with asyncio.timeout(SEND_WITHIN.total_seconds()):
            file = await self.notifiers[kind].upload(channel, picture, thread=card.thread or card.message_id)
        image = CardImage(
            id=card.id,
            cluster=card.cluster,
            card=card.id,
            incident=incident.id,
            file=file,
            alt=alt,
            resolved_at=incident.resolved_at,
        )
        async with self.store.unit() as unit:
            if await unit.rows(PostedCard).get(card.id) is not None:
                await unit.rows(CardImage).put(image)
        self._wanted.pop(card.id, None)
        return True
