"""Incidents that notify nobody for a while: inhibition, time intervals and routes to nobody."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from alerts.alert import Alert
from alerts.alert_batch import AlertBatch
from alerts.cards.posted import PostedCard, ThreadReply
from alerts.incidents.incident import Incident
from alerts.inhibition import InhibitRule
from alerts.lifecycle import AlertState
from alerts.matching import parse_matchers
from alerts.routing import CardRouting, Route
from alerts.time_intervals import TimeInterval, read_period
from bot.evaluation.recorder import IncidentRecorder
from tests.support.alerting import CLUSTER, NOON, a_topology, an_alert, minutes
from tests.support.memory_store import MemoryStore

NODE_DOWN = InhibitRule(
    sources=parse_matchers("alertname=RackDown"), targets=parse_matchers("severity=warning"), equal=("rack",)
)
LUNCH = TimeInterval(name="lunch", periods=(read_period(times=[("12:00", "13:00")]),))


@dataclass
class Stage:
    routing: CardRouting
    store: MemoryStore = field(default_factory=MemoryStore)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.recorder = IncidentRecorder(CLUSTER, self.store, self.routing)

    async def bring(self, *alerts: Alert, at: datetime = NOON) -> None:
        batch = AlertBatch(at=at, updates=tuple((one, at) for one in alerts))
        await self.recorder.record(batch, rules={}, topology=a_topology())

    async def channels(self) -> list[str]:
        async with self.store.read() as snapshot:
            return sorted(card.channel for card in await snapshot.rows(PostedCard).find())

    async def replies(self) -> int:
        async with self.store.read() as snapshot:
            return len(await snapshot.rows(ThreadReply).find())

    async def incidents(self) -> int:
        async with self.store.read() as snapshot:
            return len(await snapshot.rows(Incident).find())


def over(alert: Alert, at: datetime) -> Alert:
    return replace(alert, life=replace(alert.life, state=AlertState.RESOLVED, resolved_at=at))


SOURCE = an_alert("RackDown", severity="critical", on={"rack": "rack-a"})
HOT = an_alert("GPUTemperatureHigh", on={"node": "gpu-a01"})


def inhibiting() -> Stage:
    return Stage(CardRouting(default="C1", inhibit_rules=(NODE_DOWN,)))


async def test_an_inhibited_incident_is_kept_and_has_no_card_until_its_source_ends() -> None:
    stage = inhibiting()
    await stage.bring(SOURCE)
    await stage.bring(HOT)
    assert await stage.incidents() == 2
    assert await stage.channels() == ["C1"]
    await stage.bring(over(SOURCE, NOON + minutes(1)), at=NOON + minutes(1))
    await stage.bring(at=NOON + minutes(2))
    assert await stage.channels() == ["C1", "C1"]


async def test_a_source_and_its_target_may_come_in_one_batch_in_any_order() -> None:
    for alerts in ((SOURCE, HOT), (HOT, SOURCE)):
        stage = inhibiting()
        await stage.bring(*alerts)
        assert await stage.incidents() == 2
        assert await stage.channels() == ["C1"]


async def test_sources_are_known_again_after_a_restart() -> None:
    stage = inhibiting()
    await stage.bring(SOURCE)
    stage.restart()
    await stage.bring(HOT)
    assert await stage.channels() == ["C1"]


async def test_a_card_that_stands_shows_its_end_though_it_is_inhibited() -> None:
    stage = inhibiting()
    await stage.bring(HOT)
    await stage.bring(SOURCE, at=NOON + minutes(1))
    before = await stage.replies()
    await stage.bring(over(HOT, NOON + minutes(2)), at=NOON + minutes(2))
    assert await stage.channels() == ["C1", "C1"]
    assert await stage.replies() == before + 1


def quiet_in(*channels: str, muted: str) -> CardRouting:
    routes = tuple(
        Route(channels=(one,), continues=True, mutes=(LUNCH,) if one == muted else ()) for one in channels
    )
    return CardRouting(routes=routes)


async def test_a_muted_route_gets_its_card_when_the_interval_ends_if_it_still_fires() -> None:
    stage = Stage(quiet_in("C1", "C2", muted="C2"))
    await stage.bring(HOT)
    assert await stage.channels() == ["C1"]
    await stage.bring(at=NOON + minutes(59))
    assert await stage.channels() == ["C1"]
    await stage.bring(at=NOON + minutes(60))
    assert await stage.channels() == ["C1", "C2"]


async def test_what_begins_and_ends_while_its_route_is_muted_notifies_nobody_and_is_kept() -> None:
    stage = Stage(quiet_in("C2", muted="C2"))
    await stage.bring(HOT)
    await stage.bring(over(HOT, NOON + minutes(5)), at=NOON + minutes(5))
    await stage.bring(at=NOON + minutes(61))
    assert await stage.channels() == []
    assert await stage.incidents() == 1


async def test_a_channel_is_notified_as_soon_as_one_route_to_it_is_not_muted() -> None:
    stage = Stage(
        CardRouting(routes=(Route(channels=("C1",), continues=True, mutes=(LUNCH,)), Route(channels=("C1",))))
    )
    await stage.bring(HOT)
    assert await stage.channels() == ["C1"]


async def test_an_active_interval_keeps_a_route_quiet_outside() -> None:
    stage = Stage(CardRouting(routes=(Route(channels=("C1",), active=(LUNCH,)),)))
    await stage.bring(HOT, at=NOON - minutes(1))
    assert await stage.channels() == []
    await stage.bring(at=NOON)
    assert await stage.channels() == ["C1"]


async def test_a_route_to_nobody_keeps_the_incident_and_no_card() -> None:
    stage = Stage(
        CardRouting(
            routes=(Route(matchers=parse_matchers("alertname=GPUTemperatureHigh"), to_nobody=True),),
            default="C1",
        )
    )
    await stage.bring(HOT)
    assert (await stage.channels(), await stage.incidents()) == ([], 1)
    await stage.bring(an_alert("LinkDown", severity="critical"), at=NOON + minutes(1))
    assert await stage.channels() == ["C1"]


async def test_a_worse_alert_that_nothing_inhibits_brings_the_incident_its_card() -> None:
    stage = inhibiting()
    await stage.bring(SOURCE, HOT)
    await stage.bring(an_alert("GPULost", severity="critical"), at=NOON + minutes(1))
    assert await stage.channels() == ["C1", "C1"]
