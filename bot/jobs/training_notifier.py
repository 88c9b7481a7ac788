"""The training notifier: notices to owners and teams of alerts about their training, once each."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from alerts.alert import Alert
from alerts.cards.posted import PostedCard
from alerts.incidents.group_keys import group_keys_of
from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertState
from alerts.routing import Route, channels_of
from alerts.rules import Recipient, Rule
from alerts.silences import Silence
from alerts.store import Changed, Store, StoreSnapshot
from bot.cards.notice_cards import direct_channel, wanted_notice_card
from bot.live_cluster import LiveCluster
from collectors.facts.clock import Clock
from collectors.facts.redaction import Redactor
from collectors.internal_errors import InternalErrors
from collectors.trainings.training import Training, TrainingState
from commands.models import Launch, TrainingNotice
from commands.training.failure_evidence import failure_evidence
from commands.training.failure_finding import find_failure
from commands.training.rank_lines import last_lines

QUIET_FOR = timedelta(hours=1)  # a training that waits, runs and waits again gets one notice
MOST_FAILURES = 32  # of the tasks that failed together, in a row

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeRouting:
    """Who is notified where: the channels of teams, those of incidents, and who the owners are that a cluster names."""

    teams: Mapping[str, str] = field(default_factory=dict)  # team -> the channel of its settings
    routes: tuple[Route, ...] = ()
    default: str = ""
    owners: Mapping[str, str] = field(default_factory=dict)
    reaches_people: Callable[[str], bool] = lambda _kind: False


@dataclass(eq=False, slots=True)
class TrainingNotifier:
    """Stores a notice, and its cards, for each alert that the rule's `notify` is for."""

    store: Store
    clusters: Mapping[str, LiveCluster]
    rules: Callable[[], Mapping[str, Rule]]
    clock: Clock
    routing: NoticeRouting
    _: KW_ONLY
    redact: Redactor
    errors: InternalErrors = field(default_factory=InternalErrors)
    _waiting: dict[str, Alert] = field(default_factory=dict, init=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def wake(self, changed: Changed) -> None:
        """Listen to the store: wake up when an alert fires, or is stored again while it does."""
        self._take(alert for alert in changed.get("alerts", {}).values() if alert is not None)

    def _take(self, alerts: Iterable[Alert]) -> None:
        rules = self.rules()
        for alert in alerts:
            rule = rules.get(alert.rule)
            if alert.is_firing and rule is not None and rule.template.notify is Recipient.OWNER:
                self._waiting[alert.id] = alert
                self._changed.set()

    async def run(self) -> None:
        """Run until cancelled. What an earlier process stored and did not come to is done first."""
        async with self.store.read() as snapshot:
            self._take(await snapshot.rows(Alert).find(state=AlertState.FIRING))
        while True:
            await self.notify()
            await self._changed.wait()
            self._changed.clear()

    async def notify(self) -> None:
        """Store the notices of the alerts that wait."""
        waiting, self._waiting = self._waiting, {}
        for alert in waiting.values():
            try:
                await self._notify(alert)
            except Exception as error:  # one alert's bug must not stop the others
                self.errors.contain(error, "training notice", alert=alert.id)

    async def _notify(self, alert: Alert) -> None:
        now = self.clock.now()
        cluster = self.clusters.get(alert.cluster)
        if cluster is None or not alert.subject.training:
            return
        training = cluster.training(alert.subject.training)
        notice = _notice(alert, training)
        async with self.store.read() as snapshot:
            if await _is_known(notice, snapshot) or await _is_silenced(alert, snapshot, now):
                return
        if training is not None and notice.failures:
            notice = await self._with_failure(notice, training, cluster, now)
        async with self.store.unit() as unit:
            if await _is_known(notice, unit):
                return
            launch = await unit.rows(Launch).get(f"{alert.cluster}/{notice.training}")
            owner = self.routing.owners.get(notice.owner, "") or (launch.by if launch is not None else "")
            channels = self._channels(alert)
            direct = direct_channel(owner, channels, self.routing.reaches_people)
            known = await _channels_with(alert, unit) | (
                {launch.channel} if launch and notice.has_failed else set()
            )
            notice = replace(
                notice,
                owner_id=owner,
                plan=launch.plan if launch is not None else "",
                is_direct=bool(direct) and direct not in known,
            )
            await unit.rows(TrainingNotice).put(notice)
            for channel in dict.fromkeys((*channels, direct)):
                if channel and channel not in known:
                    await unit.rows(PostedCard).put(wanted_notice_card(notice, channel))
        _log.info("owner notified", training=notice.name, owner=notice.owner, about=alert.name)

    async def _with_failure(
        self, notice: TrainingNotice, training: Training, cluster: LiveCluster, now: datetime
    ) -> TrainingNotice:
        evidence = await failure_evidence(training, cluster, redact=self.redact, now=now)
        found = find_failure(training, evidence, self.rules())
        first = found.rank or notice.failures[0]
        return replace(
            notice,
            first=None if found.is_guess else found.rank,
            first_line=found.line,
            cause=found.kind.value,
            last_lines=await last_lines(training, first, cluster, redact=self.redact, now=now),
        )

    def _channels(self, alert: Alert) -> tuple[str, ...]:
        """Return the team's channel; where the settings give it none, those that incidents of the alert have."""
        if own := self.routing.teams.get(alert.subject.team, ""):
            return (own,)
        return channels_of(alert, self.routing.routes, default=self.routing.default)


def _notice(alert: Alert, training: Training | None) -> TrainingNotice:
    subject = alert.subject
    since = alert.life.since
    notice = TrainingNotice(
        id=f"{alert.id}@{since:%Y%m%d%H%M%S}",
        cluster=alert.cluster,
        training=subject.training,
        name=subject.training_name or subject.training,
        typed=subject.training_name or subject.training,
        owner=subject.owner,
        team=subject.team,
        alert=alert.id,
        since=since,
        at=since,
        summary=alert.annotations.get("summary", alert.name),
        texts=alert.texts,
    )
    if training is None:
        return notice
    seen = replace(
        notice,
        name=training.shown,
        typed=training.typed,
        owner=training.owner,
        team=training.team,
        gpus=training.gpus,
        nodes=training.nodes,
    )
    if training.state is not TrainingState.FAILED:
        return seen
    first = training.first_failure
    at = (first.finished if first is not None else None) or training.finished or since
    return replace(
        seen,
        at=at,
        failed_at=training.finished or at,
        gpus=training.gpus_wanted,
        failures=training.first_failures[:MOST_FAILURES],
    )


async def _is_known(notice: TrainingNotice, snapshot: StoreSnapshot) -> bool:
    """Whether there is a notice of the same end of the training; else of the alert since it fires, or not long ago."""
    for one in await snapshot.rows(TrainingNotice).find(cluster=notice.cluster, training=notice.training):
        if notice.has_failed and one.has_failed:
            if one.failed_at == notice.failed_at:
                return True
        elif one.alert == notice.alert and notice.since - one.since < QUIET_FOR:
            return True
    return False


async def _is_silenced(alert: Alert, snapshot: StoreSnapshot, now: datetime) -> bool:
    silences = await snapshot.rows(Silence).find(cluster=alert.cluster)
    return any(one.covers(alert.labels, now) for one in silences)


async def _channels_with(alert: Alert, snapshot: StoreSnapshot) -> set[str]:
    """Return the channels in which an incident has the alert on its card."""
    found = await snapshot.rows(Incident).find(
        cluster=alert.cluster, group_key=group_keys_of(alert), state="open"
    )
    return {
        channel
        for incident in found
        if any(member.alert == alert.id for member in incident.members)
        for channel in incident.channels
    }
