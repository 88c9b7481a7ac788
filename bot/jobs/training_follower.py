"""The training follower: gives each training that was not launched from chat a card, which the launch watcher keeps."""

import asyncio
from collections.abc import Mapping

import structlog

from alerts.store import Store
from bot.cards.notice_cards import direct_channel
from bot.jobs.each_training import EachTraining
from bot.jobs.training_notifier import NoticeRouting
from bot.live_cluster import LiveCluster
from collectors.facts.clock import Clock
from collectors.internal_errors import InternalErrors
from collectors.trainings.training import Training
from commands.models import Launch
from commands.training.lookup import is_our_namespace

_log = structlog.get_logger()


class TrainingFollower:
    """Stores a row for each training that begins, unless it has one: its card is then posted once, and edited.

    A training without an owner who can be reached, and whose team has no channel, has no card.
    """

    def __init__(
        self,
        store: Store,
        clusters: Mapping[str, LiveCluster],
        clock: Clock,
        routing: NoticeRouting,
        *,
        follows_all: bool,
        errors: InternalErrors | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._routing = routing
        self._follows_all = follows_all
        self._errors = errors or InternalErrors()
        self._begun = EachTraining(
            clusters, concerns=lambda one: not one.state.is_over, began=lambda one: one.created
        )

    async def run(self) -> None:
        """Run until cancelled."""
        if not self._follows_all:
            await asyncio.Event().wait()
        await self._begun.run(self.check)

    async def check(self) -> None:
        """Store a row for each training that has none. Each is stored whole or not at all."""
        for cluster, begun in self._begun.left():
            for training in begun:
                try:
                    await self._follow(training, cluster)
                    self._begun.done(cluster, training)
                except Exception as error:  # one training's bug must not stop the others
                    self._errors.contain(error, "training card", training=training.id)

    async def _follow(self, training: Training, cluster: LiveCluster) -> None:
        if is_our_namespace(training, cluster.inventory()):
            return  # its launch is stored by its plan
        owner = self._routing.owners.get(training.owner, "")
        team = self._routing.teams.get(training.team, "")
        channels = [one for one in (team, self._routing.default) if one]
        channel = direct_channel(owner, channels, self._routing.reaches_people) or team
        if not channel:
            return
        at = training.created or self._clock.now()
        id = f"{cluster.name}/{training.id}"
        async with self._store.unit() as unit:
            known = await unit.rows(Launch).get(id)
            if known is not None and (not known.is_over or at <= known.at):
                return
            await unit.rows(Launch).put(
                Launch(
                    id=id,
                    cluster=cluster.name,
                    training=training.id,
                    name=training.shown,
                    by=owner,
                    by_name=training.owner,
                    at=at,
                    channel=channel,
                    is_launched=False,
                    gpus=training.gpus_wanted,
                )
            )
        _log.info("training followed", training=training.shown, owner=training.owner, channel=channel)
