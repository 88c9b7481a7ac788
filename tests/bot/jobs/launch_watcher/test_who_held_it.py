"""The name of whoever suspended a training: on its card, and in a reply to its owner unless they took part in it."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from alerts.cards.posted import ThreadReply
from alerts.cards.text import plain
from bot.jobs.launch_watcher import LaunchWatcher
from collectors.facts.redaction import Redactor
from collectors.trainings.training import TrainingState
from commands.execution.plan import Plan, PlanState
from commands.models import Launch
from tests.support.alerting import CLUSTER, NOON
from tests.support.execution import plan_of
from tests.support.memory_store import MemoryStore
from tests.support.objects import inventory
from tests.support.rows import a_launch
from tests.support.trainings import a_training

CLOCK = SimpleNamespace(now=lambda: NOON, elapsed=timedelta)
SUSPENDED = a_training("vision", "detr", TrainingState.SUSPENDED)


@pytest.mark.parametrize(
    ("asked", "confirmed", "by", "is_replied"),
    [
        ("ana", "ana", "ana", False),
        ("dana", "ana", "ana", False),
        ("ana", "eli", "ana", False),
        ("dana", "dana", "dana", True),
        ("dana", "eli", "dana, confirmed by eli", True),
    ],
)
async def test_who_asked_for_it_and_who_confirmed_it_are_named(
    asked: str, confirmed: str, by: str, is_replied: bool
) -> None:
    store = MemoryStore()
    plan = replace(
        plan_of(),
        cluster=CLUSTER,
        command="training suspend",
        line=f"training suspend {SUSPENDED.shown}",
        actor_name=asked,
        confirmed_by_name=confirmed,
        confirmed_at=NOON - timedelta(minutes=1),
        state=PlanState.DONE,
    )
    launch = a_launch(
        NOON - timedelta(hours=1), cluster=CLUSTER, training=SUSPENDED.id, reported_state="running"
    )
    async with store.unit() as unit:
        await unit.rows(Plan).put(plan)
        await unit.rows(Launch).put(launch)
    cluster: Any = SimpleNamespace(
        name=CLUSTER, trainings=lambda: [SUSPENDED], inventory=inventory, reader=None, cache=None
    )
    await LaunchWatcher(store, {CLUSTER: cluster}, CLOCK, redact=Redactor(), channel="C1").check()
    async with store.read() as snapshot:
        (after,) = await snapshot.rows(Launch).find()
        replies = [plain(one.text) for one in await snapshot.rows(ThreadReply).find()]
    assert after.by_whom == by
    assert len(replies) == is_replied
    assert all(f"is suspended, by {by}." in one for one in replies)


@pytest.mark.parametrize("state", [TrainingState.QUEUED, TrainingState.STARTING, TrainingState.RUNNING])
@pytest.mark.parametrize(("suspended_by", "is_replied"), [("dana", True), ("", True), ("ana", False)])
async def test_a_thread_that_says_it_is_suspended_says_when_it_is_resumed(
    state: TrainingState, suspended_by: str, is_replied: bool
) -> None:
    store = MemoryStore()
    suspended = a_launch(
        NOON - timedelta(minutes=5), cluster=CLUSTER, training=SUSPENDED.id, reported_state="suspended"
    )
    async with store.unit() as unit:
        await unit.rows(Launch).put(replace(suspended, by_whom=suspended_by))
    now = replace(SUSPENDED, state=state)
    cluster: Any = SimpleNamespace(
        name=CLUSTER, trainings=lambda: [now], inventory=inventory, reader=None, cache=None
    )
    watcher = LaunchWatcher(store, {CLUSTER: cluster}, CLOCK, redact=Redactor(), channel="C1")
    await watcher.check()
    await watcher.check()
    async with store.read() as snapshot:
        replies = [plain(one.text) for one in await snapshot.rows(ThreadReply).find()]
    assert [one.endswith("detr has been resumed.") for one in replies] == [True] * is_replied, replies
