"""The list of benchmarks. To add one, add a file in `rows/` and a line here."""

from benchmarks.row import Benchmark
from benchmarks.rows import (
    f1_storm,
    f3_kills,
    f4_latency,
    f5_intake,
    f6_bad_gpu_traces,
    f7_cordons,
    f8_redelivery,
    f9_watch,
    f11_first_incident,
    f11_install,
    f13_cycle,
    f14_list,
    f15_stalls,
    f16_scale,
    f17_recording,
)

BENCHMARKS: tuple[Benchmark, ...] = (
    f1_storm.BENCHMARK,
    f1_storm.SCATTERED,
    f3_kills.BENCHMARK,
    f4_latency.BENCHMARK,
    f5_intake.BENCHMARK,
    f6_bad_gpu_traces.BENCHMARK,
    f7_cordons.BENCHMARK,
    f8_redelivery.BENCHMARK,
    f9_watch.BENCHMARK,
    f11_install.BENCHMARK,
    f11_first_incident.BENCHMARK,
    f13_cycle.BENCHMARK,
    f14_list.BENCHMARK,
    f15_stalls.BENCHMARK,
    f16_scale.BENCHMARK,
    f17_recording.BENCHMARK,
)
