"""The doctor's findings about metrics: exporters that are missing, and what a rule needs of an expression."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import pytest

from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from collectors.facts.clock import SystemClock
from collectors.facts.findings import Finding, FindingLevel, RuleHealth
from collectors.facts.missing_metrics import MissingCause, MissingMetrics
from collectors.facts.promql.selectors import metric_names
from collectors.facts.queries import PromQLQuery, Query
from collectors.facts.results import Blind
from collectors.sources.prometheus.dcgm_counters import counters
from collectors.sources.prometheus.exporters import exporter_of
from collectors.sources.prometheus.missing import missing_metrics
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from tests.real.fixtures import StartPrometheus

SHIPPED = {
    rule.name: rule.query
    for rule in read_rulebook(RulesSettings(packs=("gpu", "node"))).rules
    if isinstance(rule.query, PromQLQuery)
}


def of_level(found: Sequence[Finding], level: FindingLevel) -> list[Finding]:
    return [one for one in found if one.level is level]


async def test_a_prometheus_without_dcgm_exporter(start_prometheus: StartPrometheus) -> None:
    at = SystemClock().now() - timedelta(minutes=10)
    names = frozenset().union(*(metric_names(query.expr) for query in SHIPPED.values()))
    givers = {name: exporter_of(name) for name in names}
    there = sorted(name for name, one in givers.items() if "dcgm-exporter" not in (one.name, one.instead_of))
    stamp = f"{at.timestamp() - 5:.3f}"
    samples = [f"{name} 1 {stamp}" for name in ("up", *there)]
    server = start_prometheus(
        samples=[line for one in samples for line in (f"# TYPE {one.split()[0]} gauge", one)]
    )
    source = PrometheusSource(PrometheusOptions(url=server.url))
    try:
        found = await source.diagnose(SHIPPED, at=at)
    finally:
        await source.close()
    assert found[0].text.startswith("Prometheus ")
    (one,) = of_level(found, FindingLevel.BROKEN)
    assert one.text.startswith("GPU")
    assert "DCGM_FI_DEV_GPU_TEMP" in one.text
    assert one.text.endswith("nor any other of dcgm-exporter")
    assert one.fix.startswith("install dcgm-exporter on the GPU nodes, and let Prometheus scrape it")
    assert of_level(found, FindingLevel.WARNING) == []


async def test_a_prometheus_that_scrapes_nothing(start_prometheus: StartPrometheus) -> None:
    source = PrometheusSource(PrometheusOptions(url=start_prometheus().url))
    try:
        (one,) = await source.diagnose(SHIPPED, at=SystemClock().now() - timedelta(minutes=10))
    finally:
        await source.close()
    assert "has no fresh sample of `up`" in one.text


@pytest.mark.parametrize(
    ("expr", "present", "missing"),
    [
        ("sum by (a) (rate(x[5m])) > 1", set(), {"x"}),
        ("x > 1", {"x"}, set()),
        ("x or y", {"y"}, set()),
        ("x or y", set(), {"x", "y"}),
        ("x unless on (a) y", {"x"}, set()),
        ("x unless on (a) y", set(), {"x"}),
        ("x and on (a) y", {"x"}, {"y"}),
        ("absent(x)", set(), set()),
        ("changes((max by (a) (x))[10m:30s]) > 0", set(), {"x"}),
        ('{__name__="x", a="b"}', set(), {"x"}),
        ("topk(3, x) / y", {"y"}, {"x"}),
        ("x or vector(0)", set(), set()),
        ("not a query (", set(), set()),
    ],
)
def test_the_metrics_that_an_expression_needs(expr: str, present: set[str], missing: set[str]) -> None:
    assert missing_metrics(expr, present) == missing


def test_the_exporter_of_every_metric_of_the_shipped_rules_is_known() -> None:
    every = [rule.query for rule in read_rulebook(RulesSettings()).rules]
    names = {name for query in every if isinstance(query, PromQLQuery) for name in metric_names(query.expr)}
    unknown = sorted(name for name in names - {"up"} if not exporter_of(name).name)
    assert unknown == [], "add their exporter to collectors/sources/prometheus/exporters.py"


async def test_a_metric_that_only_some_exporters_have_is_a_warning(start_prometheus: StartPrometheus) -> None:
    at = SystemClock().now() - timedelta(minutes=10)
    stamp = f"{at.timestamp() - 5:.3f}"
    lines = ["# TYPE up gauge", f"up 1 {stamp}", "# TYPE DCGM_A gauge", f"DCGM_A 1 {stamp}"]
    source = PrometheusSource(PrometheusOptions(url=start_prometheus(samples=lines).url))
    try:
        queries = {"A": PromQLQuery(expr="DCGM_A > 1"), "B": PromQLQuery(expr="DCGM_B > 1")}
        found = await source.diagnose(queries, at=at)
    finally:
        await source.close()
    (one,) = of_level(found, FindingLevel.WARNING)
    assert (
        one.text
        == "B can see nothing: there is no series of DCGM_B, though there are others of dcgm-exporter"
    )


# What the file that dcgm-exporter comes with exports, without what no rule needs.
STOCK = (
    "DCGM_FI_DEV_FB_FREE",
    "DCGM_FI_DEV_FB_USED",
    "DCGM_FI_DEV_GPU_TEMP",
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE",
    "DCGM_FI_DEV_SM_CLOCK",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_XID_ERRORS",
)


async def test_the_stock_counters_leave_rules_blind_and_the_lines_that_they_need_are_said(
    start_prometheus: StartPrometheus,
) -> None:
    at = SystemClock().now() - timedelta(minutes=10)
    stamp = f"{at.timestamp() - 5:.3f}"
    gpu = {name: query for name, query in SHIPPED.items() if "DCGM_" in query.expr}
    others = {name for query in gpu.values() for name in metric_names(query.expr)} - set(counters())
    there = ("up", *STOCK, *sorted(others))
    labels = 'Hostname="a",UUID="GPU-1",exported_namespace="ml",exported_pod="b"'
    lines = [line for name in there for line in (f"# TYPE {name} gauge", f"{name}{{{labels}}} 1 {stamp}")]
    source = PrometheusSource(PrometheusOptions(url=start_prometheus(samples=lines).url))
    try:
        found = await source.diagnose(gpu, at=at)
    finally:
        await source.close()
    (one,) = of_level(found, FindingLevel.WARNING)
    blind = {name for name, query in gpu.items() if missing_metrics(query.expr, there)}
    missing = frozenset().union(*(missing_metrics(query.expr, there) for query in gpu.values()))
    assert {"GPUThermalThrottling", "GPUXIDError"} <= blind
    assert "GPUTemperatureHigh" not in blind
    assert one.text.startswith(min(blind))
    assert [line.partition(",")[0] for line in one.lines] == sorted(missing)
    assert "DCGM_EXP_XID_ERRORS_COUNT, gauge, XID errors within the time window" in one.lines
    for name, query in gpu.items():
        if name in blind:
            needed = missing_metrics(query.expr, there)
            assert [line.partition(",")[0] for line in one.lines_of(name)] == sorted(needed)
            assert one.cause_of(name) == f"there is no series of {', '.join(sorted(needed))}"


def test_every_metric_of_dcgm_exporter_has_its_line() -> None:
    names = {name for query in SHIPPED.values() for name in metric_names(query.expr)}
    assert {name for name in names if name.startswith("DCGM_")} <= set(counters())


async def test_rules_for_what_a_cluster_does_not_use_are_one_line(start_prometheus: StartPrometheus) -> None:
    at = SystemClock().now() - timedelta(minutes=10)
    lines = ["# TYPE up gauge", f"up 1 {at.timestamp() - 5:.3f}"]
    source = PrometheusSource(PrometheusOptions(url=start_prometheus(samples=lines).url))
    expressions = ("felix_a > 1", "felix_b > 1", "metallb_a > 1", "problem_counter > 0", "volcano_a > 1")
    try:
        queries = {expr: PromQLQuery(expr=expr) for expr in expressions}
        found = await source.diagnose(queries, at=at)
    finally:
        await source.close()
    assert {one.level for one in found} == {FindingLevel.OK}
    assert [one.text for one in found[2:]] == [
        "5 rules wait until there are metrics of Calico, MetalLB, Volcano, node-problem-detector, if you use them"
    ]


async def test_a_slow_burn_of_the_error_budget_waits_for_recorded_series_and_a_fast_one_does_not(
    start_prometheus: StartPrometheus,
) -> None:
    names = ("KubeAPIErrorBudgetBurn", "KubeAPIErrorBudgetBurn6h")
    rules = read_rulebook(RulesSettings(packs=("control-plane",))).rules
    queries = {rule.name: rule.query for rule in rules if rule.name in names}
    raw = (
        "apiserver_request_sli_duration_seconds_bucket",
        "apiserver_request_sli_duration_seconds_count",
        "apiserver_request_total",
    )

    found, missing = await diagnosed(start_prometheus, queries, *((f"{name}{{}}", 1, JUST) for name in raw))

    (waits,) = (one for one in found if one.rules)
    assert (waits.level, waits.health, waits.rules) == (FindingLevel.OK, RuleHealth.WAITING, names[1:])
    assert waits.cause_of(names[1]) == (
        "there are no metrics of the recording rules of the kubernetes-mixin: load the recording rules of the "
        "kubernetes-mixin into Prometheus; kube-prometheus-stack has them"
    )
    assert [one.rules for one in missing] == [names[1:]]


NODE_QUERIES = {
    "Load": PromQLQuery(expr="node_load1 > 1"),
    "Memory": PromQLQuery(expr="node_memory_Free_bytes < 1"),
}


def written(at: datetime, *samples: tuple[str, float, timedelta]) -> list[str]:
    """Return lines of OpenMetrics: each sample with its value, so long before `at`."""
    ordered = sorted(samples, key=lambda one: (one[0].partition("{")[0], -one[2]))
    lines: dict[str, list[str]] = {}
    for series, value, ago in ordered:
        name = series.partition("{")[0]
        lines.setdefault(name, [f"# TYPE {name} gauge"]).append(
            f"{series} {value} {(at - ago).timestamp():.3f}"
        )
    return [line for some in lines.values() for line in some]


async def diagnosed(
    start_prometheus: StartPrometheus, queries: Mapping[str, Query], *samples: tuple[str, float, timedelta]
) -> tuple[Sequence[Finding], Sequence[MissingMetrics]]:
    at = SystemClock().now() - timedelta(minutes=10)
    server = start_prometheus(samples=written(at, ('up{job="other"}', 1, JUST), *samples))
    source = PrometheusSource(PrometheusOptions(url=server.url))
    try:
        found, missing = await source.diagnose(queries, at=at), await source.missing(queries, at=at)
    finally:
        await source.close()
    assert not isinstance(missing, Blind)
    return found, missing


JUST = timedelta(seconds=5)
HOUR = timedelta(hours=1)


async def test_a_target_that_is_down_is_the_cause_even_if_it_never_answered(
    start_prometheus: StartPrometheus,
) -> None:
    down = ('up{job="monitoring/node-exporter",instance="a"}', 0.0, JUST)
    found, (missing,) = await diagnosed(start_prometheus, NODE_QUERIES, down)
    (one,) = of_level(found, FindingLevel.BROKEN)
    assert one.cause == (
        "there is no series of node_load1, node_memory_Free_bytes: "
        "Prometheus gets nothing from any target of monitoring/node-exporter"
    )
    assert one.rules == ("Load", "Memory")
    assert (missing.cause, missing.lost) == (MissingCause.TARGET_DOWN, ())


async def test_the_target_that_gave_the_metrics_before_is_the_one_that_is_down(
    start_prometheus: StartPrometheus,
) -> None:
    found, (missing,) = await diagnosed(
        start_prometheus,
        NODE_QUERIES,
        ('up{job="machines",instance="a"}', 0.0, JUST),
        ('node_load1{job="machines",instance="a"}', 1.0, HOUR),
    )
    (one,) = of_level(found, FindingLevel.BROKEN)
    assert one.cause.endswith("from any target of machines; node_load1 had series within the last 14 days")
    assert (missing.cause, missing.lost) == (MissingCause.TARGET_DOWN, ("node_load1",))


async def test_metrics_that_came_and_went_are_lost_only_if_they_are_always_given(
    start_prometheus: StartPrometheus,
) -> None:
    queries = {**NODE_QUERIES, "Raid": PromQLQuery(expr="node_md_disks > 1")}
    found, (missing,) = await diagnosed(
        start_prometheus,
        queries,
        ('node_load1{job="node"}', 1.0, JUST),
        ('node_memory_Free_bytes{job="node"}', 1.0, HOUR),
        ('node_md_disks{job="node"}', 1.0, HOUR),
    )
    (one,) = of_level(found, FindingLevel.WARNING)
    assert one.rules == ("Memory", "Raid")
    assert missing.cause is MissingCause.NOT_EXPORTED
    assert missing.metrics == ("node_md_disks", "node_memory_Free_bytes")
    assert missing.lost == ("node_memory_Free_bytes",)


async def test_some_targets_of_a_job_that_are_down_are_said(start_prometheus: StartPrometheus) -> None:
    found, missing = await diagnosed(
        start_prometheus,
        {"Load": NODE_QUERIES["Load"]},
        ('up{job="node",instance="a"}', 1.0, JUST),
        ('up{job="node",instance="b"}', 0.0, JUST),
        ('node_load1{job="node",instance="a"}', 1.0, JUST),
    )
    assert missing == ()
    (one,) = of_level(found, FindingLevel.WARNING)
    assert one.text.startswith("Prometheus gets nothing from 1 of 2 targets of node")


async def test_rules_whose_newest_sample_is_old_see_late(start_prometheus: StartPrometheus) -> None:
    queries = {**NODE_QUERIES, "Up": PromQLQuery(expr="up == 0")}
    found, missing = await diagnosed(
        start_prometheus,
        queries,
        ('node_load1{job="node"}', 1.0, timedelta(minutes=4)),
        ('node_memory_Free_bytes{job="node"}', 1.0, timedelta(minutes=4)),
    )
    assert missing == ()
    (one,) = of_level(found, FindingLevel.WARNING)
    assert (one.health, one.rules) == (RuleHealth.LATE, ("Load", "Memory"))
    assert one.cause == "the newest sample of node_exporter is 4 min old"


@pytest.mark.parametrize(("seconds", "rules"), [(60, ()), (120, ("Rate",)), (300, ("Least", "Rate"))])
async def test_rules_whose_windows_are_too_short_for_the_scrapes(
    start_prometheus: StartPrometheus, seconds: int, rules: tuple[str, ...]
) -> None:
    queries = {
        "Rate": PromQLQuery(expr="rate(node_vmstat_pgmajfault[2m]) > 1"),
        "Least": PromQLQuery(expr="min_over_time(node_load1[2m]) > 1"),
        "Long": PromQLQuery(expr="rate(node_vmstat_pgmajfault[1h]) > 1 and node_load1 > 1"),
    }
    names = ("node_load1", "node_vmstat_pgmajfault", "up")
    at = SystemClock().now() - timedelta(minutes=10)
    samples: list[str] = []
    for name in names:
        samples.append(f"# TYPE {name} gauge")
        samples += (
            f'{name}{{job="node"}} 1 {at.timestamp() - 5 - number * seconds:.3f}'
            for number in range(3600 // seconds, -1, -1)
        )
    source = PrometheusSource(PrometheusOptions(url=start_prometheus(samples=samples).url))
    try:
        found = of_level(await source.diagnose(queries, at=at), FindingLevel.WARNING)
    finally:
        await source.close()
    assert tuple(rule for one in found for rule in one.rules) == rules
    assert all("node_exporter is scraped every" in one.cause for one in found)
    assert {one.fix for one in found} <= {"scrape it every 1 min 8 s or more often"}
