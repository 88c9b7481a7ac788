"""Log lines as hits hold them, and tallies of lines by their labels."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from collectors.facts.labels import Labels
from collectors.facts.one_line import IDENTITY, SENTENCE, one_line
from collectors.facts.results import LogLine, Sample
from collectors.sources.elasticsearch.fields import FieldMap
from collectors.sources.elasticsearch.wire import Hit, Scalar

_TEXTS = 3  # of a sample
UNIT = ".service"  # the journal says the unit of a component, syslog its program


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLine:
    """One line as the index has it. `text` is redacted, and is shown only through `shown`."""

    at: datetime
    text: str
    labels: Labels

    def shown(self) -> LogLine:
        """Return the line for people."""
        return LogLine(at=self.at, text=one_line(self.text, SENTENCE), labels=self.labels)


def line_of(hit: Hit, fields: FieldMap, by: Sequence[str], redact: Callable[[str], str]) -> StoredLine:
    """Return the line in a hit of a search with the `fields` of `bodies.shown`. Raises ValueError without its time."""
    names = [name for label in by for name in fields.exact.get(label, ())]
    text = hit.first(*fields.reading("message"))
    return StoredLine(
        at=_time_of(hit, fields),
        text=redact("" if text is None else str(text)),
        labels=labels_of({name: hit.first(name) for name in names}, fields, by),
    )


def labels_of(values: Mapping[str, Scalar], fields: FieldMap, by: Sequence[str]) -> Labels:
    """Return the labels from the fields' values: the first field with a value gives the label's."""
    found: dict[str, str] = {}
    for label in by:
        candidates = (values.get(name) for name in fields.exact.get(label, ()))
        value = next((one_line(str(value), IDENTITY) for value in candidates if value not in (None, "")), "")
        found[label] = value.removesuffix(UNIT) if label == "component" else value
    return Labels(found)


class LineTally:
    """Counts of lines by their labels, with the newest lines of each."""

    def __init__(self) -> None:
        self._counts: Counter[Labels] = Counter()
        self._texts: dict[Labels, list[str]] = {}

    def add(self, labels: Labels, line: StoredLine) -> None:
        """Count a line. Lines are added the newest first."""
        self._counts[labels] += 1
        texts = self._texts.setdefault(labels, [])
        if len(texts) < _TEXTS:
            texts.append(line.shown().text)

    def samples(self, *, above: float, note: str = "") -> tuple[Sample, ...]:
        """Return a sample for each set of labels whose count is above the threshold, with `note` as its last text."""
        return tuple(
            Sample(labels=labels, value=float(count), texts=distinct((*self._texts[labels], note)))
            for labels, count in sorted(self._counts.items(), key=lambda item: tuple(item[0].items()))
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
