"""The lives of received alerts: they end as their senders say, or when nobody sends them again."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from alerts.received import ReceivedAlert
from bot.receiving import receiver
from tests.support.alerting import minutes
from tests.support.receiver_stage import LASTS, Stage, sent

pytestmark = pytest.mark.looptime


async def test_an_alert_that_nobody_sends_again_ends_and_says_so() -> None:
    stage = Stage()
    async with stage.running():
        await asyncio.sleep(LASTS.total_seconds() + 10)
        began = stage.clock.now()
        await stage.receiver.take([sent(began), sent(began, "gpu-b01", lasts=minutes(60))])
        await asyncio.sleep(LASTS.total_seconds() - 10)
        assert (await stage.ends())["gpu-a01"] == "firing"
        await asyncio.sleep(30)
        assert await stage.ends() == {
            "gpu-a01": "resolved it was not sent again in time",
            "gpu-b01": "firing",
        }
        over, other = await stage.rows(Incident)
        assert over.resolved_at == began + LASTS
        assert other.is_open


async def test_senders_get_as_long_again_after_a_restart() -> None:
    stage = Stage()
    async with stage.running():
        await stage.receiver.take([sent(stage.clock.now())])
    await asyncio.sleep(3600)
    stage.process()
    async with stage.running():
        await _falls_silent_now(stage)


async def test_senders_get_as_long_again_after_the_machine_slept() -> None:
    stage = Stage()
    async with stage.running():
        await stage.receiver.take([sent(stage.clock.now())])
        await asyncio.sleep(10)
        stage.clock.ahead = minutes(60)
        await _falls_silent_now(stage)


async def _falls_silent_now(stage: Stage) -> None:
    await asyncio.sleep(LASTS.total_seconds() - 10)
    assert await stage.ends() == {"gpu-a01": "firing"}
    await asyncio.sleep(30)
    assert await stage.ends() == {"gpu-a01": "resolved it was not sent again in time"}


async def _over_after_a_minute(stage: Stage) -> ReceivedAlert:
    """Return the end of an alert that was received a minute ago; the end is not received yet."""
    began = stage.clock.now()
    await stage.receiver.take([sent(began)])
    await asyncio.sleep(60)
    return sent(stage.clock.now(), began=began, lasts=timedelta())


async def test_an_end_that_is_repeated_opens_nothing_and_a_new_beginning_is_a_new_life() -> None:
    stage = Stage()
    async with stage.running():
        over = await _over_after_a_minute(stage)
        for _ in range(3):
            await stage.receiver.take([over])
        stage.process()
    async with stage.running():
        before = stage.store.commits
        await stage.receiver.take([over])
        assert stage.store.commits == before
        await asyncio.sleep(3600)
        await stage.receiver.take([sent(stage.clock.now())])
        assert [one.is_open for one in await stage.rows(Incident)] == [False, True]


async def test_merged_alerts_have_the_earliest_start_and_the_latest_end() -> None:
    """Alertmanager's TestMergeAlerts: replicas send one alert with other times, and end it at other times."""

    def said(text: str, began: float, ended: float | None = None) -> ReceivedAlert:
        one = sent(stage.clock.now(), began=start + timedelta(seconds=began))
        ends_at = one.ends_at if ended is None else start + timedelta(seconds=ended)
        return replace(one, annotations={"summary": text}, ends_at=ends_at)

    stage = Stage()
    async with stage.running():
        start = stage.clock.now()
        for at, one in (
            (1.0, ("v0", 1.1)),
            (1.2, ("v0", 1.0)),
            (2.1, ("v1", 2.0)),
            (3.6, ("v2", 1.5)),
            (4.6, ("v2", 3.0, 4.5)),
            (4.8, ("v3", 2.9, 4.8)),
            (4.9, ("v3", 2.9, 4.1)),
        ):
            await asyncio.sleep(at - (stage.clock.now() - start).total_seconds())
            await stage.receiver.take([said(*one)])
        (alert,) = await stage.rows(Alert)
        assert (alert.life.since, alert.life.resolved_at, alert.annotations["summary"]) == (
            start + timedelta(seconds=1.0),
            start + timedelta(seconds=4.8),
            "v3",
        )
        (incident,) = await stage.rows(Incident)
        assert incident.times == 1
        await asyncio.sleep(0.5)
        await stage.receiver.take([said("v4", 5.0)])
        (alert,) = await stage.rows(Alert)
        assert (alert.life.since, alert.is_firing) == (start + timedelta(seconds=5.0), True)


async def test_replicas_that_end_an_alert_seconds_apart_end_it_once() -> None:
    stage = Stage()
    async with stage.running():
        began = stage.clock.now()
        await stage.receiver.take([sent(began)])
        for seconds in (60, 72):
            await asyncio.sleep(seconds - (stage.clock.now() - began).total_seconds())
            await stage.receiver.take([sent(stage.clock.now(), began=began, lasts=timedelta())])
        (incident,) = await stage.rows(Incident)
        assert (incident.times, incident.is_open) == (1, False)


async def test_the_end_of_an_alert_first_seen_long_ago_is_not_forgotten_by_a_restart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(receiver, "RESTORED", 1)
    stage = Stage()
    async with stage.running():
        began = stage.clock.now()
        await stage.receiver.take([sent(began)])
        await stage.receiver.take([sent(began, "gpu-b01")])
        await asyncio.sleep(60)
        over = [
            sent(stage.clock.now(), node, began=began, lasts=timedelta()) for node in ("gpu-a01", "gpu-b01")
        ]
        await stage.receiver.take(over)
    stage.process()
    async with stage.running():
        before = stage.store.commits
        await stage.receiver.take(over)
        assert stage.store.commits == before


async def test_an_end_of_the_last_life_does_not_end_the_new_one() -> None:
    stage = Stage()
    async with stage.running():
        over = await _over_after_a_minute(stage)
        await stage.receiver.take([over])
        await asyncio.sleep(10)
        again = stage.clock.now()
        await stage.receiver.take([sent(again)])
        await stage.receiver.take([over])
        await asyncio.sleep(30)
        assert await stage.ends() == {"gpu-a01": "firing"}
        long_ago = again - timedelta(days=9)  # nobody repeats this: somebody ends the alert
        await stage.receiver.take([sent(long_ago, lasts=timedelta())])
        assert await stage.ends() == {"gpu-a01": "resolved"}
