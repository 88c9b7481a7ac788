"""This file lists the benchmarks. To add one: a file in `rows/`, and its line here."""

from benchmarks.row import Benchmark
from benchmarks.rows import f11_first_incident, f11_install, f13_cycle, f14_list, f15_stalls

BENCHMARKS: tuple[Benchmark, ...] = (
    f11_install.BENCHMARK,
    f11_first_incident.BENCHMARK,
    f13_cycle.BENCHMARK,
    f14_list.BENCHMARK,
    f15_stalls.BENCHMARK,
)
