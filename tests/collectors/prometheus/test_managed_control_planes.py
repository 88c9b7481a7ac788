"""A managed control plane: the doctor says once what it keeps to itself, not as broken, and a setting silences it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from bot.settings.source_options import prometheus_options
from bot.settings.source_settings import PrometheusSettings
from collectors.facts.clock import SystemClock
from collectors.facts.findings import Finding, FindingLevel, RuleHealth
from collectors.facts.missing_metrics import MissingMetrics
from collectors.facts.promql.selectors import metric_names
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind
from collectors.sources.prometheus.exporters import exporter_of
from collectors.sources.prometheus.source import PrometheusSource
from tests.real.fixtures import StartPrometheus

HIDDEN = ("etcd", "the scheduler", "the controllers")
QUERIES = {
    rule.name: rule.query
    for rule in read_rulebook(RulesSettings(packs=("control-plane",))).rules
    if isinstance(rule.query, PromQLQuery)
}
THERE = sorted(
    name
    for query in QUERIES.values()
    for name in metric_names(query.expr)
    if exporter_of(name).name not in HIDDEN
)


async def diagnosed(
    start_prometheus: StartPrometheus, *unexposed: str, before: str = ""
) -> tuple[Sequence[Finding], Sequence[MissingMetrics]]:
    """Return what is found where all but the parts of the control plane is scraped. `before`: a metric of a day ago."""
    at = SystemClock().now() - timedelta(minutes=10)
    lines = [line for name in ("up", *dict.fromkeys(THERE)) for line in _sample(name, at)]
    lines += _sample(before, at - timedelta(days=1)) if before else []
    settings = PrometheusSettings(url=start_prometheus(samples=lines).url, unexposed=unexposed)
    source = PrometheusSource(prometheus_options(settings))
    try:
        missing = await source.missing(QUERIES, at=at)
        assert not isinstance(missing, Blind)
        return await source.diagnose(QUERIES, at=at), missing
    finally:
        await source.close()


def _sample(name: str, at: datetime) -> list[str]:
    return [f"# TYPE {name} gauge", f"{name} 1 {at.timestamp() - 5:.3f}"]


async def test_what_is_not_exposed_is_one_finding_that_is_not_broken(
    start_prometheus: StartPrometheus,
) -> None:
    found, _ = await diagnosed(start_prometheus)
    (one,) = (finding for finding in found if any(name in finding.text for name in HIDDEN))
    assert one.level is FindingLevel.WARNING
    assert one.text == (
        f"{len(one.rules)} rules cannot see: the metrics of etcd, the controllers, the scheduler are not exposed here "
        "(a managed control plane?)"
    )
    assert {"etcdNoLeader", "KubeSchedulerSlow"} <= set(one.rules)
    assert one.health is RuleHealth.BLIND
    assert one.fix.startswith(
        "if the control plane is managed, write clusters[].prometheus.unexposed: "
        "[etcd, kube-controller-manager, kube-scheduler], and its rules wait; else let Prometheus scrape"
    )
    assert not [finding for finding in found if finding.level is FindingLevel.BROKEN]


async def test_the_setting_silences_it_and_the_rules_wait(start_prometheus: StartPrometheus) -> None:
    found, missing = await diagnosed(
        start_prometheus, "etcd", "kube-scheduler", "kube-controller-manager", before="etcd_server_has_leader"
    )
    waiting = [one for one in found if "etcd" in one.text]
    assert [one.level for one in waiting] == [FindingLevel.OK]
    assert [one.health for one in waiting] == [RuleHealth.WAITING]
    assert "etcdNoLeader" in waiting[0].rules
    hidden = [one for one in missing if one.exporter in HIDDEN]
    assert all(one.is_optional and not one.lost for one in hidden), "no card complains"


async def test_what_was_scraped_lately_and_is_gone_is_broken(start_prometheus: StartPrometheus) -> None:
    found, _ = await diagnosed(start_prometheus, before="etcd_server_has_leader")
    broken = [one for one in found if one.level is FindingLevel.BROKEN]
    assert len(broken) == 1
    assert "etcd_server_has_leader" in broken[0].text
    assert [one.text for one in found if "managed control plane?" in one.text] == [
        one.text for one in found if "the controllers, the scheduler are not exposed" in one.text
    ]
