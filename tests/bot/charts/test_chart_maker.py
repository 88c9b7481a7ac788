"""Charts come after their cards, once, and nothing waits for them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.cards.message import Image, Message
from alerts.cards.posted import CardImage, PostedCard
from alerts.incidents.incident import Incident
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.charts.chart_maker import AGAIN, ATTEMPTS, SETTLES, ChartMaker
from bot.charts.chart_renderer import DrawingError
from bot.charts.line_chart import Chart
from bot.delivery.notifier_protocol import Picture, UnknownOutcome
from bot.delivery.reconciler import Reconciler
from collectors.facts.labels import Labels
from collectors.facts.results import Series, SourceError
from tests.support.alerting import a_rule
from tests.support.chat import CHAT, START, FakeChat, LoopClock
from tests.support.incidents import an_open_incident
from tests.support.memory_store import MemoryStore
from tests.support.rows import a_card, an_alert
from tests.support.running_jobs import running

pytestmark = pytest.mark.looptime

RULE = replace(a_rule(expr="temp > 83"), id="gpu/heat/GPUTemperatureHigh")
ALERT = an_alert("gpu-a04", at=START)
INCIDENT = replace(an_open_incident(ALERT), opened_at=START)
HEAT = Series(
    labels=Labels({"node": "gpu-a04"}),
    points=tuple((START.timestamp() + 15 * number, 70.0 + 7 * number) for number in range(4)),
)


@dataclass(slots=True)
class Prometheus:
    """A source of one series; `errors` come first."""

    errors: list[Exception] = field(default_factory=list)
    queried: list[datetime] = field(default_factory=list)

    async def range(
        self, _query: Any, *, start: datetime, end: datetime, step: timedelta
    ) -> tuple[Series, ...]:
        self.queried.append(end)
        if self.errors:
            raise self.errors.pop(0)
        return (HEAT,)


@dataclass(slots=True)
class Renderer:
    """Draws nothing; `errors` come first, and `gate` holds every chart up."""

    errors: list[Exception] = field(default_factory=list)
    gate: asyncio.Event | None = None
    drawn: list[Chart] = field(default_factory=list)

    async def render(self, chart: Chart) -> bytes:
        if self.gate is not None:
            await self.gate.wait()
        if self.errors:
            raise self.errors.pop(0)
        self.drawn.append(chart)
        return b"PNG"

    async def close(self) -> None:
        return


@dataclass(slots=True)
class PictureChat(FakeChat):
    """A chat whose cards' pictures a test sees; `upload_errors` come first."""

    upload_errors: list[Exception] = field(default_factory=list)
    shown: list[tuple[float, list[str]]] = field(
        default_factory=list
    )  # when, and the pictures of the edited card

    async def edit(self, channel: str, ts: str, message: Message) -> None:
        await FakeChat.edit(self, channel, ts, message)
        files = [block.file for block in message.blocks if isinstance(block, Image)]
        self.shown.append((asyncio.get_running_loop().time(), files))

    async def upload(self, channel: str, picture: Picture, *, thread: str) -> str:
        if self.upload_errors:
            raise self.upload_errors.pop(0)
        return await FakeChat.upload(self, channel, picture, thread=thread)


@dataclass(slots=True)
class Site:
    store: MemoryStore = field(default_factory=MemoryStore)
    chat: PictureChat = field(default_factory=lambda: PictureChat(capabilities=replace(CHAT, images=True)))
    prometheus: Prometheus = field(default_factory=Prometheus)
    renderer: Renderer = field(default_factory=Renderer)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Deliver cards and make charts while the block lasts."""
        clock = LoopClock()
        rules = {RULE.id: RULE}
        context = CardContext(rules=lambda: rules, training=lambda *_: None, blind=lambda *_: {})
        reconciler = Reconciler(self.store, {"slack": self.chat}, CardCatalogue(context), clock=clock)
        clusters: Any = {"lab": SimpleNamespace(sources=SimpleNamespace(answering=lambda _: self.prometheus))}
        maker = ChartMaker(
            self.store,
            clusters,
            {"slack": self.chat},
            lambda: rules,
            clock,
            renderer=self.renderer,  # type: ignore[arg-type]
        )
        async with running(self.store, reconciler, maker):
            yield

    async def put(self, incident: Incident) -> None:
        async with self.store.unit() as unit:
            await unit.rows(Alert).put(ALERT)
            await unit.rows(Incident).put(incident)
            await unit.rows(PostedCard).add(a_card(incident.id))

    async def images(self) -> list[CardImage]:
        async with self.store.read() as snapshot:
            return list(await snapshot.rows(CardImage).find())


@pytest.fixture
def site() -> Site:
    return Site()


def at(time: datetime) -> Incident:
    """The incident, resolved then."""
    return replace(INCIDENT, resolved_at=time)


async def test_a_card_has_one_chart_and_its_thread_one_file(site: Site) -> None:
    async with site.running():
        await site.put(INCIDENT)
        await asyncio.sleep(600)
        assert [picture.name for _, picture in site.chat.pictures] == ["i1.png"]
        await site.put(at(START + timedelta(seconds=600)))
        await asyncio.sleep(400)
    assert [picture.name for _, picture in site.chat.pictures] == ["i1.png"]
    assert site.chat.shown[-1][1] == ["F1"]
    (card,) = site.chat.said("C1")
    assert card
    assert {thread for thread, _ in site.chat.pictures} == {"000001"}


async def test_the_words_of_the_picture_are_on_the_card(site: Site) -> None:
    async with site.running():
        await site.put(INCIDENT)
        await asyncio.sleep(60)
    (_, picture), (image,) = site.chat.pictures[0], await site.images()
    assert "It fires above 83." in picture.alt
    assert image.alt == picture.alt


async def test_a_card_and_its_end_do_not_wait_for_a_chart(site: Site) -> None:
    site.renderer.gate = asyncio.Event()
    async with site.running():
        await site.put(INCIDENT)
        await asyncio.sleep(1)
        assert len(site.chat.said("C1")) == 1
        await asyncio.sleep(SETTLES.total_seconds())
        await site.put(at(START + timedelta(seconds=16)))
        await asyncio.sleep(1)
        assert site.chat.said("C1")[0].startswith("Resolved")
        assert site.chat.pictures == []
        site.renderer.gate.set()
        await asyncio.sleep(60)
    assert [picture.name for _, picture in site.chat.pictures] == ["i1.png"]


@pytest.mark.parametrize(
    ("where", "error"),
    [
        ("source", SourceError("down")),
        ("source", ValueError("a bug")),
        ("renderer", DrawingError("too slow")),
        ("upload", UnknownOutcome("no answer")),
    ],
)
async def test_a_failure_is_tried_again_later(site: Site, where: str, error: Exception) -> None:
    errors = {
        "source": site.prometheus.errors,
        "renderer": site.renderer.errors,
        "upload": site.chat.upload_errors,
    }
    errors[where].append(error)
    async with site.running():
        await site.put(INCIDENT)
        await asyncio.sleep(SETTLES.total_seconds() + 10)
        assert site.chat.pictures == []
        await asyncio.sleep(AGAIN.total_seconds() + 10)
    assert len(site.chat.pictures) == 1
    assert len(site.chat.said("C1")) == 1


async def test_a_chart_that_never_works_is_left_out(site: Site) -> None:
    site.prometheus.errors += [SourceError("down")] * 50
    async with site.running():
        await site.put(INCIDENT)
        await asyncio.sleep(3600)
    assert len(site.prometheus.queried) == ATTEMPTS
    assert len(site.chat.said("C1")) == 1


async def test_a_card_that_points_to_a_parent_gets_no_chart(site: Site) -> None:
    async with site.running():
        await site.put(replace(at(START), parent="i9"))
        await asyncio.sleep(60)
    assert not await site.images()


async def test_a_restart_draws_nothing_again(site: Site) -> None:
    async with site.running():
        await site.put(INCIDENT)
        await asyncio.sleep(60)
    async with site.running():
        await asyncio.sleep(60)
    assert len(site.chat.pictures) == 1


async def test_the_chart_of_the_end_stays_when_the_incident_is_open_again(site: Site) -> None:
    async with site.running():
        await site.put(at(START))
        await asyncio.sleep(60)
        await site.put(INCIDENT)
        await asyncio.sleep(60)
    assert [picture.name for _, picture in site.chat.pictures] == ["i1.png"]


async def test_a_channel_that_takes_no_pictures_gets_none(site: Site) -> None:
    site.chat.capabilities = CHAT
    async with site.running():
        await site.put(INCIDENT)
        await asyncio.sleep(60)
    assert site.prometheus.queried == []
    assert len(site.chat.said("C1")) == 1


async def test_many_charts_leave_the_channel_time_for_news(site: Site) -> None:
    async with site.running():
        for number in range(20):
            await site.put(replace(INCIDENT, id=f"i{number}"))
        await asyncio.sleep(45)
        some = len(site.chat.pictures)
        await asyncio.sleep(60)
    assert 0 < some < 20
    assert len(site.chat.pictures) == 20
