"""A chart: the lines of an incident's series over time, the threshold, and the same in words."""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

import msgspec

from collectors.facts.clock import moment_of
from collectors.facts.labels import Labels
from collectors.facts.one_line import one_line
from collectors.facts.results import Series
from collectors.facts.sentences import Sentence, listed, sentence

MAX_LINES = 8  # with more, nobody tells them apart
_LONGEST_NAME = 40  # characters
_NUMBER = re.compile(r"(\d{1,15})", re.ASCII)
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One series. `name`: by what it differs from the others; empty if it is the only one. Times in Unix seconds."""

    name: str
    points: tuple[tuple[float, float], ...]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """What is drawn. `more`: lines that are left out. `comparison` is as in PromQL. Times in Unix seconds."""

    lines: tuple[Line, ...]
    start: float
    end: float
    step: float
    fired: float
    resolved: float | None = None
    threshold: float | None = None
    comparison: str = ""
    more: int = 0
    unit: str = ""  # of the values and the threshold


def named_lines(series: Iterable[Series]) -> tuple[Line, ...]:
    """Return the series with the largest values, by name."""
    found = [
        (one.labels, tuple((at, value) for at, value in one.points if math.isfinite(value))) for one in series
    ]
    found = [(labels, points) for labels, points in found if points]
    found.sort(key=lambda one: -max(value for _, value in one[1]))
    distinguishing = _distinguishing([labels for labels, _ in found])
    shown = found[:MAX_LINES]
    names = [one_line(_name(labels, distinguishing), _LONGEST_NAME) for labels, _ in shown]
    if len(set(names)) < len(names):  # a legend would say the same of each
        names = [""] * len(names)
    lines = (Line(name=name, points=points) for name, (_, points) in zip(names, shown, strict=True))
    return tuple(sorted(lines, key=lambda line: _natural(line.name)))


def _distinguishing(series: Sequence[Labels]) -> tuple[str, ...]:
    """Return the labels by which the series differ: as few as tell them apart, short values first."""
    names = {name for labels in series for name in labels}
    differing = [name for name in names if len({labels.get(name, "") for labels in series}) > 1]
    differing.sort(key=lambda name: (max(len(labels.get(name, "")) for labels in series), name))
    chosen: tuple[str, ...] = ()
    for name in differing:
        if len({_name(labels, chosen) for labels in series}) == len(series):
            break
        chosen = (*chosen, name)
    return chosen


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts `gpu 9` before `gpu 10`."""
    return [(int(part) if part.isdecimal() else 0, part) for part in _NUMBER.split(name)]


def _name(labels: Labels, distinguishing: Collection[str]) -> str:
    """Return the labels that it has of these; `other` for one with none of them."""
    known = [f"{name} {labels[name]}" for name in distinguishing if labels.get(name)]
    return ", ".join(known) or ("other" if distinguishing else "")


def number(value: float) -> str:
    """Return a value as people write it: four digits, and a prefix from 10,000 on."""
    fitting = (one for one in _PREFIXES if abs(value) >= one[0])
    power, prefix = next(fitting, (1.0, "")) if abs(value) >= 10_000 else (1.0, "")
    return f"{value / power:.4g}{prefix}"


def measured(value: float, unit: str) -> str:
    """Return a value with its unit, as the card's sentences write it: `3 %`."""
    return f"{number(value)} {unit}" if unit else number(value)


def alt_text(chart: Chart) -> str:
    """Return what the chart shows in words, for those who do not see it. Without markup, and of bounded length."""
    said = [sentence("Chart from {start} to {end} UTC.", start=_time(chart.start), end=_time(chart.end))]
    if chart.threshold is not None:
        said.append(_condition(chart.comparison, measured(chart.threshold, chart.unit)))
    for line in chart.lines:
        values = [value for _, value in line.points]
        shown = (min(values), max(values), values[-1])
        lowest, highest, last = (measured(value, chart.unit) for value in shown)
        if line.name:
            said.append(
                sentence(
                    "{series}: lowest {lowest}, highest {highest}, last {last}.",
                    series=line.name,
                    lowest=lowest,
                    highest=highest,
                    last=last,
                )
            )
        else:
            said.append(
                sentence(
                    "Lowest {lowest}, highest {highest}, last {last}.",
                    lowest=lowest,
                    highest=highest,
                    last=last,
                )
            )
    if chart.more:
        said.append(sentence("And {more} more.", more=chart.more))
    return listed(said, ".")


def _condition(comparison: str, threshold: str) -> Sentence:
    match comparison:
        case ">":
            return sentence("It fires above {threshold}.", threshold=threshold)
        case ">=":
            return sentence("It fires at {threshold} and above.", threshold=threshold)
        case "<":
            return sentence("It fires below {threshold}.", threshold=threshold)
        case "<=":
            return sentence("It fires at {threshold} and below.", threshold=threshold)
        case "==":
            return sentence("It fires at {threshold}.", threshold=threshold)
        case _:
            return sentence("It fires at anything but {threshold}.", threshold=threshold)


def _time(seconds: float) -> str:
    at: datetime | None = moment_of(seconds)
    return f"{at:%Y-%m-%d %H:%M}" if at is not None else "?"
