"""The outside of a program that is killed at any time: senders, people who act on cards, and a Slack that fails.

They keep at it as the real ones do: a sender posts until it is answered with 200, and a person who sees an error tries
again. What was answered must be in Slack's record once it is calm.
"""

import asyncio
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar

from collectors.facts.clock import SystemClock
from demo.lookalikes.slack import SlackLookalike
from demo.lookalikes.slack.interactions.interaction import NotPossibleError
from demo.lookalikes.slack.state.messages import Message
from tests.support.alert_sender import firing, over
from tests.support.kill_record import KillRecord
from tests.support.light_stage import CHANNEL
from tests.support.rule_file import rule, rule_file

NAME, OWN = "ReplicasMissing", "FanDead"  # an alert that is sent, and one of a rule of ours
OWN_EXPR = "fan_dead > 0"
RULES = rule_file(
    "story",
    rule(
        OWN,
        "{{ $labels.deployment }} has no fan.",
        expr=OWN_EXPR,
        more={"resolve_when": "acknowledged"},
    ),
)
CLOSES = "Acknowledge (closes it)"
FAULTS: Mapping[str, Callable[[SlackLookalike], object]] = {
    "nothing": lambda _slack: None,
    "429 to posts": lambda slack: slack.fail("chat.postMessage", "ratelimited", 2, retry_after=1),
    "429 to edits": lambda slack: slack.fail("chat.update", "ratelimited", 2, retry_after=1),
    "500 to posts": lambda slack: slack.fail("chat.postMessage", 500, 2),
    "500 to edits": lambda slack: slack.fail("chat.update", 500, 2),
    "a post whose reply is lost": lambda slack: slack.lose_reply("chat.postMessage"),
    "a post that is lost": lambda slack: slack.lose_call("chat.postMessage"),
    "a post that is late": lambda slack: slack.late("chat.postMessage", 2.0),
    "a post that is late, and its reply lost": lambda slack: slack.late(
        "chat.postMessage", 2.0, lose_reply=True
    ),
    "a socket that breaks": lambda slack: slack.drop_socket(),
}


@dataclass(kw_only=True)
class Outside(KillRecord):
    """All around the program."""

    names: ClassVar[Set[str]] = frozenset({NAME, OWN})
    random: Random
    _own: set[str] = field(default_factory=set)  # that burn now
    _happen: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def fail(self, faults: int) -> list[str]:
        """Let Slack fail in so many ways, and return which."""
        chosen = self.random.sample(list(FAULTS), faults)
        for name in chosen:
            FAULTS[name](self.stage.slack)
        return chosen

    async def round(self, number: int) -> None:
        """What happens around one kill; returns when all of it was answered, which may be much later."""
        async with asyncio.TaskGroup() as group:
            for subject, happens in (
                (f"stays-{number}", self._sends(f"stays-{number}", ends=False)),
                (f"ends-{number}", self._sends(f"ends-{number}", ends=True)),
                (f"mute-{number}", self._mutes(f"mute-{number}", f"comment-{number}")),
                (f"own-{number}", self._breaks(f"own-{number}")),
            ):
                self._happen[subject] = group.create_task(happens)

    @property
    def unanswered(self) -> list[str]:
        """Return what is not answered yet, and what Slack shows of it."""
        return [
            f"{subject}: {[card.said for card in self.record.cards(subject)]}"
            for subject, task in self._happen.items()
            if not task.done() or task.cancelled()
        ]

    async def _sends(self, subject: str, *, ends: bool) -> None:
        """Send an alert until it is taken, and never again; its end likewise, or somebody acknowledges it."""
        self.subjects.add(subject)
        await self._pause(1.0)
        alert = firing(_labels(subject), summary=f"{subject} has fewer replicas than it should.")
        await self.sender.post_until_taken([alert])
        self.taken.add(subject)
        if ends:
            await self._pause(5.0)
            await self.sender.post_until_taken([over(alert)])
            self.ended.add(subject)
        else:
            await self._presses(subject, "Acknowledge")
            self.acknowledged.add(subject)

    async def _breaks(self, subject: str) -> None:
        """Let a rule of ours fire for a while; then somebody says that it is over."""
        self.subjects.add(subject)
        self._burns(self._own | {subject})
        await self._pause(3.0)
        await asyncio.sleep(1.5)  # three evaluations see it, now or when they are made up for
        self._burns(self._own - {subject})
        await self._presses(subject, CLOSES)
        for found in (self.taken, self.ended, self.closed):
            found.add(subject)

    async def _mutes(self, subject: str, comment: str) -> None:
        """Silence what is sent later."""
        self.subjects.add(subject)
        line = f"/yard silence add deployment={subject} --for 24h --reason {comment}"
        await self._pause(1.0)
        while comment not in await self.comments():  # she looks whether it is there
            given_up = self._given_up(comment)
            while (await self.stage.slack.types("dana", CHANNEL, line)).error:  # noqa: ASYNC110 - a person
                await asyncio.sleep(1)
            while comment not in await self.comments() and self._given_up(comment) == given_up:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.5)
        self.silences.add(comment)
        await self.sender.post_until_taken([firing(_labels(subject))])
        self.muted.add(subject)

    async def _presses(self, subject: str, label: str) -> None:
        """Wait for the card, and press its button until Slack shows no error and it is gone from the card."""
        is_pressed, given_up = False, 0
        while True:
            for card in self.record.cards(subject):
                try:
                    if not is_pressed or self._given_up("") > given_up:
                        given_up = self._given_up("")
                        is_pressed = not (await self.stage.slack.presses("dana", card, label)).error
                except NotPossibleError:
                    if is_pressed:
                        return
                if is_pressed and not any(label in text for text in _buttons(card)):
                    return
            await asyncio.sleep(0.5)

    def _given_up(self, about: str) -> int:
        """Return how often she read that a line was given up: its runs were stopped, or nobody could say who she is.

        Slack answers only so many lookups a minute, and each new process makes them again.
        """
        read = [one.said for one in self.stage.slack.ephemerals("dana") if about in one.said]
        return sum("has not answered" in said or "cannot check who you are" in said for said in read)

    def _burns(self, subjects: set[str]) -> None:
        self._own = subjects
        series = [(_labels(one), 1.0) for one in sorted(subjects)]
        self.stage.prometheus.truth.say(OWN_EXPR, *series, since=SystemClock().now())

    async def _pause(self, longest: float) -> None:
        await asyncio.sleep(self.random.uniform(0, longest))


def _labels(subject: str) -> dict[str, str]:
    return {
        "alertname": OWN if subject.startswith("own") else NAME,
        "severity": "critical",
        "namespace": "serving",
        "deployment": subject,
    }


def _buttons(card: Message) -> list[str]:
    """Return what stands on the buttons of a card."""
    blocks = [block for part in card.attachments for block in part.get("blocks", ())]
    return [
        str(element.get("text", {}).get("text", "")) if isinstance(element.get("text"), dict) else ""
        for block in blocks
        for element in block.get("elements", ())
        if isinstance(element, dict)
    ]
