"""The record of a channel of the Slack look-alike, about alerts: which can be read, and which stand twice.

An alert is *visible* if its name and its subject stand in a message, in its thread or in a file that is attached to
it: in one line, or in what names no other subject.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import product

from demo.lookalikes.slack import SlackLookalike
from demo.lookalikes.slack.kit.visible_text import said
from demo.lookalikes.slack.state.messages import Message

_WORD = re.compile(r"[\w.:-]*\w")

Pair = tuple[str, str]  # an alert's name and its subject


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackRecord:
    """`names` and `subjects`: of the alerts that are looked for, each one word."""

    slack: SlackLookalike
    channel: str
    names: Collection[str]
    subjects: Collection[str]

    def visible(self, at: datetime | None = None) -> set[Pair]:
        """Return the alerts that can be read: at that moment, or with None, at any."""
        return {pair for thread in self._threads() for pair in self._pairs(self._lines(thread, at))}

    def repeated(self) -> list[str]:
        """Return what stands twice: subjects with two messages of their own, and equal replies of one thread."""
        found = Counter[str]()
        for thread in self._threads():
            for message in thread:
                words = [one for one in self._named(said(message.body)) if not message.deleted]
                if message.is_reply:
                    found[f"reply in {message.thread_ts}: {said(message.body)}"] += not message.deleted
                elif len(words) == 1:
                    found[words[0]] += 1
        return sorted(one for one, times in found.items() if times > 1)

    def cards(self, subject: str) -> list[Message]:
        """Return the messages of its own that a subject has, without replies and deleted ones."""
        everything = self.slack.everything(self.channel)
        living = (one for one in everything if one.by_bot and not one.is_reply and not one.deleted)
        return [one for one in living if self._named(said(one.body)) == [subject]]

    def _threads(self) -> list[list[Message]]:
        threads: defaultdict[str, list[Message]] = defaultdict(list)
        for message in self.slack.everything(self.channel):
            if message.by_bot:
                threads[message.thread_ts or message.ts].append(message)
        return list(threads.values())

    def _named(self, text: str) -> list[str]:
        return sorted(set(_WORD.findall(text)) & set(self.subjects))

    def _lines(self, thread: list[Message], at: datetime | None) -> Iterator[str]:
        for message in thread:
            events = [one for one in message.history if at is None or one.at <= at]
            shown = events if at is None else events[-1:]
            for event in shown:
                if event.what == "deleted":
                    continue
                yield from f"{event.body.get('text', '')}\n{said(event.body)}".splitlines()
                for file in event.body.get("files") or ():
                    yield from self.slack.content(file["id"]).decode(errors="replace").splitlines()

    def _pairs(self, lines: Iterator[str]) -> set[Pair]:
        names, subjects = set(self.names), set(self.subjects)
        pairs: set[Pair] = set()
        all_names, all_subjects = set[str](), set[str]()
        for line in lines:
            words = set(_WORD.findall(line))
            pairs |= set(product(words & names, words & subjects))
            all_names |= words & names
            all_subjects |= words & subjects
        return pairs | set(product(all_names, all_subjects)) if len(all_subjects) == 1 else pairs
