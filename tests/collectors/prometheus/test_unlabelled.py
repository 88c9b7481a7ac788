"""Rules about what no series says: the doctor says so, or they would be quiet for ever."""

from datetime import timedelta

import pytest

from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from collectors.check_catalogue import CHECKS
from collectors.check_runner import with_metrics
from collectors.facts.clock import SystemClock
from collectors.facts.findings import FindingLevel, RuleHealth
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from tests.real.fixtures import StartPrometheus

RULES = {
    rule.name: rule.query
    for rule in read_rulebook(RulesSettings(packs=("gpu",))).rules
    if rule.name in ("GPUIdle", "GPUMetricsLost", "GPUTemperatureHigh")
}
NO_POD = "no series of dcgm-exporter says its pod"
NO_UUID = "no series of dcgm-exporter says its uuid"


@pytest.mark.parametrize(
    ("labels", "causes"),
    [
        ('UUID="GPU-1",exported_namespace="ml",exported_pod="a"', {}),
        ('UUID="GPU-1",namespace="ml",pod="a"', {}),
        ('UUID="GPU-1"', {("GPUIdle",): NO_POD}),
        ('UUID="GPU-1",namespace="gpu",pod="dcgm-exporter-x7k2p"', {("GPUIdle",): NO_POD}),
        ('namespace="ml",pod="a"', {("GPUMetricsLost",): NO_UUID}),
    ],
    ids=["pods", "pods in the job's own labels", "no pod", "the exporter's own pod", "no UUID"],
)
async def test_a_label_that_no_series_has(
    start_prometheus: StartPrometheus, labels: str, causes: dict[tuple[str, ...], str]
) -> None:
    at = SystemClock().now() - timedelta(minutes=10)
    names = (
        "DCGM_FI_DEV_GPU_TEMP",
        "DCGM_FI_DEV_GPU_UTIL",
        "DCGM_FI_DEV_POWER_USAGE",
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    )
    samples = ["# TYPE up gauge", f'up{{job="dcgm"}} 1 {at.timestamp() - 5:.3f}']
    for name in names:
        series = f'{name}{{job="dcgm",Hostname="gpu-a01",gpu="0",{labels}}}'
        samples += [f"# TYPE {name} gauge", f"{series} 1 {at.timestamp() - 5:.3f}"]
    source = PrometheusSource(PrometheusOptions(url=start_prometheus(samples=samples).url))
    try:
        found = await source.diagnose(with_metrics(RULES, CHECKS), at=at)
    finally:
        await source.close()
    blind = [one for one in found if one.health is RuleHealth.BLIND]
    assert {one.rules: one.cause for one in blind} == causes
    assert {one.level for one in blind} <= {FindingLevel.WARNING}
    assert all(one.fix for one in blind)
