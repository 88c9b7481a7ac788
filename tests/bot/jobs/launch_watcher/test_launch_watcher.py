"""The launch watcher: what it reports, and what it does not conclude from missing data."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from alerts.cards.posted import CardKind, PostedCard, ThreadReply, card_id
from alerts.cards.text import plain
from bot.jobs.launch_watcher import LaunchWatcher, state_text
from bot.live_cluster import LiveCluster
from collectors.cluster.inventory import Inventory
from collectors.facts.redaction import MARK, Redactor
from collectors.internal_errors import InternalErrors
from collectors.trainings.training import Rank, Training, TrainingState
from commands.models import Launch
from commands.training.launch_card import launch_card
from tests.support.alerting import CLUSTER, NOON
from tests.support.memory_store import MemoryStore
from tests.support.objects import inventory
from tests.support.rows import a_launch
from tests.support.trainings import a_training
from tests.support.yard import text_of

CLOCK = SimpleNamespace(now=lambda: NOON, elapsed=timedelta)


LAUNCH = a_launch(NOON - timedelta(hours=1))


class JobsUnseen(LiveCluster):
    """A cluster whose nodes and pods are visible, but not its Jobs."""

    def refresh(self) -> Inventory:
        return inventory(missing={"jobs": "last seen 2 min ago"})


async def test_a_training_whose_jobs_cannot_be_seen_is_not_reported_as_stopped() -> None:
    store = MemoryStore()
    launch = replace(LAUNCH, reported_state="running")
    async with store.unit() as unit:
        await unit.rows(Launch).put(launch)
    watcher = LaunchWatcher(
        store, {CLUSTER: JobsUnseen(CLUSTER, clock=CLOCK)}, CLOCK, redact=Redactor(), channel="C1"
    )

    await watcher.check()

    async with store.unit() as unit:
        assert await unit.rows(Launch).get("l1") == launch
        assert await unit.rows(ThreadReply).find() == []


KEY = [
    "-----BEGIN PRIVATE KEY-----",
    *["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj"] * 40,
    "-----END PRIVATE KEY-----",
]


class PodLogs:
    """A pod that printed a private key and then crashed."""

    async def logs(self, _namespace: str, _pod: str, *, tail: int, byte_limit: int, **_more: Any) -> str:
        lines = ["begin", *KEY, "password=hunter2", "Traceback: boom " + "x" * 5_000]
        return "\n".join(lines[-tail:])[:byte_limit] + "\n"


async def looked_at(
    launch: Launch, store: MemoryStore, training: Training, *, pod_logs: PodLogs | None = None
) -> Launch:
    """Return the launch as it is stored after a look at its training."""
    async with store.unit() as unit:
        await unit.rows(Launch).put(launch)
    cluster: Any = SimpleNamespace(
        trainings=lambda: (training,), pod_logs=pod_logs, logs=None, inventory=inventory
    )
    await LaunchWatcher(store, {CLUSTER: cluster}, CLOCK, redact=Redactor(), channel="C1").check()
    async with store.read() as snapshot:
        stored = await snapshot.rows(Launch).get(launch.id)
    assert stored is not None
    return stored


async def test_the_last_lines_contain_no_line_of_a_private_key() -> None:
    failed = a_training(
        "vision",
        "detr",
        TrainingState.FAILED,
        reason="BackoffLimitExceeded",
        failures=(Rank(role="worker", index=0, pod="detr-0"),),
    )
    store = MemoryStore()

    stored = await looked_at(LAUNCH, store, failed, pod_logs=PodLogs())

    assert stored.last_lines[:-1] == ("begin", MARK, f"password={MARK}")
    assert stored.last_lines[-1].startswith("Traceback: boom xxx")
    assert len(stored.last_lines[-1]) == 1_000


async def test_a_launch_from_outside_the_chat_has_its_card_in_the_default_channel() -> None:
    store = MemoryStore()
    async with store.unit() as unit:
        await unit.rows(Launch).put(replace(LAUNCH, channel="", thread="1.1"))
    cluster = LiveCluster(CLUSTER, clock=CLOCK)
    cluster.trainings = lambda: ()  # type: ignore[method-assign]
    await LaunchWatcher(store, {CLUSTER: cluster}, CLOCK, redact=Redactor(), channel="C_DEFAULT").check()
    async with store.unit() as unit:
        (card,) = await unit.rows(PostedCard).find()
        (reply,) = await unit.rows(ThreadReply).find()
    assert (card.channel, card.thread) == ("C_DEFAULT", "")
    assert reply.card == card.id


def test_a_card_without_a_channel_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="the card of launch l1 has no channel"):
        card_id(CardKind.LAUNCH, "l1", "")


async def test_a_bug_with_one_launch_does_not_hide_the_later_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    store, followed = MemoryStore(), []
    async with store.unit() as unit:
        for id in ("bad", "good"):
            await unit.rows(Launch).put(replace(LAUNCH, id=id))
    counts: list[str] = []
    cluster: Any = SimpleNamespace(trainings=tuple)
    watcher = LaunchWatcher(
        store,
        {CLUSTER: cluster},
        CLOCK,
        redact=Redactor(),
        channel="C1",
        errors=InternalErrors(counts.append),
    )

    async def follow(_watcher: LaunchWatcher, launch: Launch, *_: Any) -> None:
        if launch.id == "bad":
            raise KeyError("role")
        followed.append(launch.id)

    monkeypatch.setattr(LaunchWatcher, "_follow", follow)
    with capture_logs():
        await watcher.check()

    assert (followed, counts) == (["good"], ["launch"])


async def test_a_launch_that_was_made_again_while_the_logs_were_read_is_not_overwritten() -> None:
    store = MemoryStore()
    again = replace(LAUNCH, thread="2.2", plan="p2")
    failed = a_training(
        "vision", "detr", TrainingState.FAILED, failures=(Rank(role="worker", index=0, pod="detr-0"),)
    )

    class SlowLogs(PodLogs):
        async def logs(self, *args: Any, **options: Any) -> str:
            async with store.unit() as unit:
                await unit.rows(Launch).put(again)
            return await super().logs(*args, **options)

    assert await looked_at(LAUNCH, store, failed, pod_logs=SlowLogs()) == again
    async with store.read() as snapshot:
        assert await snapshot.rows(PostedCard).find() == []


def test_the_thread_ends_with_how_long_it_ran_and_what_it_used() -> None:
    ran = timedelta(hours=3, minutes=12)
    launch = replace(LAUNCH, reported_state="succeeded", started=NOON - ran, finished=NOON, gpus=8)
    assert "is done in 3 h 12 min, 25.6 GPU-hours." in plain(state_text(launch, None))
    assert "has finished." in plain(state_text(replace(launch, started=None), None))


@pytest.mark.parametrize(("age", "is_said"), [(29, False), (31, True)])
async def test_a_training_that_no_controller_has_taken_up_is_said_so_on_its_card(
    age: int, is_said: bool
) -> None:
    waiting = a_training("vision", "detr", TrainingState.QUEUED, reason="0 of 4 ranks are running")
    store = MemoryStore()
    stored = replace(LAUNCH, at=NOON - timedelta(seconds=age))
    for has_sign in (False, True):
        training = replace(waiting, has_sign=has_sign)
        stored = await looked_at(stored, store, training)
        said = "no controller of Jobs has picked it up within 30s"
        shown = text_of(launch_card(stored, training))
        if is_said and not has_sign:
            assert said in shown.replace("30 s", "30s")
        else:
            assert "no controller" not in shown
            assert "0 of 4 ranks are running" in shown
