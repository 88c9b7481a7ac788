"""The list of measures. To add one, add a file in `rows/` and a line here."""

from benchmarks.quality.measure import Measure
from benchmarks.quality.rows import cpa_linear, gpu_faults, kernel_cases, rule_eval, snapshots, xid_lines

MEASURES: tuple[Measure, ...] = (
    snapshots.MEASURE,
    cpa_linear.MEASURE,
    rule_eval.MEASURE,
    gpu_faults.MEASURE,
    xid_lines.MEASURE,
    kernel_cases.MEASURE,
)
