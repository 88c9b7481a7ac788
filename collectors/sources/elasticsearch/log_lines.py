"""Log lines as hits hold them, and tallies of lines by their labels."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from collectors.facts.labels import Labels
from collectors.facts.one_line import IDENTITY, SENTENCE, one_line
from collectors.facts.results import LogLine, Sample
from collectors.sources.elasticsearch.fields import FieldMap
from collectors.sources.elasticsearch.line_headers import with_decoded_bytes, without_header
from collectors.sources.elasticsearch.wire import Hit, Scalar

_TEXTS = 3  # of a sample
UNIT = ".service"  # the journal says the unit of a component, syslog its program


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLine:
    """One line as the index has it. `text` is redacted, and is shown only through `shown`.

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


def line_of(hit: Hit, fields: FieldMap, by: Sequence[str], redact: Callable[[str], str]) -> StoredLine:
    """Return the line in a hit of a search with the `fields` of `bodies.shown`. Raises ValueError without its time."""
    names = [name for label in by for name in fields.exact.get(label, ())]
    written = hit.first(*fields.reading("message"))
    text = redact(with_decoded_bytes("" if written is None else str(written)))
    at = _time_of(hit, fields)
    headed = without_header(text, at)
    has_header = "" if headed.text == text.strip() else "header"
    return StoredLine(
        at=at,
        text=text,
        labels=labels_of({name: hit.first(name) for name in names}, fields, by),
        fact=headed.text,
        way=(has_header, *sorted(hit.fields)),
        is_replayed=headed.is_replayed,
    )


def labels_of(values: Mapping[str, Scalar], fields: FieldMap, by: Sequence[str]) -> Labels:
    """Return the labels from the fields' values: the first field with a value gives the label's.

    Of a node it is the first that names one of the cluster, by any of its names: a field may hold the host of the
    shipper, or of whatever the lines passed.
    """
    found: dict[str, str] = {}
    for label in by:
        candidates = (values.get(name) for name in fields.exact.get(label, ()))
        said = [one_line(str(value), IDENTITY) for value in candidates if value not in (None, "")]
        value = next(iter(said), "")
        if label == "node":
            value = next(filter(None, map(fields.node_of, said)), value)
        found[label] = value.removesuffix(UNIT) if label == "component" else value
    return Labels(found)


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


def _time_of(hit: Hit, fields: FieldMap) -> datetime:
    at = hit.first(fields.time)
    try:
        return datetime.fromisoformat(str(at)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"`{fields.time}` of a hit is missing or is not a time") from error
