"""PrometheusRule objects across restarts: their alerts continue, and end only when their rules are gone."""

import asyncio
import itertools
import json
import threading
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from alerts.loading import Loaded, merge
from alerts.loading import load as rule_objects_load
from alerts.routing import CardRouting
from alerts.rules import Rule
from bot.evaluation import rule_objects
from bot.evaluation.evaluator import OBJECTS_EVERY, Evaluator, RuleSources
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.scheduler import RuleScheduler
from bot.metrics import Metrics
from collectors.facts.results import SourceError
from collectors.sources.kubernetes.source import KubernetesSource
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, a_topology
from tests.support.evaluation import Canned, hot
from tests.support.memory_store import MemoryStore
from tests.support.routing import a_router


@dataclass(slots=True)
class Objects:
    """A cluster's PrometheusRule objects: one in each namespace, all with these rules, unless unreachable."""

    rules: list[dict[str, str]]
    is_unreachable: bool = False
    name: str = "team-rules"
    namespaces: tuple[str, ...] = ("team",)

    async def pages(self, path: str) -> AsyncIterator[bytes]:
        if self.is_unreachable:
            raise SourceError(f"{path} cannot be reached")
        spec = {"groups": [{"name": "g", "interval": "1m", "rules": self.rules}]}
        metas = [{"namespace": namespace, "name": self.name} for namespace in self.namespaces]
        yield json.dumps({"items": [{"metadata": meta, "spec": spec} for meta in metas]}).encode()


@dataclass(slots=True)
class Setup:
    """A store that outlives the processes that use it."""

    objects: Objects
    hot: tuple[int, int] = (0, 600)  # in minutes, the end exclusive
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: Any = field(default_factory=lambda: SimpleNamespace(at=NOON))

    async def start(self, *own: Rule) -> Evaluator:
        clock: Any = SimpleNamespace(now=lambda: self.clock.at, elapsed=lambda: self.clock.at - NOON)
        cluster: Any = SimpleNamespace(
            sources=None, name=CLUSTER, cache=None, pod_logs=self.objects, topology=a_topology
        )
        router = a_router(Canned(hot(self.hot)))
        evaluator = Evaluator(
            cluster,
            RuleScheduler(CLUSTER, own, router, a_renderer()),
            IncidentRecorder(CLUSTER, self.store, CardRouting(default="C1")),
            router,
            rules=RuleSources(shipped=own, reads_objects=True),
            clock=clock,
            metrics=Metrics(),
        )
        await evaluator.start()
        await evaluator.run_cycle()
        return evaluator

    async def next_cycle(self, evaluator: Evaluator) -> None:
        self.clock.at += OBJECTS_EVERY
        await evaluator.run_cycle()

    async def event_types(self) -> list[str]:
        async with self.store.unit() as unit:
            return [
                event.type.value for incident in await unit.rows(Incident).find() for event in incident.events
            ]

    async def alerts(self) -> Sequence[Alert]:
        async with self.store.unit() as unit:
            return await unit.rows(Alert).find()


def rule_spec(name: str, **more: str) -> dict[str, str]:
    return {"alert": name, "expr": "heat > 83", **more}


async def test_a_restart_resolves_no_alert_of_a_rule_object() -> None:
    setup = Setup(Objects([rule_spec("TeamRule")]))
    await setup.start()

    setup.clock.at += OBJECTS_EVERY
    await setup.start()

    assert await setup.event_types() == ["opened"]


async def test_alerts_stay_while_the_rule_objects_cannot_be_read_after_a_restart() -> None:
    setup = Setup(Objects([rule_spec("TeamRule")]))
    await setup.start()
    setup.objects.is_unreachable = True
    evaluator = await setup.start()
    await setup.next_cycle(evaluator)
    during = await setup.event_types()

    setup.objects.is_unreachable = False
    await setup.next_cycle(evaluator)

    assert during == ["opened"]
    assert await setup.event_types() == ["opened"]


async def test_alerts_of_a_rule_object_during_downtime_are_backfilled() -> None:
    setup = Setup(Objects([rule_spec("TeamRule")]), hot=(3, 6))
    await setup.start(a_rule("Shipped"))
    setup.clock.at += 10 * OBJECTS_EVERY

    await setup.start(a_rule("Shipped"))

    assert sorted((alert.name, alert.life.state.value) for alert in await setup.alerts()) == [
        ("Shipped", "resolved"),
        ("TeamRule", "resolved"),
    ]


async def test_alerts_of_a_rule_that_was_removed_during_downtime_resolve() -> None:
    setup = Setup(Objects([rule_spec("TeamRule"), rule_spec("Other", expr="other > 1")]))
    await setup.start()
    setup.objects.rules = [rule_spec("Another", expr="other > 1")]

    await setup.start()

    assert "resolved" in await setup.event_types()


async def test_a_pending_alert_of_a_removed_rule_leaves_no_trace() -> None:
    setup = Setup(Objects([rule_spec("TeamRule"), rule_spec("Later", **{"for": "1h"})]))
    evaluator = await setup.start()
    setup.objects.rules = [rule_spec("TeamRule")]

    await setup.next_cycle(evaluator)

    assert [alert.name for alert in await setup.alerts()] == ["TeamRule"]
    async with setup.store.unit() as unit:
        (incident,) = await unit.rows(Incident).find()
    assert [member.name for member in incident.members] == ["TeamRule"]


async def test_a_rule_object_never_replaces_a_shipped_rule() -> None:
    setup = Setup(Objects([rule_spec("Same")], name="pack"))
    shipped = replace(a_rule("Same"), id="pack/g/Same")

    evaluator = await setup.start(shipped)

    assert sorted(evaluator.rules) == ["pack/g/Same", f"{CLUSTER}:team:pack/g/Same"]
    assert evaluator.rules[shipped.id] == shipped


async def test_rules_keep_their_ids_when_an_object_of_the_same_name_is_deleted() -> None:
    setup = Setup(Objects([rule_spec("Same")], namespaces=("team-a", "team-b")))
    evaluator = await setup.start()
    before = set(evaluator.rules)
    setup.objects.namespaces = ("team-b",)

    await setup.next_cycle(evaluator)

    assert set(evaluator.rules) == {id for id in before if ":team-b:" in id} != before


async def test_without_any_rule_the_objects_are_read_and_cycles_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    setup = Setup(Objects([]))
    evaluator = await setup.start()
    monkeypatch.setattr("bot.evaluation.evaluator.MAX_PAUSE", 0.001)
    real = setup.clock

    class Running:
        """Ten seconds pass whenever somebody looks."""

        @property
        def at(self) -> datetime:
            real.at += timedelta(seconds=10)
            return real.at  # type: ignore[no-any-return]

    setup.clock = Running()
    setup.objects.rules.append(rule_spec("Theirs"))
    async with asyncio.TaskGroup() as tasks, asyncio.timeout(60):
        running = tasks.create_task(evaluator.run())
        while not (evaluator.rules and evaluator.has_evaluated):  # noqa: ASYNC110 - a cycle sends no signal
            await asyncio.sleep(0.01)
        running.cancel()

    assert {rule.name for rule in evaluator.rules.values()} == {"Theirs"}


async def test_objects_are_parsed_off_the_loop_and_once_while_they_stay_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[tuple[str, bool]] = []

    def load(text: bytes, *, file: str, **more: Any) -> Loaded:
        is_on_the_loop = threading.current_thread() is threading.main_thread()
        parsed.append((file.rpartition(":")[2], is_on_the_loop))
        return rule_objects_load(text, file=file, **more)

    monkeypatch.setattr(rule_objects, "load", load)
    setup = Setup(Objects([rule_spec("TeamRule")]))
    evaluator = await setup.start()
    await setup.next_cycle(evaluator)
    assert parsed == [("team-rules", False)]
    setup.objects.rules = [rule_spec("TeamRule"), rule_spec("Another")]
    await setup.next_cycle(evaluator)
    assert parsed == [("team-rules", False)] * 2
    assert {rule.name for rule in evaluator.rules.values()} == {"TeamRule", "Another"}


async def test_objects_are_merged_off_the_loop_and_once_while_they_stay_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    merged: list[tuple[int, bool]] = []

    def counting(files: Iterable[Loaded]) -> Loaded:
        merged.append((len(found := list(files)), threading.current_thread() is threading.main_thread()))
        return merge(found)

    monkeypatch.setattr(rule_objects, "merge", counting)
    setup = Setup(Objects([rule_spec("TeamRule")], namespaces=("a", "b")))
    evaluator = await setup.start()
    await setup.next_cycle(evaluator)
    assert merged == [(2, False)]
    setup.objects.namespaces = ("b",)
    await setup.next_cycle(evaluator)
    assert merged == [(2, False), (1, False)]


@pytest.fixture
def short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock is a second later: a round begins two objects."""
    seconds = itertools.count()
    monkeypatch.setattr(rule_objects, "time", SimpleNamespace(perf_counter=lambda: float(next(seconds))))
    monkeypatch.setattr(rule_objects, "ROUND", 2.5)


@pytest.mark.usefixtures("short_rounds")
async def test_an_object_that_is_gone_is_forgotten_also_while_no_round_can_parse_all() -> None:
    """Else whoever creates and deletes objects would fill the memory."""
    objects = Objects([rule_spec("TeamRule")])
    read = rule_objects.RuleObjects(CLUSTER)
    for number in range(10):
        objects.namespaces = tuple(f"n{number}-{one}" for one in range(4))
        found = await read.read(cast(KubernetesSource, objects))
        assert found.groups == () != found.diagnostics
        assert len(read._parsed) == 2


async def test_an_object_that_is_too_large_is_left_out_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    setup = Setup(Objects([rule_spec("TeamRule")]))
    evaluator = await setup.start()
    assert [rule.name for rule in evaluator.rules.values()] == ["TeamRule"]
    monkeypatch.setattr(rule_objects, "LARGEST", 1_000)
    setup.objects.rules = [rule_spec(f"TeamRule{number}") for number in range(100)]
    with capture_logs() as logs:
        await setup.next_cycle(evaluator)
    (said,) = [entry for entry in logs if entry["event"] == "error in a PrometheusRule"]
    assert "more than the 0 KiB that are read" in said["diagnostic"]


@pytest.mark.usefixtures("short_rounds")
async def test_more_than_a_round_can_parse_changes_no_rule_and_is_read_in_rounds() -> None:
    setup = Setup(Objects([rule_spec("TeamRule")], namespaces=("a", "b", "c", "d")))
    evaluator = await setup.start()
    assert dict(evaluator.rules) == {}
    await setup.next_cycle(evaluator)
    assert len(evaluator.rules) == 4
