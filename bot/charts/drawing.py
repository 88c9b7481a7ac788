"""Drawing of charts with matplotlib. Only the child process imports it: matplotlib is optional, and large.

A picture is small and is read at half its size on a phone, by day and in dark mode: few ticks, large letters, no
background, and colours that stand out on white and on black. Its times are relative to when the alert fired, because
nobody knows the reader's time zone.
"""

import math
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any, TypeVar

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from bot.charts.line_chart import Chart, Line, measured

T = TypeVar("T")

WIDTH, HEIGHT, ROW = 480, 170, 20  # points: a line of the legend adds a row
SCALE = 2.0  # pixels to a point
_COLORS = ("#2f80c9", "#c9740d", "#1f9a72", "#c2529a", "#8467d7", "#8a8420", "#1f9bb0", "#b0643c")
_LIMIT = "#e0393e"
_INK = "#7b8087"  # contrast of 4 to 1 to white and to Slack's dark background
_TICKS = (60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400)
_MOST_TICKS = 5
_IN_ROW = 4  # names in a line of the legend, if they are short
_LETTER, _HANDLE = 7.5, 40  # points: of a letter of the legend, and of a handle with the room around it
_FEW = 12  # points that make no visible line
_GAP = 2.5  # steps without a sample that break a line

_STYLE: Any = {
    "font.size": 13,
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,
    "axes.unicode_minus": True,
}


def draw(chart: Chart) -> bytes:
    """Return the chart as PNG."""
    rows = math.ceil((len(chart.lines) + bool(chart.more)) / _columns(chart)) if _has_legend(chart) else 0
    with rc_context(_STYLE):
        height = (HEIGHT + ROW * rows) / 72
        figure = Figure(figsize=(WIDTH / 72, height), layout="constrained")
        plot = figure.subplots()
        for line, color in zip(chart.lines, _COLORS, strict=False):
            times, values = zip(*_unbroken(line, chart), strict=True)
            marker = "o" if len(line.points) < _FEW else None
            plot.plot(times, values, color=color, linewidth=2, label=line.name, marker=marker, markersize=4)
        _values(plot, chart)
        _limit(plot, chart)
        _times(plot, chart)
        if rows:
            _legend(figure, chart)
        file = BytesIO()
        figure.savefig(file, format="png", dpi=72 * SCALE, transparent=True)
    return file.getvalue()


def _has_legend(chart: Chart) -> bool:
    return any(line.name for line in chart.lines)


def _columns(chart: Chart) -> int:
    """Return how many names fit beside each other."""
    longest = max(len(line.name) for line in chart.lines)
    fitting = int(WIDTH / (longest * _LETTER + _HANDLE))
    return max(1, min(_IN_ROW, fitting, len(chart.lines) + bool(chart.more)))


def _unbroken(line: Line, chart: Chart) -> Iterator[tuple[float, float]]:
    """Yield the points, with a hole where samples are missing."""
    before = line.points[0][0]
    for at, value in line.points:
        if at - before > _GAP * chart.step:
            yield before + chart.step, math.nan
        yield at, value
        before = at


def _values(plot: Axes, chart: Chart) -> None:
    shown = [value for line in chart.lines for _, value in line.points]
    if chart.threshold is not None:
        shown.append(chart.threshold)
    low, high = min(shown), max(shown)
    room = (high - low) * 0.12 or abs(high) * 0.1 or 1.0
    bottom = 0.0 if 0 <= low <= 0.4 * high else low - room  # zero is shown if it is near
    plot.set_ylim(bottom - (room / 10 if low == 0 else 0), high + room)
    plot.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]))
    plot.yaxis.set_major_formatter(FuncFormatter(lambda value, _position: measured(value, chart.unit)))
    plot.grid(axis="y", color=_INK, alpha=0.25, linewidth=0.8)
    plot.set_axisbelow(True)


def _limit(plot: Axes, chart: Chart) -> None:
    """Draw the threshold, and shade where the alert is active."""
    if chart.threshold is None:
        return
    plot.axhline(chart.threshold, color=_LIMIT, linewidth=1.5, linestyle=(0, (4, 3)))
    bottom, top = plot.get_ylim()
    if chart.comparison.startswith(">"):
        plot.axhspan(chart.threshold, top, color=_LIMIT, alpha=0.08, linewidth=0)
    elif chart.comparison.startswith("<"):
        plot.axhspan(bottom, chart.threshold, color=_LIMIT, alpha=0.08, linewidth=0)
    plot.set_ylim(bottom, top)
    is_high = chart.threshold > bottom + 0.8 * (top - bottom)
    plot.annotate(
        f"{chart.comparison} {measured(chart.threshold, chart.unit)}",
        xy=(0.005, chart.threshold),
        xycoords=("axes fraction", "data"),
        xytext=(0, -3 if is_high else 3),
        textcoords="offset points",
        va="top" if is_high else "bottom",
        color=_LIMIT,
        fontweight="bold",
    )


def _times(plot: Axes, chart: Chart) -> None:
    """Mark when the alert fired and ended, and label other times by how far they are from when it fired."""
    plot.set_xlim(chart.start, chart.end + (chart.end - chart.start) / 50)
    marks = [(chart.fired, "fired")]
    if chart.resolved is not None:
        marks.append((chart.resolved, "resolved"))
    for at, _ in marks:
        plot.axvline(at, color=_INK, linewidth=1.2, linestyle=(0, (1, 2)))
    span = chart.end - chart.start
    every = next((size for size in _TICKS if span / size <= _MOST_TICKS), math.ceil(span / _MOST_TICKS))
    first = math.ceil((chart.start - chart.fired) / every)
    last = math.floor((chart.end - chart.fired) / every)
    around = [chart.fired + number * every for number in range(first, last + 1) if number]
    labels = [(at, _apart(at - chart.fired)) for at in around]
    near = 0.13 * span  # labels would overlap
    if chart.resolved is not None and abs(chart.resolved - chart.fired) < 1.3 * near:
        marks = [(chart.fired, "fired"), (chart.resolved, "")]
    labels = [(at, word) for at, word in labels if all(abs(at - mark) > near for mark, _ in marks)]
    labels = sorted([*labels, *marks])
    plot.set_xticks([at for at, _ in labels], [word for _, word in labels])
    for tick, (at, _) in zip(plot.get_xticklabels(), labels, strict=True):
        if at > chart.end - near / 3:
            tick.set_horizontalalignment("right")
        elif at < chart.start + near / 3:
            tick.set_horizontalalignment("left")


def _apart(seconds: float) -> str:
    sign, size = ("−" if seconds < 0 else "+"), abs(round(seconds))
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if size >= length and size % length == 0:
            return f"{sign}{size // length} {unit}"
    return f"{sign}{size / 60:.0f} min"


def _by_rows(entries: Sequence[T], columns: int) -> list[T]:
    """Return the entries so that they are read row by row: matplotlib fills one column after the other."""
    return [entry for column in range(columns) for entry in entries[column::columns]]


def _legend(figure: Figure, chart: Chart) -> None:
    handles, names = figure.axes[0].get_legend_handles_labels()
    if chart.more:
        handles.append(figure.axes[0].plot([], [], linestyle="")[0])
        names.append(f"and {chart.more} more")
    columns = _columns(chart)
    figure.legend(
        _by_rows(handles, columns),
        _by_rows(names, columns),
        loc="outside lower left",
        ncols=columns,
        frameon=False,
        handlelength=1.0,
        handletextpad=0.4,
        columnspacing=1.2,
        borderaxespad=0.0,
    )
