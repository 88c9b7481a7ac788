"""The list of measures. To add one, add a file in `rows/` and a line here."""

from benchmarks.quality.measure import Measure
from benchmarks.quality.rows import cpa_linear, xid_lines

MEASURES: tuple[Measure, ...] = (cpa_linear.MEASURE, xid_lines.MEASURE)
