"""A quarter of an hour in which a process is killed: alerts that others send, an acknowledgement, a silence, and Slack.

Senders, people and Slack go on while nothing of ours runs, and keep at it as the real ones do: a sender repeats what
was not taken, Slack delivers again what was not acknowledged. What they have in the end is judged by Slack's record.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from alerts.alert import Alert
from alerts.cards.channel_id import channel_id
from alerts.cards.posted import PostedCard, ThreadReply
from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import Incident
from alerts.received import ReceivedAlert
from alerts.silences import Silence
from alerts.store import StoreError
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.channels.inbox import Inbox, InboxDependencies
from bot.channels.intake import Intake, NotYetStoredError
from bot.channels.interaction import Interaction
from bot.channels.slack.notifier import SlackNotifier
from bot.delivery.reconciler import Reconciler
from bot.evaluation.recorder import CardRouting, IncidentRecorder
from bot.live_cluster import LiveCluster
from bot.receiving.alert_inbox import AlertInbox
from bot.receiving.receiver import BusyError, Inlet, Receiver
from bot.store.inbox_file import InboxFile
from bot.store.sql_store import SqlStore
from collectors.facts.labels import Labels
from collectors.facts.topology import Topology
from commands.command_catalogue import LEXICON
from commands.core.command import Answer
from commands.core.context import Defaults
from commands.core.pipeline import Pipeline
from commands.core.request import Actor, Upload
from demo.lookalikes.slack.state.messages import Message
from tests.support.alerting import CLUSTER
from tests.support.chat import LoopClock
from tests.support.kill_points import Killer
from tests.support.memory_bodies import MemoryBodies
from tests.support.memory_store import MemoryStore
from tests.support.slack_in_process import SlackInProcess
from tests.support.yard import DANA, EVERYTHING

AnyStore = MemoryStore | SqlStore
AnyBodies = MemoryBodies | InboxFile
BACK_AFTER = 2.0  # seconds until the next process runs
MOST_STARTS = 3  # a process that cannot be started again and again is lost
LONGEST = 900.0  # seconds, at most, until nothing is left to do
SILENT = timedelta(seconds=5)  # without a call, nothing is left to do
HOT, COLD, MUTED, LATE = "gpu-a01", "gpu-b01", "gpu-c01", "gpu-d01"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What Slack and the store have in the end, one line for each fault; none if all is as it must be."""

    faults: tuple[str, ...]
    points: int  # awaits of the killed process
    was_killed: bool


@dataclass(slots=True, kw_only=True)
class CrashScenario:
    """The outside, and the process between. `open_store` opens the same store for each process, `open_bodies` what
    its inbox keeps; `killed` is called at the moment at which one is killed, and when it has ended."""

    open_store: Callable[[], Awaitable[AnyStore]]
    close_store: Callable[[AnyStore], Awaitable[None]]
    open_bodies: Callable[[], Awaitable[AnyBodies]]
    killed: Callable[[], None] = lambda: None
    disturb: Callable[[SlackInProcess], None] = lambda _slack: None
    clock: LoopClock = field(default_factory=LoopClock)
    slack: SlackInProcess = field(init=False)
    killer: Killer | None = None  # of the first process, while it runs
    _began: float = 0.0  # loop time
    _store: AnyStore | None = None
    _inbox: AlertInbox | None = None
    _intake: Intake | None = None

    async def run(self, kill_at: int = 0) -> Verdict:
        """Play it, killing the process at that await; 0 for none. Everything is in virtual time."""
        self.slack = SlackInProcess(self.clock)
        self.disturb(self.slack)
        loop = asyncio.get_running_loop()
        self._began = loop.time()
        outside = loop.create_task(self._outside())
        killer = self.killer = Killer(kill_at, on_strike=self.killed)

        async def until_the_end() -> None:
            await asyncio.wait([outside, killer.running], return_when=asyncio.FIRST_COMPLETED)

        was_killed = await killer.execute(
            self._process(await self.open_store(), await self.open_bodies()), until_the_end
        )
        self.killer = None
        for _ in range(MOST_STARTS):
            if outside.done():
                break
            await asyncio.sleep(BACK_AFTER)
            again = loop.create_task(self._process(await self.open_store(), await self.open_bodies()))
            await asyncio.wait([outside, again], return_when=asyncio.FIRST_COMPLETED)
            again.cancel()
            await asyncio.wait([again])
        await outside
        await self.slack.settled()
        return Verdict(faults=tuple(await self._faults()), points=killer.count, was_killed=was_killed)

    async def _process(self, store: AnyStore, bodies: AnyBodies) -> None:
        """All of ours that has to do with alerts and lines, until it is killed. The store is open.

        A store that is being opened is killed by a signal only (tests/stories/test_kills.py): in one operating system
        process, the connection that is left would keep its lock.
        """
        try:
            await self._parts(store, bodies)
        finally:
            self._store = self._inbox = self._intake = None
            await bodies.close()
            await self.close_store(store)
            self.killed()

    async def _parts(self, store: AnyStore, bodies: AnyBodies) -> None:
        channel = channel_id("slack", self.slack.id)
        recorder = IncidentRecorder(CLUSTER, store, CardRouting(default=channel))
        inlet = Inlet(recorder=recorder, topology=lambda: Topology(cluster=CLUSTER), rules=dict)
        receiver = Receiver({CLUSTER: inlet}, store, self.clock, lasts=timedelta(minutes=5))
        alerts = AlertInbox(receiver, bodies, store, self.clock)
        context = CardContext(rules=dict, training=lambda *_: None, blind=lambda *_: {})
        reconciler = Reconciler(
            store,
            {"slack": SlackNotifier(self.slack.client)},
            CardCatalogue(context),
            clock=self.clock,
            random=Random(7),
        )
        pipeline = Pipeline(
            lexicon=LEXICON,
            permissions=EVERYTHING,
            store=store,
            clusters={CLUSTER: LiveCluster(CLUSTER, clock=self.clock)},
            writers={},
            clock=self.clock,
            defaults=Defaults(),
            rules=dict,
        )
        intake = Intake(store)
        inbox = Inbox(
            InboxDependencies(
                people=_Danas(),  # type: ignore[arg-type]
                store=store,
                take=pipeline.handle,
                responder=_Nowhere(),
                clock=self.clock,
                on_interaction=reconciler.retry_now,
            )
        )
        stops = [store.listen(reconciler.wake), store.listen(inbox.wake)]
        self._store, self._inbox, self._intake = store, alerts, intake
        try:
            async with asyncio.TaskGroup() as parts:
                for part in (receiver, alerts, reconciler, intake, inbox):
                    parts.create_task(part.run())
        finally:
            for stop in stops:
                stop()

    async def _outside(self) -> None:
        async with asyncio.TaskGroup() as outside:
            outside.create_task(self._sends(HOT, begins=1, ends=90, severity="critical"))
            outside.create_task(self._sends(COLD, begins=2, ends=60, severity="warning"))
            outside.create_task(self._sends(LATE, begins=70, ends=None, severity="critical"))
            outside.create_task(self._silences_before_it_is_sent())
            outside.create_task(self._acknowledges())
        with suppress(TimeoutError):  # what is missing then is in the verdict
            await self._until(self._is_quiet)

    async def _sends(self, node: str, *, begins: float, ends: float | None, severity: str) -> None:
        """Send an alert as Prometheus does: again until it was taken, and each minute while it stands."""
        await self._at(begins)
        began = self.clock.now()
        labels = Labels({"alertname": "LinkDown", "severity": severity, "node": node})
        annotations = {"summary": f"A link of {node} is down."}

        async def send(*, is_over: bool) -> None:
            def alert() -> ReceivedAlert:
                now = self.clock.now()
                end = now if is_over else now + timedelta(hours=1)
                return ReceivedAlert(labels=labels, annotations=annotations, starts_at=began, ends_at=end)

            while not await self._was_taken(alert):  # noqa: ASYNC110 - the answer is what it waits for
                await asyncio.sleep(1)

        await send(is_over=False)
        if ends is not None:
            await self._at(ends)
            await send(is_over=True)

    async def _was_taken(self, alert: Callable[[], ReceivedAlert]) -> bool:
        if self._inbox is None:
            return False
        try:
            await self._inbox.accept([alert()])
        except BusyError:
            return False
        return True

    async def _acknowledges(self) -> None:
        """Acknowledge the hot link as soon as somebody can see it."""
        await self._until(lambda: _now(any(HOT in one.text for one in self.slack.cards)))
        incident = await self._incident_of(HOT)
        await self._types("ack", f"alert ack {incident}")

    async def _silences_before_it_is_sent(self) -> None:
        await self._at(20)
        await self._types("silence", f"silence add node={MUTED} --for 2h --reason replaced")
        await self._sends(MUTED, begins=0, ends=None, severity="critical")

    async def _types(self, id: str, line: str) -> None:
        """Type a line. Slack delivers it again until it is acknowledged; then it waits until it was done."""
        interaction = Interaction(
            id=id,
            via="slack",
            user_id=DANA.id,
            workspace="T1",
            text=line,
            channel=channel_id("slack", self.slack.id),
            at=self.clock.now(),
        )
        while not await self._is_acknowledged(interaction):  # noqa: ASYNC110 - as above
            await asyncio.sleep(1)
        await self._until(lambda: self._count(Interaction, 0))

    async def _is_acknowledged(self, interaction: Interaction) -> bool:
        if self._intake is None:
            return False
        try:
            await self._intake.accept(interaction)
        except NotYetStoredError:
            return False
        return True

    async def _at(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, self._began + seconds - asyncio.get_running_loop().time()))

    async def _until(self, is_so: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(LONGEST):
            while not await is_so():  # noqa: ASYNC110 - rows and messages are looked at from outside
                await asyncio.sleep(1)

    async def _rows(self, row: type[Any]) -> list[Any] | None:
        """Return what is stored; None while nothing of ours runs."""
        if self._store is None:
            return None
        try:
            async with self._store.read() as snapshot:
                return list(await snapshot.rows(row).find())
        except StoreError:  # it was killed meanwhile
            return None

    async def _count(self, row: type[Any], count: int) -> bool:
        rows = await self._rows(row)
        return rows is not None and len(rows) == count

    async def _incident_of(self, node: str) -> str:
        incidents: list[Incident] = await self._kept(Incident)
        return next(one.id for one in incidents if one.subject.node == node)

    async def _kept(self, row: type[Any]) -> list[Any]:
        """Return what is stored, once something of ours runs."""
        while (rows := await self._rows(row)) is None:  # noqa: ASYNC110 - as above
            await asyncio.sleep(1)
        return rows

    async def _is_quiet(self) -> bool:
        """Whether all is posted and shown, and nothing was called for a while."""
        replies, cards = await self._rows(ThreadReply), await self._rows(PostedCard)
        if replies is None or cards is None:
            return False
        is_posted = all(one.message_id for one in (*replies, *cards))
        is_shown = all(_is_over(self._tops(node)) for node in (HOT, COLD))
        last = max((call.at for call in self.slack.lookalike.calls), default=self.clock.now())
        return is_posted and is_shown and self.clock.now() - last >= SILENT

    @property
    def _posted(self) -> list[Message]:
        return [one for one in self.slack.everything if one.by_bot and not one.deleted]

    def _tops(self, node: str) -> list[Message]:
        """Return the messages about a node that stand in the channel itself."""
        return [one for one in self._posted if not one.is_reply and node in one.said]

    async def _faults(self) -> list[str]:
        """Compare what Slack has with what happened."""
        store = await self.open_store()
        try:
            self._store = store
            alerts, incidents = await self._kept(Alert), await self._kept(Incident)
            silences, rows = await self._kept(Silence), [*await self._kept(PostedCard)]
            rows += await self._kept(ThreadReply)
        finally:
            self._store = None
            await self.close_store(store)
        posted = self._posted
        said_by = {row.message_id for row in rows}  # replies that waited long are one message
        states = {one.labels["node"]: str(one.life.state) for one in alerts}
        expected = {HOT: "resolved", COLD: "resolved", MUTED: "firing", LATE: "firing"}
        shown = {node: self._tops(node) for node in expected}
        counts = {HOT: 1, COLD: 1, MUTED: 0, LATE: 1}
        said = Counter((one.thread_ts, one.text) for one in posted if one.is_reply)
        by_dana = sum(one.is_reply and DANA.name in one.said for one in posted)
        return [
            *([f"alerts: {states}"] if states != expected else ()),
            *(f"{len(shown[node])} cards of {node}" for node in counts if len(shown[node]) != counts[node]),
            *(f"{node} is not shown as over" for node in (HOT, COLD) if not _is_over(shown[node])),
            *([f"{len(silences)} silences"] if len(silences) != 1 else ()),
            *_acknowledgement_faults([one for one in incidents if one.subject.node == HOT]),
            *([f"the acknowledgement was said {by_dana} times"] if by_dana != 1 else ()),
            *(f"said {count} times: {words}" for (_, words), count in said.items() if count > 1),
            *(
                [f"{len(posted)} messages, {len(said_by)} of them known"]
                if len(posted) != len(said_by)
                else ()
            ),
            *(f"not in Slack: {row.id}" for row in rows if row.message_id not in {one.ts for one in posted}),
        ]


def _is_over(messages: list[Message]) -> bool:
    return bool(messages) and all("Resolved" in one.said or "✅" in one.said for one in messages)


def _acknowledgement_faults(incidents: list[Incident]) -> list[str]:
    if len(incidents) != 1:
        return [f"{len(incidents)} incidents of {HOT}"]
    count = sum(event.type is IncidentEventType.ACKNOWLEDGED for event in incidents[0].events)
    return [f"acknowledged {count} times"] if count != 1 else []


async def _now(value: bool) -> bool:
    return value


class _Danas:
    """Everybody is dana, whom the settings allow everything."""

    async def actor(self, id: str) -> Actor:
        return DANA


class _Nowhere:
    """Takes the answers to lines."""

    async def respond(self, interaction: Interaction, answer: Answer) -> None:
        return None

    async def files(self, interaction: Interaction) -> tuple[Upload, ...]:
        return ()
