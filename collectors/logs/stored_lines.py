"""Log lines as a store has them, and tallies of lines by their labels."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from collectors.facts.labels import Labels
from collectors.facts.one_line import SENTENCE, one_line
from collectors.facts.results import LogLine, Sample
from collectors.logs.line_headers import with_decoded_bytes, without_header

_TEXTS = 3  # of a sample


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLine:
    """One line as the store has it. `text` is redacted, and is shown only through `shown`.

    `fact`: the text without header and time; `way`: what tells how it was delivered. A line of the kernel comes from
    the journal and again from a file. `is_replayed`: its own header has another day.
    """

    at: datetime
    text: str
    labels: Labels
    fact: str = ""
    way: tuple[str, ...] = ()
    is_replayed: bool = False

    def shown(self) -> LogLine:
        """Return the line for people."""
        return LogLine(at=self.at, text=one_line(self.text, SENTENCE), labels=self.labels)


def stored_line(
    written: str, at: datetime, labels: Labels, *, redact: Callable[[str], str], fields: Sequence[str] = ()
) -> StoredLine:
    """Return the line of this text and time. `fields`: those that it came with, which tell its shipper."""
    text = redact(with_decoded_bytes(written))
    headed = without_header(text, at)
    has_header = "" if headed.text == text.strip() else "header"
    return StoredLine(
        at=at,
        text=text,
        labels=labels,
        fact=headed.text,
        way=(has_header, *sorted(fields)),
        is_replayed=headed.is_replayed,
    )


class LineTally:
    """Counts of facts by their labels, with the newest lines of each. What is delivered in two ways counts once."""

    def __init__(self) -> None:
        self._ways: dict[Labels, dict[str, Counter[tuple[str, ...]]]] = {}
        self._texts: dict[Labels, list[str]] = {}

    def add(self, labels: Labels, line: StoredLine) -> None:
        """Count a line that was not replayed. Lines are added the newest first."""
        if line.is_replayed:
            return
        ways = self._ways.setdefault(labels, {}).setdefault(line.fact, Counter())
        texts = self._texts.setdefault(labels, [])
        if not ways and len(texts) < _TEXTS:
            texts.append(line.shown().text)
        ways[line.way] += 1

    def counts(self) -> dict[Labels, int]:
        """Return the number of facts by label."""
        return {
            labels: sum(max(ways.values()) for ways in facts.values()) for labels, facts in self._ways.items()
        }

    def samples(self, *, above: float, note: str = "") -> tuple[Sample, ...]:
        """Return a sample for each set of labels whose count is above the threshold, with `note` as its last text."""
        return tuple(
            Sample(labels=labels, value=float(count), texts=distinct((*self._texts[labels], note)))
            for labels, count in sorted(self.counts().items(), key=lambda item: tuple(item[0].items()))
            if count > above
        )


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts without duplicates: a kernel line often arrives twice, from the journal and from a file."""
    return tuple(dict.fromkeys(text for text in texts if text))
