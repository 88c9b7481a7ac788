"""The level of log lines: what a field says, and what the header of the line itself says, which wins.

A shipper that derives a level from the stream calls each line of a klog component an error. The text is searched by
its words, as the standard analyzer splits it: `E1123 12:00:00.000000` has the word `e1123`, and `"level":"error"` is
the phrase `level error`. A header names a day without a year, or a time of its own: one that is not within a day of
the line's time is a replayed line, and does not count.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from collectors.facts.queries import LogLevel
from collectors.logs.level_words import BUNYAN, KEYS, KLOG, LEADING, SYSLOG, level_numbers, level_words
from collectors.logs.log_store import Window
from collectors.sources.elasticsearch.fields.field_map import FieldMap
from collectors.sources.elasticsearch.queries.bodies import in_all, in_any, in_window
from collectors.sources.elasticsearch.wire import Json

_ZONES = timedelta(hours=14)  # a header has its node's local time, which is at most this far from UTC
_MOST_SOURCES = 800  # of one query of intervals, which Elasticsearch multiplies out; it allows 1,024


def at_level(level: LogLevel, fields: FieldMap, windows: Sequence[Window]) -> Json:
    """Return the filter of the lines of these windows that have this level or a worse one."""
    return in_any([in_all([in_window(fields, one), _in_one(level, fields, one)]) for one in windows])


def _in_one(level: LogLevel, fields: FieldMap, window: Window) -> Json:
    wanted = tuple(one for one in LogLevel if one >= level)
    others = tuple(one for one in LogLevel if one < level)
    said = _in_fields(wanted, fields)
    other_first: list[Json] = []
    for name in fields.reading("message"):
        form = _Form(name, fields, window)
        said += form.header(wanted)
        other_first.append(in_all([in_any(form.header(others))], but_not=form.header_after(others, wanted)))
    return in_all([in_any(said)], but_not=other_first)


def _in_fields(levels: Sequence[LogLevel], fields: FieldMap) -> list[Json]:
    """Return the filters of the fields that hold a level as a word or a number."""
    words = [form for word in level_words(levels) for form in (word, word.upper(), word.capitalize())]
    priorities = [str(number) for number in level_numbers(SYSLOG, levels)]
    found = [
        _terms(name, level_numbers(BUNYAN, levels) if name in fields.numbers else words)
        for name in fields.read.get("level", ())
    ]
    return found + [_terms(name, priorities) for name in fields.read.get("priority", ())]


class _Form:
    """The headers of lines in one message field, as its mapping lets them be searched."""

    def __init__(self, name: str, fields: FieldMap, window: Window) -> None:
        self._name = name
        self._is_text = name in fields.texts
        self._has_spans = name in fields.spans
        first, last = (moment.astimezone(UTC) for moment in (window.since - _ZONES, window.until + _ZONES))
        self._days = _steps(first, last, timedelta(days=1))
        self._hours = _steps(first, last, timedelta(hours=1))

    def header(self, levels: Sequence[LogLevel]) -> list[Json]:
        """Return filters; a line with a header of these levels passes any of them."""
        if not self._is_text:
            return [self._whole([*self._starts(levels), _keyed(levels)])]
        found = [_terms(self._name, self._klog(levels)), self._intervals(_either(self._sources(levels)))]
        if self._has_spans:
            leading = [{"span_term": {self._name: word}} for one in levels for word in LEADING[one]]
            found.append({"span_first": {"match": {"span_or": {"clauses": leading}}, "end": 1}})
        return found

    def header_after(self, levels: Sequence[LogLevel], before: Sequence[LogLevel]) -> list[Json]:
        """Return filters; a line that quotes a header of `levels` after one of `before` passes any of them."""
        if not self._is_text:
            return [self._whole(self._starts(before))]
        quoted = _either([*self._sources(levels), *map(_phrase, self._klog(levels))])
        first = _either([*self._sources(before), *map(_phrase, self._klog(before))])
        quoted["any_of"]["filter"] = {"after": first}
        return [self._intervals(quoted)]

    def _intervals(self, source: Json) -> Json:
        return {"intervals": {self._name: source}}

    def _klog(self, levels: Sequence[LogLevel]) -> list[str]:
        return [f"{KLOG[one]}{day:%m%d}" for one in levels for day in self._days]

    def _sources(self, levels: Sequence[LogLevel]) -> list[Json]:
        """Return the intervals of headers with a key (`level=error`), or after a time (`… 12:00:00.123 [ERROR]`)."""
        words = level_words(levels)
        word = _either(map(_phrase, words))
        found = [_sequence([_either(map(_phrase, KEYS)), word])]
        # `2026-11-23 12:00:00,123 ERROR`: the day, up to three words of the time, the level.
        found.append(_sequence([_either(_phrase(f"{day:%Y %m %d}") for day in self._days), word], max_gaps=3))
        # `2026-11-23T12:00:00.123Z ERROR`: `23t12` is one word.
        if len(self._hours) * len(words) <= _MOST_SOURCES:
            for month in dict.fromkeys(f"{hour:%Y %m}" for hour in self._hours):
                hours = [_phrase(f"{hour:%dt%H}") for hour in self._hours if f"{hour:%Y %m}" == month]
                found.append(_sequence([_phrase(month), _either(hours), word], max_gaps=2))
        if LogLevel.FATAL in levels:
            found.append(_sequence([_phrase("goroutine"), _phrase("running")], max_gaps=1))
        if not self._has_spans:
            found += [
                _sequence([_phrase(word), _phrase("plugin")]) for one in levels for word in LEADING[one]
            ]  # CoreDNS
        return found

    def _starts(self, levels: Sequence[LogLevel]) -> list[str]:
        """Return expressions of whole lines that start with a header of these levels."""
        days = "|".join(f"{day:%m%d}" for day in self._days)
        letters = "|".join(KLOG[one] for one in levels)
        leading = "|".join(word for one in levels for word in LEADING[one])
        tab = "\t"  # Elasticsearch has no escape for it
        time = f"[0-9]{{4}}(-|/)[0-9]{{2}}(-|/)[0-9]{{2}}(T| )[0-9:.,]+Z?({tab}| )+"
        return [
            rf"({letters})({days}) .*",
            rf"\[?({leading})(\]|:).*",
            rf"{time}\[?({leading})(\]| |{tab}).*",
        ]

    def _whole(self, expressions: Sequence[str]) -> Json:
        """Return the filter for a field that is indexed as one value."""
        return {"regexp": {self._name: {"value": "|".join(expressions), "case_insensitive": True}}}


def _keyed(levels: Sequence[LogLevel]) -> str:
    """Return the expression of whole lines with a key of these levels: `"level":"error"`, `level=error`."""
    keys, words = "|".join(KEYS).replace(".", r"\."), "|".join(level_words(levels))
    return rf".*({keys})\"?[:=] ?\"?({words})[\", ].*"


def _steps(first: datetime, last: datetime, step: timedelta) -> list[datetime]:
    """Return the days or hours from the first to the last, both included."""
    start = first.replace(minute=0, second=0, microsecond=0)
    if step >= timedelta(days=1):
        start = start.replace(hour=0)
    return [start + step * number for number in range((last - start) // step + 1)]


def _terms(name: str, values: Sequence[object]) -> Json:
    return {"terms": {name: list(values)}}


def _phrase(text: str) -> Json:
    return {"match": {"query": text, "ordered": True, "max_gaps": 0}}


def _either(sources: Iterable[Json]) -> Json:
    return {"any_of": {"intervals": list(sources)}}


def _sequence(sources: Sequence[Json], *, max_gaps: int = 0) -> Json:
    return {"all_of": {"ordered": True, "max_gaps": max_gaps, "intervals": list(sources)}}
