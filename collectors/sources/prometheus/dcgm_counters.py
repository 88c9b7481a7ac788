"""The counters file of dcgm-exporter: the line that makes it export each metric that the shipped rules need.

The exporter's own file, `default-counters.csv`, has many of them commented out. A line is the field, the type of the
Prometheus metric, and a help text that anybody may choose: https://github.com/NVIDIA/dcgm-exporter, etc.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources


def counter_lines(metrics: Iterable[str]) -> tuple[str, ...]:
    """Return the lines of a counters file for those of the metrics that it has, sorted."""
    known = counters()
    return tuple(known[name] for name in sorted(set(metrics)) if name in known)


@cache
def counters() -> Mapping[str, str]:
    """Return the lines by metric."""
    text = (resources.files("collectors.sources.prometheus") / "dcgm_counters.csv").read_text("utf-8")
    return {line.partition(",")[0]: line for line in text.splitlines()}
