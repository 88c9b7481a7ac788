"""The light stage: start and stop the bot, act as people, read the store and the look-alikes."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import yaml

from alerts.cards.posted import PostedCard
from bot.settings.loading import read_settings
from bot.wiring import Yardmaster, build
from collectors.facts.clock import SystemClock
from commands.execution.plan import Plan
from commands.models import AuditEntry
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.lookalikes.kubernetes import KubernetesLookalike
from demo.lookalikes.kubernetes.faults import RecordedRequest
from demo.lookalikes.slack import SlackLookalike
from demo.lookalikes.slack.state.messages import Message
from tests.support.scripted_prometheus import ScriptedPrometheus

CLUSTER = "prod-a"
CHANNEL = "#gpu-alerts"
WAIT = 60.0  # seconds

Found = TypeVar("Found")


@dataclass
class PushedClock:
    """The machine's time plus an offset."""

    ahead: timedelta = timedelta()
    wrong_by: timedelta = timedelta()

    def now(self) -> datetime:
        return SystemClock().now() + self.ahead + self.wrong_by

    def elapsed(self) -> timedelta:
        return SystemClock().elapsed() + self.ahead

    def forward(self, by: timedelta) -> None:
        """Let time pass."""
        self.ahead += by

    def set_by(self, by: timedelta) -> None:
        """Set the wall clock; no time passes."""
        self.wrong_by += by


@dataclass(kw_only=True)
class Light:
    """The stage. `bot` is None while the bot is not running."""

    folder: Path
    clock: PushedClock
    slack: SlackLookalike
    kube: KubernetesLookalike
    prometheus: ScriptedPrometheus
    elastic: ElasticsearchLookalike
    settings: dict[str, Any]
    tasks: asyncio.TaskGroup
    bot: Yardmaster | None = None
    change: Callable[[Yardmaster], None] | None = None  # changes the bot before it runs
    _running: asyncio.Task[None] | None = None
    _blocked: list[Callable[[RecordedRequest], bool]] = field(default_factory=list)

    @property
    def yard(self) -> Yardmaster:
        assert self.bot is not None, "the bot is not running"
        return self.bot

    @property
    def settings_file(self) -> Path:
        return self.folder / "yardmaster.yaml"

    def write_settings(self) -> Path:
        self.settings_file.write_text(yaml.safe_dump(self.settings, sort_keys=False), encoding="utf-8")
        return self.settings_file

    async def start(self) -> None:
        """Start the bot from the settings. Returns once it is connected to Slack and has evaluated."""
        before = len(self.slack.sockets.connections)
        await self.begin()
        if "app_token" in self.settings["slack"]:
            await self.slack.until(lambda: len(self.slack.sockets.connections) > before, WAIT)
        else:
            await self.until(lambda: self.yard.server.address)
            await self.slack.deliver_to(f"{self.yard.server.address}/slack/events")
        await self.until(lambda: all(one.has_evaluated for one in self.yard.evaluators.values()))

    async def begin(self) -> None:
        """Start the bot without waiting: Slack may be unreachable."""
        settings = read_settings(self.write_settings())
        ready: asyncio.Future[Yardmaster] = asyncio.get_running_loop().create_future()

        async def live() -> None:
            try:
                async with build(settings, clock=self.clock) as yard:
                    if self.change is not None:
                        self.change(yard)
                    ready.set_result(yard)
                    await yard.run()
            except BaseException as error:
                if not ready.done():
                    ready.set_exception(error)
                raise

        self._running = self.tasks.create_task(live(), name="yardmaster")
        self.bot = await ready

    async def stop(self) -> None:
        """Stop the bot at once, as a signal would."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait((self._running,))
        self._running = self.bot = None

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def until(self, is_so: Callable[[], Found | None], timeout: float = WAIT) -> Found:
        """Poll until the result is truthy, and return it."""
        async with asyncio.timeout(timeout):
            while not (found := is_so()):  # noqa: ASYNC110 - there is no event to wait for
                await asyncio.sleep(0.02)
        return found

    async def until_kept(self, look: Callable[[Any], Any], timeout: float = WAIT) -> Any:
        """Poll the store until the result is truthy, and return it; `look` gets a unit."""
        async with asyncio.timeout(timeout):
            while True:
                async with self.yard.store.unit() as unit:
                    if found := await look(unit):
                        return found
                await asyncio.sleep(0.05)

    async def posts_are_confirmed(self) -> None:
        """Wait until every post is confirmed. A server knows of a post before the bot has recorded its answer.

        A bot that stops in between finds the message again where the channel can be searched (that takes 20 seconds),
        and posts a second time where it cannot.
        """

        async def are_confirmed(unit: Any) -> bool:
            cards = await unit.rows(PostedCard).find(limit=100)
            return bool(cards) and all(card.message_id for card in cards)

        await self.until_kept(are_confirmed)

    # People's actions, and what they see.

    async def asks(self, who: str, line: str, where: str = CHANNEL) -> Message:
        """Type a line as a slash command and return the ephemeral answer."""
        known = {message.ts for message in self.slack.ephemerals(who)}
        await self.slack.types(who, where, f"/yard {line}")
        return await self.slack.until(lambda: self._new(who, known), WAIT)

    async def presses(self, who: str, message: Message, label: str, option: str = "") -> Message:
        """Press a button, or choose in a menu (`…` is the overflow menu), and return the answer.

        That is a new ephemeral message, or the pressed one: replaced, or deleted where a card says the rest.
        """
        known = {one.ts for one in self.slack.ephemerals(who)}
        before = message.said
        if option:
            await self.slack.chooses(who, message, label, option)
        else:
            await self.slack.presses(who, message, label)

        def answered() -> Message | None:
            if message.deleted or (message.only_for and message.said != before):
                return message
            return self._new(who, known)

        return await self.slack.until(answered, WAIT)

    def _new(self, who: str, known: set[str]) -> Message | None:
        return next((one for one in self.slack.ephemerals(who) if one.ts not in known), None)

    async def card(self, words: str, where: str = CHANNEL) -> Message:
        """Wait for the bot's message with these words, in a channel or its threads, and return it."""

        def found() -> Message | None:
            here = (one for one in self.slack.everything(where) if one.by_bot and not one.deleted)
            return next((one for one in here if words in one.said), None)

        return await self.slack.until(found, WAIT)

    def cards(self, where: str = CHANNEL) -> list[Message]:
        """Return the bot's messages in a channel, without replies."""
        return [one for one in self.slack.messages(where) if one.by_bot and not one.is_reply]

    async def audit(self) -> list[AuditEntry]:
        async with self.yard.store.unit() as unit:
            return list(await unit.rows(AuditEntry).find(limit=1000))

    async def plans(self) -> list[Plan]:
        async with self.yard.store.unit() as unit:
            return list(await unit.rows(Plan).find(limit=1000))

    async def plan_is(self, state: str, id: str = "") -> Plan:
        """Wait until the plan (or any) is in that state, and return it."""

        async def look(unit: Any) -> Plan | None:
            found = await unit.rows(Plan).find(state=state, newest=True)
            return next((plan for plan in found if id in ("", plan.id)), None)

        found: Plan = await self.until_kept(look)
        return found

    # The cluster.

    def node(self, name: str) -> Mapping[str, Any]:
        found = self.kube.get("nodes", "", name)
        assert found is not None
        return found

    def writes(self, path: str = "/nodes/") -> list[RecordedRequest]:
        """Return the bot's writes, except dry runs, to objects whose path contains this."""
        return [
            seen
            for seen in self.kube.requests
            if seen.method != "GET" and not seen.dry_run and path in seen.path and seen.user == "bot"
        ]

    async def cached(self, is_so: Callable[[Any], Any], timeout: float = WAIT) -> None:
        """Wait until the condition holds for the bot's own inventory."""
        cluster = self.yard.clusters[CLUSTER]
        await self.until(lambda: is_so(cluster.inventory()), timeout)

    def block(self, matcher: Callable[[RecordedRequest], bool], status: int) -> Callable[[], None]:
        """Make Kubernetes refuse matching requests until the returned function is called. Running watches end."""
        is_on = [True]
        self.kube.fail(lambda seen: bool(is_on) and matcher(seen), status, times=1_000_000)
        self.kube.drop_watches()
        return is_on.clear

    async def next_rounds(self, count: int = 2) -> None:
        """Wait until the evaluator has finished `count` more whole cycles."""
        start = self._rounds()
        await self.until(lambda: self._rounds() >= start + count + 1)

    def _rounds(self) -> float:
        return (
            self.yard.metrics.registry.get_sample_value(
                "yardmaster_rule_evaluation_duration_seconds_count", {"cluster": CLUSTER}
            )
            or 0.0
        )
