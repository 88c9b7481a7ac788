"""Sources are opened from the settings by their catalogue, and a new one takes part in everything that queries."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from alerts.lifecycle import AlertState
from bot.evaluation.scheduler import RuleScheduler
from bot.live_cluster import LiveCluster, open_cluster
from bot.settings.source_settings import ClusterSettings, KubernetesSettings
from bot.source_catalogue import SOURCES, SourceParts
from collectors.check_catalogue import CHECKS
from collectors.check_runner import CheckRunner
from collectors.facts.clock import SystemClock
from collectors.facts.labels import Labels
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery, Query
from collectors.facts.redaction import Redactor
from collectors.facts.results import (
    Blind,
    LineLabels,
    LinePage,
    LogLine,
    QueryResult,
    Sample,
    Seen,
    SourceError,
)
from collectors.query_router import QueryRouter
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, minutes
from tests.support.log_matches import message
from tests.support.routing import QuietSource

ROOT = Path(__file__).parents[2]
MINIMAL: Mapping[str, Mapping[str, object]] = {
    "prometheus": {"url": "http://127.0.0.1:9"},
    "elasticsearch": {"url": "http://127.0.0.1:9"},
}


class ToySettings(BaseModel):
    """What a toy source needs: the lines that it has, by node."""

    lines: dict[str, int]


class WithToy(ClusterSettings):
    toy: ToySettings | None = None


@dataclass
class ToyLogs(QuietSource):
    """A log store of its own kind: it counts lines, and shows them."""

    name = "toy"
    query_types = frozenset({LogQuery})
    settings: ToySettings
    blind: str = ""
    closed: list[str] = field(default_factory=list)

    async def query(self, query: LogQuery, *, at: datetime) -> QueryResult:
        counts = {node: count for node, count in self.settings.lines.items() if count > query.above}
        samples = tuple(
            Sample(labels=Labels({"node": node}), value=float(count)) for node, count in counts.items()
        )
        return Seen(source=self.name, at=at, samples=samples)

    async def health(self, *, at: datetime) -> Blind | None:
        return Blind(source=self.name, at=at, reason=self.blind) if self.blind else None

    async def close(self) -> None:
        self.closed.append(self.name)

    async def lines(
        self, *, where: LineLabels, at: datetime, since: datetime | None = None, tail: int = 100
    ) -> Sequence[LogLine]:
        known = self.settings.lines.get(str(where["node"]), 0)
        return [LogLine(at=since or at, text="toy", labels=Labels())] * min(tail, known)

    async def page(
        self, *, where: LineLabels, since: datetime, until: datetime, size: int = 200, after: str = ""
    ) -> LinePage:
        return LinePage(lines=tuple(await self.lines(where=where, at=until, tail=size)))


CATALOGUE = {**SOURCES, "toy": lambda settings, _parts: ToyLogs(settings)}
QUERY = LogQuery(match=message("error"), by=("node",), over=minutes(5), above=10)
MANY_ERRORS = replace(a_rule("ManyErrors"), query=QUERY)


async def opened(stack: AsyncExitStack, **settings: object) -> LiveCluster:
    whole = WithToy.model_validate({"name": CLUSTER, "kubernetes": None, **settings})
    parts = SourceParts(redact=Redactor())
    return await open_cluster(whole, clock=SystemClock(), parts=parts, stack=stack, catalogue=CATALOGUE)


def test_each_source_of_the_settings_is_in_the_catalogue() -> None:
    sections = {
        name: next((one for one in get_args(about.annotation) if isinstance(one, type)), None)
        for name, about in ClusterSettings.model_fields.items()
    }
    sources = {
        name
        for name, kind in sections.items()
        if kind is not None and issubclass(kind, BaseModel) and kind is not KubernetesSettings
    }
    assert not sources - SOURCES.keys(), "add it to SOURCES in bot/source_catalogue.py"
    assert not SOURCES.keys() - sources, "add it to ClusterSettings in bot/settings/source_settings.py"
    assert MINIMAL.keys() == SOURCES.keys(), "add its minimal settings to MINIMAL"


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_has_its_folder_its_tests_and_a_way_out_of_the_chart(name: str) -> None:
    for folder in (f"collectors/sources/{name}", f"tests/collectors/{name}"):
        assert (ROOT / folder).is_dir(), folder
    policy = ROOT / "helm/yardmaster/templates/networkpolicy.yaml"
    assert f'"{name}"' in policy.read_text(encoding="utf-8"), (
        f"{policy.name} does not let it reach its server"
    )


@pytest.mark.parametrize("field_name", SOURCES)
async def test_a_source_is_named_like_its_field_of_the_settings(field_name: str) -> None:
    async with AsyncExitStack() as stack:
        cluster = await opened(stack, **{field_name: MINIMAL[field_name]})
        assert cluster.sources.names == (field_name,)


async def test_a_source_of_another_kind_answers_rules_and_commands() -> None:
    async with AsyncExitStack() as stack:
        cluster = await opened(stack, toy={"lines": {"gpu-a01": 12, "gpu-a02": 3}})
        router = QueryRouter(cluster.sources, CheckRunner(CHECKS, cluster.check_input, has_cluster=False))
        scheduler = RuleScheduler(
            CLUSTER,
            (MANY_ERRORS,),
            router,
            a_renderer(),
        )

        cycle = await scheduler.run_cycle(NOON)

        (alert,) = cycle.standing
        assert (alert.labels["node"], alert.life.state) == ("gpu-a01", AlertState.FIRING)
        assert [one.source for one in router.sources(at=NOON)] == ["toy"]
        assert cluster.logs is not None
        assert len(await cluster.logs.lines(where={"node": "gpu-a02"}, at=NOON)) == 3


async def test_a_source_of_another_kind_that_is_blind_ends_no_alert_and_says_so() -> None:
    async with AsyncExitStack() as stack:
        cluster = await opened(stack, toy={"lines": {"gpu-a01": 12}})
        router = QueryRouter(cluster.sources, CheckRunner(CHECKS, cluster.check_input, has_cluster=False))
        scheduler = RuleScheduler(CLUSTER, (MANY_ERRORS,), router, a_renderer())
        before = (await scheduler.run_cycle(NOON)).standing
        toy = cluster.sources.answering(LogQuery)
        assert isinstance(toy, ToyLogs)
        toy.blind, toy.settings.lines["gpu-a01"] = "it is being rebuilt", 0

        cycle = await scheduler.run_cycle(NOON + minutes(1))

        assert cycle.blind == {MANY_ERRORS.id: "it is being rebuilt"}
        assert [one.labels for one in cycle.standing] == [one.labels for one in before]
    assert toy.closed == ["toy"]


async def test_two_sources_of_the_same_queries_are_refused() -> None:
    async with AsyncExitStack() as stack:
        with pytest.raises(
            SourceError, match="prod-a: elasticsearch and toy are both a source of logs: keep one"
        ):
            await opened(stack, toy={"lines": {}}, elasticsearch=MINIMAL["elasticsearch"])


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        pytest.param(PromQLQuery(expr="up"), "metrics", id="metrics"),
        pytest.param(LogQuery(match=message("x"), by=(), over=minutes(5)), "logs", id="logs"),
        pytest.param(
            CheckQuery(name="x"), "the cluster's state", id="a check, which only the router answers"
        ),
    ],
)
async def test_a_query_without_a_source_is_blind_and_says_what_is_missing(query: Query, missing: str) -> None:
    async with AsyncExitStack() as stack:
        found = await (await opened(stack)).query(query, at=NOON)
    assert isinstance(found, Blind)
    assert found.reason == f"the settings have no source of {missing} for this cluster"


async def test_a_range_has_the_value_of_each_step() -> None:
    toy = ToyLogs(ToySettings(lines={"gpu-a01": 12}))
    (series,) = await toy.range(QUERY, start=NOON, end=NOON + minutes(2), step=minutes(1))
    assert series.points == tuple(((NOON + minutes(n)).timestamp(), 12.0) for n in range(3))
