"""The pods on the GPUs of firing alerts: asked once for a while, and never in the way of the alert."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from alerts.lifecycle import AlertState
from bot.evaluation.gpu_users import ASK_AGAIN, GpuUsers
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult, Sample, Seen
from collectors.facts.subjects import Subject
from tests.support.alerting import NOON, a_topology, an_alert

SERIES = {"Hostname": "gpu-a02", "gpu": "3", "namespace": "speech", "pod": "asr-0"}
HOT = an_alert("Hot", on={"node": "gpu-a02", "gpu": "3"})


class Metrics:
    """A cluster with these answers of its metrics, and a clock that a test sets."""

    def __init__(self, answer: Callable[[], QueryResult]) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.passed = timedelta()
        self.hangs = False

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        self.asked.append(query.expr)
        if self.hangs:
            await asyncio.Event().wait()
        return self.answer()

    def elapsed(self) -> timedelta:
        return self.passed

    def users(self) -> GpuUsers:
        return GpuUsers(cast(Any, self), cast(Any, self))


def seen() -> QueryResult:
    return Seen(source="prometheus", at=NOON, samples=(Sample(labels=Labels(SERIES), value=91),))


def blind() -> QueryResult:
    return Blind(source="prometheus", at=NOON, reason="refused")


async def named(users: GpuUsers, *alerts: Any) -> list[str]:
    topology = await users.added_to(a_topology(), alerts or (HOT,), at=NOON)
    return [user.id for user in topology.on_gpu(Subject(node="gpu-a02", gpu="3"))]


async def test_a_firing_alert_about_a_gpu_has_its_series_asked_once_for_a_while() -> None:
    metrics = Metrics(seen)
    users = metrics.users()
    assert await named(users) == await named(users) == ["speech/asr"]
    assert len(metrics.asked) == 1
    metrics.passed += ASK_AGAIN
    assert await named(users) == ["speech/asr"]
    assert len(metrics.asked) == 2


@pytest.mark.parametrize(
    "alert",
    [
        an_alert("Hot", on={"node": "gpu-a02"}),
        an_alert("Hot", on={"node": "gpu-a02", "gpu": "3"}, state=AlertState.PENDING),
        an_alert("Hot", on={**SERIES}),
    ],
    ids=["is about a node", "is pending", "names its pod"],
)
async def test_nothing_is_asked_for_an_alert_that(alert: Any) -> None:
    metrics = Metrics(seen)
    await named(metrics.users(), alert)
    assert metrics.asked == []


async def test_what_was_found_is_kept_while_the_metrics_cannot_be_seen() -> None:
    metrics = Metrics(blind)
    users = metrics.users()
    assert await named(users) == []
    metrics.answer, metrics.passed = seen, metrics.passed + ASK_AGAIN
    assert await named(users) == ["speech/asr"]
    metrics.answer, metrics.passed = blind, metrics.passed + ASK_AGAIN
    assert await named(users) == ["speech/asr"]


@pytest.mark.looptime
async def test_metrics_that_hang_hold_up_no_alert(looptime: Any) -> None:
    metrics = Metrics(seen)
    metrics.hangs = True
    assert await named(metrics.users()) == []
