"""Each training has one card, whatever happens to the process: it is posted once, edited, and right after a restart."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest

from alerts.cards.channel_id import channel_id
from alerts.cards.posted import PostedCard
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.cards.launch_cards import LAUNCH_CARD
from bot.delivery.reconciler import Reconciler
from bot.jobs.launch_watcher import LaunchWatcher
from bot.jobs.training_follower import TrainingFollower
from bot.jobs.training_notifier import NoticeRouting
from collectors.cluster.inventory import Inventory
from collectors.facts.redaction import Redactor
from collectors.facts.results import Blind
from collectors.trainings.training import Rank, Training, TrainingState
from commands.models import Launch
from tests.support.changing_cache import ChangingCache
from tests.support.chat import START, FakeChat, LoopClock
from tests.support.kill_points import Killer
from tests.support.memory_store import MemoryStore
from tests.support.objects import inventory
from tests.support.rows import a_launch
from tests.support.running_jobs import running

pytestmark = pytest.mark.looptime

LONG = 60.0  # seconds of loop time, in which all is delivered
CLUSTER = "lab"
TEAM = channel_id("slack", "C_VISION")
ENDS = {
    "detr": TrainingState.SUCCEEDED,
    "clip": TrainingState.FAILED,
    "tower": TrainingState.STOPPED,
    "mnist": TrainingState.SUSPENDED,
}


@dataclass(slots=True)
class World(ChangingCache):
    """A cluster with trainings of several owners."""

    name: str = CLUSTER
    states: dict[str, TrainingState] = field(
        default_factory=lambda: dict.fromkeys(ENDS, TrainingState.QUEUED)
    )
    created: datetime = START
    pod_logs: None = None
    logs: None = None
    reader: None = None

    @property
    def cache(self) -> "World":
        return self

    def inventory(self) -> Inventory:
        return inventory()

    async def query(self, _query: Any, *, at: datetime) -> Blind:
        return Blind(source="prometheus", at=at, reason="not connected")

    def trainings(self) -> Sequence[Training]:
        return [self._training(name, state) for name, state in self.states.items()]

    def _training(self, name: str, state: TrainingState) -> Training:
        failed = Rank(role="worker", index=1, pod=f"{name}-1", node="gpu-a01", exit_code=1, reason="Error")
        return Training(
            id=f"vision/Job/{name}",
            kind="Job",
            namespace="vision",
            name=name,
            owner="ana" if name != "tower" else "nobody",
            team="vision",
            state=state,
            wanted=2,
            gpus_wanted=8,
            failures=(replace(failed, finished=START),) if state is TrainingState.FAILED else (),
            created=self.created,
            started=START if state is not TrainingState.QUEUED else None,
        )

    def go_on(self) -> None:
        """Let each training go one state further."""
        for name, state in self.states.items():
            if not state.is_over and state is not TrainingState.SUSPENDED:
                running = state is TrainingState.RUNNING
                self.states[name] = ENDS[name] if running else TrainingState.RUNNING


@dataclass(slots=True)
class Stage:
    world: World = field(default_factory=World)
    store: MemoryStore = field(default_factory=MemoryStore)
    chat: FakeChat = field(default_factory=FakeChat)
    clock: LoopClock = field(default_factory=LoopClock)
    follows_all: bool = True

    async def process(self) -> None:
        """The follower, the watcher and the delivery, as one process has them."""
        clusters: Mapping[str, Any] = {CLUSTER: self.world}
        routing = NoticeRouting(
            teams={"vision": TEAM}, owners={"ana": "slack:U_ANA"}, reaches_people=lambda kind: kind == "slack"
        )
        watcher = LaunchWatcher(self.store, clusters, self.clock, redact=Redactor(), channel=TEAM)
        context = CardContext(rules=dict, training=self._training, blind=lambda *_: {})
        reconciler = Reconciler(
            self.store,
            {"slack": self.chat},
            CardCatalogue(context, [LAUNCH_CARD]),
            clock=self.clock,
            random=Random(7),
        )
        follower = TrainingFollower(self.store, clusters, self.clock, routing, follows_all=self.follows_all)
        async with running(self.store, watcher, reconciler):
            await follower.run()

    def _training(self, _cluster: str, id: str) -> Training | None:
        return next((one for one in self.world.trainings() if one.id == id), None)

    async def outside(self) -> None:
        """A minute each: they wait, run, and end."""
        for _ in range(2):
            await asyncio.sleep(LONG)
            self.world.go_on()
        await asyncio.sleep(LONG)

    async def on_for(self, seconds: float) -> None:
        """Run a process so long."""
        task = asyncio.get_running_loop().create_task(self.process())
        await asyncio.sleep(seconds)
        task.cancel()
        await asyncio.wait([task])

    def cards(self) -> dict[str, list[str]]:
        """Return the cards that people see, by the training."""
        shown = [one.text for one in self.chat.messages.values() if one.thread is None and not one.is_deleted]
        return {name: [text for text in shown if f"vision/{name}" in text] for name in ENDS}


def wrong(stage: Stage) -> list[str]:
    """Return what is not as it must be: one card each, which shows how it ended."""
    return [
        f"{name}: {cards}"
        for name, cards in stage.cards().items()
        if len(cards) != 1 or ENDS[name].value not in cards[0]
    ]


async def test_each_training_has_one_card_that_is_edited_until_it_ends() -> None:
    stage = Stage()
    task = asyncio.get_running_loop().create_task(stage.process())
    await stage.outside()
    task.cancel()
    await asyncio.wait([task])
    assert not wrong(stage)
    where = Counter(one.channel for one in stage.chat.messages.values() if one.thread is None)
    assert where == {"U_ANA": 3, "C_VISION": 1}


async def test_a_process_that_is_killed_at_any_point_posts_each_card_once() -> None:
    points = 0
    for at in range(1, 10_000, 7):
        stage = Stage()
        outside = asyncio.get_running_loop().create_task(stage.outside())
        killer = Killer(at)

        async def until_the_end(outside: "asyncio.Task[None]" = outside, killer: Killer = killer) -> None:
            await asyncio.wait([outside, killer.running], return_when=asyncio.FIRST_COMPLETED)

        was_killed = await killer.execute(stage.process(), until_the_end)
        again = asyncio.get_running_loop().create_task(stage.process())
        await outside
        await asyncio.sleep(LONG)
        again.cancel()
        await asyncio.wait([again])
        assert not wrong(stage), f"killed at point {at}"
        if not was_killed:
            points = at
            break
    assert points > 200


async def test_a_training_that_ended_while_nothing_ran_gets_its_last_state_and_no_second_card() -> None:
    stage = Stage()
    await stage.on_for(LONG)
    assert all("queued" in cards[0] for cards in stage.cards().values())
    stage.world.go_on()
    stage.world.go_on()
    await stage.on_for(LONG)
    assert not wrong(stage)


async def test_those_launched_from_chat_keep_the_card_of_their_launch() -> None:
    stage = Stage()
    async with stage.store.unit() as unit:
        launch = a_launch(START, id=f"{CLUSTER}/vision/Job/detr", cluster=CLUSTER, training="vision/Job/detr")
        await unit.rows(Launch).put(replace(launch, name="vision/detr", channel=TEAM))
    task = asyncio.get_running_loop().create_task(stage.process())
    await stage.outside()
    task.cancel()
    await asyncio.wait([task])
    assert not wrong(stage)
    async with stage.store.read() as snapshot:
        cards = await snapshot.rows(PostedCard).find()
    assert sum(one.row_id.endswith("/detr") for one in cards) == 1


async def test_a_new_run_under_the_same_name_has_a_card_of_its_own() -> None:
    stage = Stage()
    task = asyncio.get_running_loop().create_task(stage.process())
    await stage.outside()
    stage.world.created = START + timedelta(hours=1)
    stage.world.states["detr"] = TrainingState.QUEUED
    await asyncio.sleep(LONG)
    task.cancel()
    await asyncio.wait([task])
    assert len(stage.cards()["detr"]) == 2


async def test_without_the_setting_only_launches_have_cards() -> None:
    stage = Stage(follows_all=False)
    await stage.on_for(LONG)
    assert not stage.chat.messages
