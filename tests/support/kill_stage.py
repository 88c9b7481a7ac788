"""Real kills: the process gets SIGKILL at moments that Slack or a sender sees, and starts again each time.

`round` is one such moment, for an alert on a node of its own. What was lost or repeated is judged in the end, by the
record of Slack's look-alike and by what the last process answers.
"""

import signal
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import aiohttp

from demo.lookalikes.slack.state.messages import Message
from tests.support.alert_sender import AlertSender, Posted, firing, over
from tests.support.light import TOKEN
from tests.support.light_stage import CHANNEL, Light
from tests.support.process import Process, listens_at_a_free_port

BEARER = {"Authorization": f"Bearer {TOKEN}"}
WAIT = 120.0  # seconds


@dataclass(slots=True, kw_only=True)
class KillStage:
    """The stage, what sends to the address at which each process listens, and what was sent so far."""

    stage: Light
    sender: AlertSender
    nodes: list[str] = field(default_factory=list)  # with an alert that was taken
    ended: list[str] = field(default_factory=list)
    silenced: list[str] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    _sent: dict[str, Posted] = field(default_factory=dict)  # by node

    @classmethod
    @asynccontextmanager
    async def on(cls, stage: Light) -> AsyncGenerator["KillStage"]:
        """`stage` must not run a bot of its own."""
        stage.settings["incidents"] = {"storm_from": 1000}  # each alert has a card of its own
        url = listens_at_a_free_port(stage)
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session:
            yield cls(stage=stage, sender=AlertSender(session=session, url=url, headers=BEARER))

    async def round(self, moment: str) -> None:
        """Start a process, do what leads to this moment of MOMENTS, and kill it."""
        process = await Process.begin(self.stage)
        try:
            await MOMENTS[moment](self, f"gpu-k{len(self._sent):02}")
        finally:
            await process.end(signal.SIGKILL)
            self.stage.slack.forgive()

    async def faults(self) -> list[str]:
        """Start a last process, wait until nothing is left to do, and return what is not as it must be."""
        process = await Process.begin(self.stage)
        try:
            await self.stage.slack.until(self._is_shown, WAIT)
            kept = await self._silences()
        finally:
            code = await process.end(signal.SIGTERM)
        silences = Counter(one["matchers"][0]["value"] for one in kept)
        said = Counter((one.thread_ts, one.text) for one in self._posted if one.is_reply)
        return [
            *(f"{len(self._cards(node))} cards of {node}" for node in self.nodes if not self._is_once(node)),
            *(f"{node} is silenced and shown" for node in self.silenced if self._cards(node)),
            *(f"{count} times in a thread: {words}" for (_, words), count in said.items() if count > 1),
            *(f"{silences[node]} silences of {node}" for node in self.silenced if silences[node] != 1),
            *(
                f"{node} has {len(self._acks(node))} acknowledgements"
                for node in self._wrongly_acknowledged()
            ),
            *([f"the last process ended with {code}"] if code else ()),
        ]

    @property
    def _posted(self) -> list[Message]:
        return [one for one in self.stage.slack.everything(CHANNEL) if one.by_bot and not one.deleted]

    def _cards(self, node: str) -> list[Message]:
        return [one for one in self._posted if not one.is_reply and f"of {node} is down" in one.said]

    def _acks(self, node: str) -> list[Message]:
        cards = {one.ts for one in self._cards(node)}
        return [
            one
            for one in self._posted
            if one.is_reply and one.thread_ts in cards and "Acknowledged by" in one.said
        ]

    def _is_once(self, node: str) -> bool:
        return len(self._cards(node)) == 1

    def _wrongly_acknowledged(self) -> list[str]:
        return [node for node in self.nodes if len(self._acks(node)) != (node in self.acknowledged)]

    def _is_shown(self) -> bool:
        """Whether people see all that they must: what comes too often comes as late as anything else."""
        return (
            all(map(self._cards, self.nodes))
            and all("Resolved" in card.said for node in self.ended for card in self._cards(node))
            and all(map(self._acks, self.acknowledged))
        )

    async def send(self, node: str, *, is_over: bool = False) -> None:
        """Send an alert once, which is taken."""
        labels = {"alertname": "LinkDown", "severity": "critical", "node": node}
        alert = self._sent.setdefault(node, firing(labels, summary=f"A link of {node} is down."))
        assert await self.sender.post([over(alert) if is_over else alert])
        if is_over:
            self.ended.append(node)
        elif node not in self.silenced:
            self.nodes.append(node)

    async def silence(self, node: str) -> None:
        matcher = {"name": "node", "value": node, "isRegex": False, "isEqual": True}
        ends = (self.stage.clock.now() + timedelta(hours=4)).isoformat()
        body = {"matchers": [matcher], "endsAt": ends, "comment": "replaced"}
        address, headers = f"{self.sender.url}/api/v2/silences", self.sender.headers
        async with self.sender.session.post(address, json=body, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
        self.silenced.append(node)

    async def acknowledge(self, node: str) -> None:
        """Press that dana works on it, and return once Slack has the acknowledgement of the click."""
        (card,) = self._cards(node)
        await self.stage.slack.presses("dana", card, "Acknowledge")
        await self.stage.slack.until(lambda: self.stage.slack.envelopes[-1].acked, WAIT)
        self.acknowledged.append(node)

    async def _silences(self) -> list[Mapping[str, Any]]:
        address, headers = f"{self.sender.url}/api/v2/silences", self.sender.headers
        async with self.sender.session.get(address, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            return list(await answer.json())

    async def is_posted(self, node: str) -> None:
        await self.stage.slack.until(lambda: self._cards(node), WAIT)


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
    await stage.stage.slack.until(lambda: "Resolved" in stage._cards(node)[0].said, WAIT)


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
