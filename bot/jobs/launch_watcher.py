"""This file follows the trainings that were launched from chat, and asks for cards and lines when they move on."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from alerts.cards.message import Text, code, person, text
from alerts.cards.posted import CardKind, PostedCard, ThreadReply, card_id, reply_id
from bot.live_cluster import LiveCluster
from collectors.facts.clock import Clock
from collectors.facts.redaction import Redactor
from collectors.facts.results import SourceError
from collectors.trainings.training import Rank, Training, TrainingState
from commands.models import Launch, ReclaimRequest, ReclaimState
from commands.plans.outcome import reopen
from commands.store import Store, Unit

CHECK_EVERY = timedelta(seconds=2)
LAST_LINES = 12  # of the first failing task
READ_LINES = 100  # to have them: a private key goes over many lines, and is known by its first
LOG_AT_MOST = 1 << 18  # bytes of those; above it the last are read alone, for what is over is cut at the end
LINE_AT_MOST = 1_000  # characters
STARTS_WITHIN = timedelta(minutes=2)  # a launch whose training is not there yet, for so long, is not over

_log = structlog.get_logger()


class LaunchWatcher:
    """Tells owners how their trainings fare: queued, running, failed with the first failing task's last lines."""

    def __init__(
        self,
        store: Store,
        clusters: Mapping[str, LiveCluster],
        clock: Clock,
        *,
        redact: Redactor,
        channel: str,
    ) -> None:
        self._store = store
        self._clusters = clusters
        self._clock = clock
        self._redact = redact
        self._channel = channel

    async def run(self) -> None:
        """For ever."""
        while True:
            await self.look()
            await asyncio.sleep(CHECK_EVERY.total_seconds())

    async def look(self) -> None:
        """One look at every launch that is not over, and at every claim that waits for its card."""
        async with self._store.unit() as unit:
            launches = await unit.launches.find(state="live")
            for reclaim in await unit.reclaim_requests.find(state=ReclaimState.ASKED.value):
                await self._ask(unit, reclaim)
        for launch in launches:
            cluster = self._clusters.get(launch.cluster)
            if cluster is None:
                continue
            try:
                trainings = {training.id: training for training in cluster.trainings()}
            except SourceError:
                continue  # blind: nothing is said, nothing is forgotten
            await self._follow(launch, trainings.get(launch.training), cluster)

    async def _follow(self, launch: Launch, training: Training | None, cluster: LiveCluster) -> None:
        now = self._clock.now()
        if training is None and now - launch.at < STARTS_WITHIN:
            return
        life = training.state.value if training else TrainingState.STOPPED.value
        reason = training.reason if training else "it is not in the cluster any more"
        if life == launch.reported_state and reason == launch.reported_reason:
            return
        lines: tuple[str, ...] = launch.last_lines
        if (
            training is not None
            and training.state is TrainingState.FAILED
            and training.first_failure is not None
            and not lines
        ):
            lines = await self._last_words(training, training.first_failure, cluster)
        told = replace(
            launch,
            reported_state=life,
            reported_reason=reason,
            reported_at=now,
            last_lines=lines,
            is_over=TrainingState(life).is_over,
        )
        async with self._store.unit() as unit:
            await unit.launches.put(told)
            card = _card(launch)
            if launch.reported_state:
                await unit.cards.add(card)
            else:  # the card of an earlier launch of that name is told to its end, in another thread
                await unit.cards.put(card)
            if life != launch.reported_state:
                await unit.replies.add(_line(told, training, card, now))

    async def _last_words(self, training: Training, rank: Rank, cluster: LiveCluster) -> tuple[str, ...]:
        """The failing task's last lines: from the API, or from Elasticsearch when the pod is gone."""
        try:
            if cluster.pod_logs is not None:
                log, pod = "", cluster.pod_logs
                for tail in (READ_LINES, LAST_LINES):
                    log = await pod.logs(training.namespace, rank.pod, tail=tail, byte_limit=LOG_AT_MOST)
                    if len(log.encode()) < LOG_AT_MOST:
                        break
                if log.strip():
                    lines = self._redact.clean(log, limit=LOG_AT_MOST).splitlines()
                    return tuple(line[:LINE_AT_MOST] for line in lines[-LAST_LINES:])
        except SourceError as error:
            _log.info("no log from the API", pod=rank.pod, error=str(error))
        try:
            if cluster.logs is not None:
                where = {"namespace": training.namespace, "pod": rank.pod}
                found = await cluster.logs.lines(where=where, at=self._clock.now(), tail=LAST_LINES)
                return tuple(line.text for line in found)
        except SourceError as error:
            _log.info("no log from Elasticsearch", pod=rank.pod, error=str(error))
        return ()

    async def _ask(self, unit: Unit, reclaim: ReclaimRequest) -> None:
        """See that a claim has its card: in its channel, where its owner is named."""
        channel = reclaim.channel or self._channel
        if channel:
            id = card_id(CardKind.RECLAIM_REQUEST, reclaim.id, channel)
            if (card := await unit.cards.get(id)) is not None:
                await reopen(card, unit)  # what became of it was undone: it asks again
                return
            card = PostedCard(
                id=id,
                cluster=reclaim.cluster,
                kind=CardKind.RECLAIM_REQUEST,
                row_id=reclaim.id,
                channel=channel,
            )
            await unit.cards.put(card)


def state_text(launch: Launch, training: Training | None) -> Text:
    """What the owner is told when the training moves on; a failure and the end name them."""
    reason = f": {launch.reported_reason}" if launch.reported_reason else ""
    who = person(launch.by, launch.by_name)
    match TrainingState(launch.reported_state):
        case TrainingState.FAILED:
            first = training.first_failure if training else None
            fell = (
                f" First to fall: {first.role} {first.index} on {first.node or 'no node'}, {first.explanation}."
                if first
                else ""
            )
            return text(who, " ", code(launch.training), f" has failed{reason}.{fell}")
        case TrainingState.SUCCEEDED:
            return text(who, " ", code(launch.training), " has finished.")
        case life:
            return text(code(launch.training), f" is {life.value}{reason}")


def _card(launch: Launch) -> PostedCard:
    return PostedCard(
        id=card_id(CardKind.LAUNCH, launch.id, launch.channel),
        cluster=launch.cluster,
        kind=CardKind.LAUNCH,
        row_id=launch.id,
        channel=launch.channel,
        thread=launch.thread,
    )


def _line(launch: Launch, training: Training | None, card: PostedCard, now: datetime) -> ThreadReply:
    return ThreadReply(
        id=reply_id(card.id, f"{launch.reported_state}/{now:%Y%m%d%H%M%S}"),
        cluster=launch.cluster,
        card=card.id,
        text=state_text(launch, training),
        at=now,
        broadcast=launch.reported_state == TrainingState.FAILED.value,
    )
