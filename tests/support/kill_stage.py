"""Real kills: the process gets SIGKILL at moments that Slack or a sender sees, and starts again each time.

`round` is one such moment, for an alert on a node of its own. What was lost or repeated is judged in the end, while the
last process runs.
"""

import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar, Self

from demo.lookalikes.slack.state.messages import Message
from tests.support.alert_sender import Posted, firing, over
from tests.support.kill_record import KillRecord
from tests.support.light_stage import CHANNEL, Light
from tests.support.process import Process

WAIT = 120.0  # seconds
NAME = "LinkDown"


@dataclass(kw_only=True)
class KillStage(KillRecord):
    """A program that is killed at chosen moments, and what was sent to it so far."""

    names: ClassVar[Set[str]] = frozenset({NAME})
    _sent: dict[str, Posted] = field(default_factory=dict)  # by node

    @classmethod
    @asynccontextmanager
    async def on(cls, stage: Light, **more: Any) -> AsyncGenerator[Self]:
        stage.settings["incidents"] = {"storm_from": 1000}  # each alert has a card of its own
        async with super().on(stage, **more) as kills:
            yield kills

    async def round(self, moment: str) -> None:
        """Start a process, do what leads to this moment of MOMENTS, and kill it."""
        process = await Process.begin(self.stage)
        try:
            await MOMENTS[moment](self, f"gpu-k{len(self._sent):02}")
        finally:
            await process.end(signal.SIGKILL)
            self.stage.slack.forgive()

    async def left(self) -> list[str]:
        """Start a last process, wait until nothing is left to do, and return what is not as it must be."""
        process = await Process.begin(self.stage)
        try:
            found = await self.settled(WAIT)
        finally:
            code = await process.end(signal.SIGTERM)
        return [*found, *([f"the last process ended with {code}"] if code else ())]

    async def faults(self) -> list[str]:
        found = await super().faults()
        said = {node: self._said_of_acknowledging(node) for node in sorted(self.taken)}
        wrong = [node for node, times in said.items() if times != (node in self.acknowledged)]
        return [*found, *(f"its thread says {said[node]} times who has it: {node}" for node in wrong)]

    def _said_of_acknowledging(self, node: str) -> int:
        cards = {card.ts for card in self.record.cards(node)}
        living = (one for one in self.stage.slack.everything(CHANNEL) if one.is_reply and not one.deleted)
        return sum(one.thread_ts in cards and "Acknowledged by" in one.said for one in living)

    def card(self, node: str) -> Message:
        (card,) = self.record.cards(node)
        return card

    async def send(self, node: str, *, is_over: bool = False) -> None:
        """Send an alert once, which is taken."""
        self.subjects.add(node)
        labels = {"alertname": NAME, "severity": "critical", "node": node}
        alert = self._sent.setdefault(node, firing(labels, summary=f"A link of {node} is down."))
        assert await self.sender.post([over(alert) if is_over else alert])
        if is_over:
            self.ended.add(node)
        elif node not in self.muted:
            self.taken.add(node)

    async def silence(self, node: str) -> None:
        comment = f"{node} is replaced"
        matcher = {"name": "node", "value": node, "isRegex": False, "isEqual": True}
        ends = (self.stage.clock.now() + timedelta(hours=4)).isoformat()
        body = {"matchers": [matcher], "endsAt": ends, "comment": comment}
        address, headers = f"{self.sender.url}/api/v2/silences", self.sender.headers
        async with self.sender.session.post(address, json=body, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
        self.silences.add(comment)
        self.muted.add(node)

    async def acknowledge(self, node: str) -> None:
        """Press that dana works on it, and return once Slack has the acknowledgement of the click."""
        await self.stage.slack.presses("dana", self.card(node), "Acknowledge")
        await self.stage.slack.until(lambda: self.stage.slack.envelopes[-1].acked, WAIT)
        self.acknowledged.add(node)

    async def is_posted(self, node: str) -> None:
        await self.stage.slack.until(lambda: self.record.cards(node), WAIT)


async def _after_it_was_taken(stage: KillStage, node: str) -> None:
    await stage.send(node)


async def _before_the_answer_to_a_post(stage: KillStage, node: str) -> None:
    stage.stage.slack.lose_reply("chat.postMessage", hold=True)
    await stage.send(node)
    await stage.is_posted(node)


async def _while_slack_wants_a_pause(stage: KillStage, node: str) -> None:
    stage.stage.slack.fail("chat.postMessage", "ratelimited", retry_after=30)
    await stage.send(node)
    await stage.stage.slack.until(
        lambda: stage.stage.slack.calls.count("chat.postMessage", "ratelimited"), WAIT
    )


async def _before_the_answer_to_an_edit(stage: KillStage, node: str) -> None:
    await stage.send(node)
    await stage.is_posted(node)
    stage.stage.slack.lose_reply("chat.update", hold=True)
    await stage.send(node, is_over=True)
    await stage.stage.slack.until(lambda: "Resolved" in stage.card(node).said, WAIT)


async def _after_a_silence_was_added(stage: KillStage, node: str) -> None:
    await stage.silence(node)
    await stage.send(node)


async def _after_a_click_was_acknowledged(stage: KillStage, node: str) -> None:
    await stage.send(node)
    await stage.is_posted(node)
    await stage.acknowledge(node)


MOMENTS: Mapping[str, Callable[[KillStage, str], Awaitable[None]]] = {
    "after an alert was taken": _after_it_was_taken,
    "before the answer to a post": _before_the_answer_to_a_post,
    "while Slack wants a pause": _while_slack_wants_a_pause,
    "before the answer to an edit": _before_the_answer_to_an_edit,
    "after a silence was added": _after_a_silence_was_added,
    "after a click was acknowledged": _after_a_click_was_acknowledged,
}
