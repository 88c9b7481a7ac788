"""A picture of backtests: a bar for each alert, over time."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from alerts.rules import Severity
from bot.backtest.cluster_backtest import ClusterBacktest
from collectors.facts.labels import Labels

if TYPE_CHECKING:  # it is optional
    from matplotlib.axes import Axes

FORMATS = (".png", ".svg", ".pdf")
MAX_ROWS = 60  # of one cluster; with more, nobody could read them
_LONGEST_LABEL = 70  # characters
_COLORS = {Severity.CRITICAL: "#c0392b", Severity.WARNING: "#e08e0b", Severity.INFO: "#2e86c1"}


def is_available() -> bool:
    """Return whether matplotlib, the extra `charts`, is installed."""
    return find_spec("matplotlib") is not None


def draw_backtests(backtests: Sequence[ClusterBacktest], file: Path) -> None:
    """Draw the alerts of each cluster, one cluster below the other. Raises OSError if `file` cannot be written."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = [_rows(found) for found in backtests]
    heights = [max(len(one), 2) for one in rows]
    with rc_context({"date.converter": "concise"}):
        figure = Figure(figsize=(12, 1.2 * len(rows) + 0.28 * sum(heights)), layout="constrained")
        plots = figure.subplots(len(rows), 1, squeeze=False, height_ratios=heights)[:, 0]
        for plot, found, names in zip(plots, backtests, rows, strict=True):
            _plot(plot, found, names)
        figure.savefig(file, dpi=120)


def _plot(plot: "Axes", found: ClusterBacktest, names: Mapping[tuple[str, Labels], int]) -> None:
    start, end = found.period.start, found.period.end
    plot.set_xlim(start, end)  # type: ignore[arg-type]  # matplotlib converts datetimes
    for span in found.blind:
        plot.axvspan(span.start, span.end, color="#bbbbbb", linewidth=0)  # type: ignore[arg-type]
    for alert in found.alerts:
        if (row := names.get((alert.rule, alert.labels))) is not None:
            first = max(alert.started, start)
            color = _COLORS[Severity.of(alert.labels.get("severity", ""))]
            plot.barh(row, (alert.ended or end) - first, left=first, height=0.6, color=color, edgecolor=color)  # type: ignore[arg-type]
    plot.set_yticks(range(len(names)), [_name(*key) for key in names], fontsize=8, parse_math=False)
    plot.set_ylim(max(len(names), 1) - 0.4, -0.6)
    plot.set_title(_title(found, len(names)), fontsize=10, parse_math=False)


def _rows(found: ClusterBacktest) -> dict[tuple[str, Labels], int]:
    """Return the row of each alert: an alert that fired again has one row."""
    keys = dict.fromkeys((alert.rule, alert.labels) for alert in found.alerts)
    return {key: row for row, key in enumerate(list(keys)[:MAX_ROWS])}


def _title(found: ClusterBacktest, shown: int) -> str:
    count = len({(alert.rule, alert.labels) for alert in found.alerts})
    left_out = f"; {shown} of {count} alerts are shown" if count > shown else ""
    return f"{found.cluster} (UTC; grey: nothing was recorded{left_out})"


def _name(rule: str, labels: Labels) -> str:
    text = f"{rule} {labels.without('severity')!r}"
    return text if len(text) <= _LONGEST_LABEL else text[:_LONGEST_LABEL] + "…"
