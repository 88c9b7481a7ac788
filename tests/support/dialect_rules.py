"""Rules of packs on a real Prometheus whose exporters speak dialects."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from alerts.rendering import RuleRenderer
from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from collectors.facts.clock import SystemClock
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from tests.support.gpu_dialects import topology_of

END = SystemClock().now().replace(microsecond=0) - timedelta(minutes=10)
RULES = {rule.name: rule for rule in read_rulebook(RulesSettings()).rules}


@asynccontextmanager
async def source_of(
    url: str, topology: Callable[[], Topology] = topology_of, **options: object
) -> AsyncIterator[PrometheusSource]:
    """A source that knows this cluster."""
    source = PrometheusSource(PrometheusOptions(url=url, **options))  # type: ignore[arg-type]
    source.follow(topology)
    try:
        yield source
    finally:
        await source.close()


async def queried(source: PrometheusSource, rule: str, at: datetime = END) -> QueryResult:
    query = RULES[rule].query
    assert isinstance(query, PromQLQuery)
    return await source.query(query, at=at)


async def seen(source: PrometheusSource, rule: str, at: datetime = END) -> Seen:
    found = await queried(source, rule, at)
    assert not isinstance(found, Blind), found.reason
    return found


def subjects(rule: str, found: Seen) -> list[Subject]:
    """Return what each sample is about, as an alert has it."""
    renderer = RuleRenderer(topology_of, clean=lambda text: text)
    labels = [renderer.labels(RULES[rule], sample) for sample in found.samples]
    return [renderer.complete(renderer.subject(one)) for one in labels]


def summaries(rule: str, found: Seen) -> list[str]:
    renderer = RuleRenderer(topology_of, clean=lambda text: text)
    return [renderer.annotations(RULES[rule], sample)["summary"] for sample in found.samples]
