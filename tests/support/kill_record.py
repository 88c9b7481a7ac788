"""The record of a program that is killed again and again: what it answered is compared with what Slack shows."""

import asyncio
from collections.abc import AsyncGenerator, Set
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import aiohttp

from tests.support.alert_sender import AlertSender
from tests.support.light import TOKEN
from tests.support.light_stage import CHANNEL, Light
from tests.support.process import listens_at_a_free_port
from tests.support.slack_record import SlackRecord

BEARER = {"Authorization": f"Bearer {TOKEN}"}
ANSWERED_WITHIN = 30.0  # seconds


@dataclass(kw_only=True)
class KillRecord:
    """The outside of a program that is killed. The sets are subjects: what was answered must be true in the end.

    `sender` posts to the address at which each process listens. `names` are those of the alerts.
    """

    names: ClassVar[Set[str]]
    stage: Light
    sender: AlertSender
    subjects: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    acknowledged: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)  # of those that ended: a person said that they are over
    muted: set[str] = field(default_factory=set)
    silences: set[str] = field(default_factory=set)  # their comments

    @classmethod
    @asynccontextmanager
    async def on(cls, stage: Light, **more: Any) -> AsyncGenerator[Self]:
        """`stage` must not run a bot of its own."""
        url = listens_at_a_free_port(stage)
        timeout = aiohttp.ClientTimeout(total=ANSWERED_WITHIN)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            yield cls(stage=stage, sender=AlertSender(session=session, url=url, headers=BEARER), **more)

    @property
    def record(self) -> SlackRecord:
        return SlackRecord(slack=self.stage.slack, channel=CHANNEL, names=self.names, subjects=self.subjects)

    async def comments(self) -> list[str]:
        """Return the comments of the silences, as an Alertmanager would show them; none while the program is away."""
        url = f"{self.sender.url}/api/v2/silences"
        with suppress(aiohttp.ClientError, TimeoutError, OSError):
            async with self.sender.session.get(url, headers=self.sender.headers) as answer:
                if answer.status == 200:
                    return [one["comment"] for one in await answer.json()]
        return []

    async def settled(self, within: float) -> list[str]:
        """Return what is wrong once nothing is, or after so many seconds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + within
        while (faults := await self.faults()) and loop.time() < end:  # noqa: ASYNC110 - several records
            await asyncio.sleep(1)
        return faults

    async def faults(self) -> list[str]:
        """Return what is lost or stands twice, by Slack's record; nothing if all is as it must be."""
        record = self.record
        found = [f"stands twice: {one}" for one in record.repeated()]
        found += [f"has no card: {one}" for one in sorted(self.taken) if not record.cards(one)]
        found += [f"has a card although it is silenced: {one}" for one in self.muted if record.cards(one)]
        for subject in sorted(self.taken):
            said = "\n".join(card.said for card in record.cards(subject))
            if (subject in self.ended) != ("✅" in said):
                found.append(f"does not show whether it is over: {subject}")
            is_shown = "acknowledged by" in said
            if subject not in self.closed and (subject in self.acknowledged) != is_shown:
                found.append(f"does not show whether it is acknowledged: {subject}")
        comments = await self.comments()
        found += [
            f"silence {one}: {comments.count(one)}" for one in self.silences if comments.count(one) != 1
        ]
        return found
