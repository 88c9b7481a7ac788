"""The rules of the GPU pack on a real Prometheus with every dialect of dcgm-exporter."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from collectors.facts.clock import SystemClock
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Seen
from collectors.facts.subjects import Subject
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from tests.real.fixtures import StartPrometheus
from tests.support.gpu_dialects import TEN, GpuNode, recorded, topology_of

END = SystemClock().now().replace(microsecond=0) - timedelta(minutes=10)
RULES = {rule.name: rule for rule in read_rulebook(RulesSettings(packs=("gpu",))).rules}


@asynccontextmanager
async def source_of(url: str, nodes: tuple[GpuNode, ...] | None = TEN) -> AsyncIterator[PrometheusSource]:
    source = PrometheusSource(PrometheusOptions(url=url))
    if nodes is not None:
        source.follow(lambda: topology_of(nodes))
    try:
        yield source
    finally:
        await source.close()


async def seen(source: PrometheusSource, rule: Rule) -> Seen:
    assert isinstance(rule.query, PromQLQuery)
    found = await source.query(rule.query, at=END)
    assert isinstance(found, Seen), found
    return found


def subjects(rule: Rule, found: Seen) -> list[Subject]:
    renderer = RuleRenderer(topology_of, clean=lambda text: text)
    labels = [renderer.labels(rule, sample) for sample in found.samples]
    return [renderer.complete(renderer.subject(one)) for one in labels]


def summaries(rule: Rule, found: Seen) -> list[str]:
    renderer = RuleRenderer(topology_of, clean=lambda text: text)
    return [renderer.annotations(rule, sample)["summary"] for sample in found.samples]


def by_node(found: Sequence[Subject]) -> Mapping[str, Subject]:
    assert len({one.node for one in found}) == len(found)
    return {one.node: one for one in found}


@pytest.mark.parametrize("job", ["dcgm-exporter", "dcgm-{node}"], ids=["one job", "a job each"])
async def test_each_dialect_names_its_node_its_gpu_and_its_pod(
    start_prometheus: StartPrometheus, job: str
) -> None:
    server = start_prometheus(samples=recorded(TEN, end=END, job=job))
    everything = {one.name for one in TEN}
    async with source_of(server.url) as source:
        hot = await seen(source, RULES["GPUTemperatureHigh"])
        found = by_node(subjects(RULES["GPUTemperatureHigh"], hot))
        assert set(found) == everything
        assert {(one.gpu, one.uuid) for one in found.values()} == {("0", one.uuid(0)) for one in TEN}
        assert {one.node: one.training or one.pod for one in found.values()} == dict.fromkeys(found, "")
        for name in everything:
            assert any(
                f"GPU 0 on {name} is hot" in one for one in summaries(RULES["GPUTemperatureHigh"], hot)
            )

        xid = await seen(source, RULES["GPUXIDChanged"])
        assert set(by_node(subjects(RULES["GPUXIDChanged"], xid))) == everything

        idle = await seen(source, RULES["GPUIdle"])
        pods = {(one.namespace, one.pod): one.node for one in subjects(RULES["GPUIdle"], idle)}
        assert pods == {one.holder[:2]: one.name for one in TEN}


async def test_presence_names_the_same_gpus(start_prometheus: StartPrometheus) -> None:
    server = start_prometheus(samples=recorded(TEN, end=END))
    async with source_of(server.url) as source:
        found = await seen(source, RULES["GPUTemperatureHigh"])
    assert found.present is not None
    assert {one["Hostname"] for one in found.present} == {one.name for one in TEN}
    assert len(found.present) == 2 * len(TEN)
