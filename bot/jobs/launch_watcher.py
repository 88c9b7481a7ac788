"""The launch watcher: follows trainings launched from chat, and posts cards and replies on changes."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from alerts.cards.posted import PostedCard, ThreadReply, reply_id
from alerts.cards.text import Text, person, text
from alerts.incidents.incident import Incident
from alerts.rules import Rule
from alerts.store import Changed, Store, Unit
from bot.cards.launch_cards import wanted_launch_card
from bot.cards.reclaim_cards import wanted_reclaim_cards
from bot.jobs.cluster_changes import check_after_changes
from bot.jobs.training_report import held_by, queue_place, with_failure, with_use
from bot.live_cluster import LiveCluster
from collectors.cluster.cache import ObjectChange
from collectors.facts.clock import Clock
from collectors.facts.redaction import Redactor
from collectors.facts.results import SourceError
from collectors.facts.sentences import listed, sentence, word
from collectors.internal_errors import InternalErrors
from collectors.trainings.training import Training, TrainingState, training_of_row
from commands.execution.plan_outcome import reopen
from commands.models import Launch, ReclaimRequest, ReclaimState
from commands.training.failure_blocks import cause_words, failure_of_row
from commands.training.failure_cause import cause_of, cause_text, death_of_launch, suspected_node
from commands.training.no_sign import no_sign

STARTS_WITHIN = timedelta(minutes=2)  # a launch without its training counts as over after this
PLACE_EVERY = timedelta(minutes=1)  # its place in the queue is looked up again
LONG_WAIT = timedelta(minutes=10)  # whoever waited so long gets a reply that it runs

_log = structlog.get_logger()


@dataclass(eq=False, slots=True)
class LaunchWatcher:
    """Reports trainings to their owners: queued, running, failed with the first failed task's last log lines."""

    store: Store
    clusters: Mapping[str, LiveCluster]
    clock: Clock
    _: KW_ONLY
    redact: Redactor
    channel: str
    errors: InternalErrors = field(default_factory=InternalErrors)
    reaches_people: Callable[[str], bool] = lambda _kind: False
    rules: Callable[[], Mapping[str, Rule]] = dict
    # When the place of a launch was looked up.
    _looked_at: dict[str, timedelta] = field(default_factory=dict, init=False)
    _followed: frozenset[tuple[str, str]] = field(default=frozenset(), init=False)  # cluster, namespace
    # A launch -> by Clock.elapsed().
    _given_up_at: dict[tuple[str, datetime], timedelta] = field(default_factory=dict, init=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def wake(self, changed: Changed) -> None:
        """Listen to the store: wake up when there may be another launch or reclaim request."""
        if not changed.keys().isdisjoint(("launches", "reclaim_requests")):
            self._changed.set()

    def _note(self, cluster: str, change: ObjectChange) -> None:
        """Wake up when something has changed in the namespace of a launch."""
        if (cluster, change.key.partition("/")[0]) in self._followed:
            self._changed.set()

    async def run(self) -> None:
        """Run until cancelled: check after each change, but not before it is in the cluster's snapshot."""
        await check_after_changes(self.check, self._changed, self.clusters, self._note)

    async def check(self) -> None:
        """Check every launch that is not over, and every reclaim request that waits for its card."""
        async with self.store.unit() as unit:
            launches = await unit.rows(Launch).find(state="live")
            for reclaim in await unit.rows(ReclaimRequest).find(state=ReclaimState.ASKED.value):
                await self._add_card(unit, reclaim)
        self._followed = frozenset((one.cluster, one.training.partition("/")[0]) for one in launches)
        self._given_up_at = {(one.id, one.at): self._deadline(one) for one in launches}
        for launch in launches:
            cluster = self.clusters.get(launch.cluster)
            if cluster is None:
                continue
            try:
                training = training_of_row(launch.training, cluster.trainings())
                await self._follow(launch, training, cluster)
            except SourceError:
                continue  # blind: nothing is reported and nothing is dropped
            except Exception as error:  # one launch's bug must not stop the others
                self.errors.contain(error, "launch", launch=launch.id)

    def _deadline(self, launch: Launch) -> timedelta:
        """Return until when the launch's training may be missing. A later clock step does not change it."""
        if (known := self._given_up_at.get((launch.id, launch.at))) is not None:
            return known
        left = launch.at + STARTS_WITHIN - self.clock.now()
        return self.clock.elapsed() + min(left, STARTS_WITHIN)

    async def _follow(self, launch: Launch, training: Training | None, cluster: LiveCluster) -> None:
        now = self.clock.now()
        if training is None and self.clock.elapsed() < self._given_up_at[launch.id, launch.at]:
            return
        state = training.state if training else TrainingState.STOPPED
        reason = training.reason if training else sentence("it is no longer in the cluster")
        if training is not None:
            reason = no_sign(training, launch.at, now) or reason
        place = await self._place(launch, training, cluster)
        reported = launch.reported_state, launch.reported_reason, launch.place
        if (state.value, reason, place) == reported:
            return
        first = training.first_failure if training is not None and state is TrainingState.FAILED else None
        updated = replace(
            launch,
            reported_state=state.value,
            reported_reason=reason,
            reported_at=now,
            place=place,
            by_whom=launch.by_whom if state.value == launch.reported_state else "",
            is_over=state.is_over,
        )
        if training is not None and state is TrainingState.FAILED and not launch.cause:
            updated = await with_failure(
                updated, training, cluster, self.rules(), redact=self.redact, now=now
            )
        if training is not None:
            updated = await with_use(updated, training, cluster, now)
        if first is not None:
            blame = updated.first or first
            updated = replace(
                updated,
                failed_at=first.finished or now,
                failed_on=suspected_node(blame) or suspected_node(first),
            )
        async with self.store.unit() as unit:
            if await unit.rows(Launch).get(launch.id) != launch:
                return  # launched again or undone, while the logs were read
            if state in (TrainingState.SUSPENDED, TrainingState.STOPPED) and not updated.by_whom:
                updated = replace(updated, by_whom=await held_by(launch, unit, now))
            await unit.rows(Launch).put(updated)
            card = wanted_launch_card(launch, self.channel)
            if launch.reported_state:
                await unit.rows(PostedCard).add(card)
            else:  # an earlier launch of that name has a final card in another thread
                await unit.rows(PostedCard).put(card)
            if state.value != launch.reported_state and must_reach_somebody(launch, updated, now):
                death = death_of_launch(updated, training) if first is not None else None
                cause = await cause_of(death, unit)
                resumed = is_resumed(launch, updated)
                said = resumed_text(updated) if resumed else state_text(updated, training, cause)
                await unit.rows(ThreadReply).add(_line(updated, card, said, now))

    async def _place(self, launch: Launch, training: Training | None, cluster: LiveCluster) -> str:
        """Return its place in its queue while it waits. Looking it up asks the cluster, so it is not done each time."""
        if training is None or training.state is not TrainingState.QUEUED or not training.queue:
            self._looked_at.pop(launch.id, None)
            return ""
        last = self._looked_at.get(launch.id)
        if last is not None and self.clock.elapsed() - last < PLACE_EVERY:
            return launch.place
        self._looked_at[launch.id] = self.clock.elapsed()
        return await queue_place(training, cluster)

    async def _add_card(self, unit: Unit, reclaim: ReclaimRequest) -> None:
        """Add the reclaim request's cards, which mention the owner: in its channel, and directly."""
        for wanted in wanted_reclaim_cards(reclaim, self.channel, reaches_people=self.reaches_people):
            if not await unit.rows(PostedCard).add(wanted):
                card = await unit.rows(PostedCard).get(wanted.id)
                assert card is not None
                await reopen(card, unit)  # its outcome was undone, so it asks the owner again


def must_reach_somebody(before: Launch, launch: Launch, now: datetime) -> bool:
    """Whether the change has to reach somebody: the card shows the others, which its owner awaits or did."""
    if is_resumed(before, launch):
        return True
    match TrainingState(launch.reported_state):
        case TrainingState.FAILED | TrainingState.SUCCEEDED:
            return True
        case TrainingState.SUSPENDED | TrainingState.STOPPED:
            return launch.by_whom != launch.by_name
        case TrainingState.RUNNING:
            return now - before.at >= LONG_WAIT and before.reported_state != TrainingState.STARTING.value
        case _:
            return False


def is_resumed(before: Launch, launch: Launch) -> bool:
    """Whether it goes on after a suspension of which the thread says that it is suspended."""
    was_said = before.reported_state == TrainingState.SUSPENDED.value and before.by_whom != before.by_name
    return was_said and not launch.is_over and launch.reported_state != TrainingState.SUSPENDED.value


def resumed_text(launch: Launch) -> Text:
    who = person(launch.by, launch.by_name)
    return text(sentence("{who}: `{training}` has been resumed.", who=who, training=launch.shown))


def state_text(launch: Launch, training: Training | None, cause: Incident | None = None) -> Text:
    """Return the reply for a state change; it mentions the owner on failure and at the end."""
    reason, name = launch.reported_reason, launch.shown
    who = person(launch.by, launch.by_name)
    match TrainingState(launch.reported_state):
        case TrainingState.FAILED:
            first = failure_of_row(launch, cause, training.first_failures if training else ()).first
            said = [
                sentence("{who}: `{training}` has failed: {reason}.", who=who, training=name, reason=reason)
                if reason
                else sentence("{who}: `{training}` has failed.", who=who, training=name)
            ]
            if first is not None:
                said.append(
                    sentence(
                        "First to fail: {role} {index} on {node}, {explanation}.",
                        role=first.role,
                        index=first.index,
                        node=first.node or sentence("no node"),
                        explanation=first.explanation or first.reason,
                    )
                )
            if words := cause_words(launch.cause):
                said.append(sentence("Cause: {cause}.", cause=words))
            probably = text(" ", cause_text(cause), ".") if cause is not None else ()
            return text(listed(said, "."), probably)
        case TrainingState.SUCCEEDED:
            if launch.started is None or launch.finished is None:
                return text(sentence("{who}: `{training}` has finished.", who=who, training=name))
            lasted = launch.finished - launch.started
            return text(
                sentence(
                    "{who}: `{training}` is done in {lasted}, {hours:.1f} GPU-hours.",
                    who=who,
                    training=name,
                    lasted=lasted,
                    hours=launch.gpus * lasted.total_seconds() / 3600,
                )
            )
        case state if launch.by_whom:
            return text(
                sentence(
                    "{who}: `{training}` is {state}, by {whom}.",
                    who=who,
                    training=name,
                    state=word(state.value),
                    whom=launch.by_whom,
                )
            )
        case state if reason:
            now = word(state.value)
            return text(
                sentence("`{training}` is {state}: {reason}", training=name, state=now, reason=reason)
            )
        case state:
            return text(sentence("`{training}` is {state}", training=name, state=word(state.value)))


def _line(launch: Launch, card: PostedCard, said: Text, now: datetime) -> ThreadReply:
    return ThreadReply(
        id=reply_id(card.id, f"{launch.reported_state}/{now:%Y%m%d%H%M%S}"),
        cluster=launch.cluster,
        card=card.id,
        text=said,
        at=now,
        broadcast=launch.reported_state == TrainingState.FAILED.value,
    )
