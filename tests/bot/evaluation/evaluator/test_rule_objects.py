"""The rules of PrometheusRule objects through a restart: what they hold goes on, and ends only when they are gone."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from alerts.alert import Alert
from alerts.rules import Rule
from bot.evaluation.evaluator import OBJECTS_EVERY, Evaluator, RuleSources
from bot.evaluation.recorder import CardRouting, IncidentRecorder
from bot.evaluation.scheduler import RuleScheduler
from bot.metrics import Metrics
from bot.store.memory_store import MemoryStore
from collectors.facts.results import SourceError
from collectors.query_router import QueryRouter
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, a_topology
from tests.support.evaluation import Canned, hot, no_cluster


@dataclass(slots=True)
class Objects:
    """A cluster's PrometheusRule objects: one in each of these namespaces, with these rules; or none to be seen."""

    rules: list[dict[str, str]]
    is_away: bool = False
    name: str = "theirs"
    spaces: tuple[str, ...] = ("team",)

    async def pages(self, path: str) -> AsyncIterator[bytes]:
        if self.is_away:
            raise SourceError(f"{path} cannot be reached")
        spec = {"groups": [{"name": "g", "interval": "1m", "rules": self.rules}]}
        metas = [{"namespace": space, "name": self.name} for space in self.spaces]
        yield json.dumps({"items": [{"metadata": meta, "spec": spec} for meta in metas]}).encode()


@dataclass(slots=True)
class House:
    """A store that stays, and processes that come and go on it."""

    objects: Objects
    hot: tuple[int, int] = (0, 600)  # the minutes
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: Any = field(default_factory=lambda: SimpleNamespace(at=NOON))

    async def begins(self, *own: Rule) -> Evaluator:
        clock: Any = SimpleNamespace(now=lambda: self.clock.at)
        cluster: Any = SimpleNamespace(name=CLUSTER, cache=None, pod_logs=self.objects, topology=a_topology)
        router = QueryRouter(metrics=Canned(hot(self.hot)), logs=None, checks={}, check_input=no_cluster)
        evaluator = Evaluator(
            cluster,
            RuleScheduler(CLUSTER, own, router, a_renderer()),
            IncidentRecorder(CLUSTER, self.store, CardRouting(default="C1")),
            router,
            rules=RuleSources(shipped=own, reads_objects=True),
            clock=clock,
            metrics=Metrics(),
        )
        await evaluator.begin()
        await evaluator.run_cycle()
        return evaluator

    async def turns(self, evaluator: Evaluator) -> None:
        self.clock.at += OBJECTS_EVERY
        await evaluator.run_cycle()

    async def happened(self) -> list[str]:
        async with self.store.unit() as unit:
            return [event.type.value for one in await unit.incidents.find() for event in one.events]

    async def alerts(self) -> Sequence[Alert]:
        async with self.store.unit() as unit:
            return await unit.alerts.find()


def one(name: str, **more: str) -> dict[str, str]:
    return {"alert": name, "expr": "heat > 83", **more}


async def test_a_restart_ends_no_alert_of_theirs() -> None:
    house = House(Objects([one("Theirs")]))
    await house.begins()

    house.clock.at += OBJECTS_EVERY
    await house.begins()

    assert await house.happened() == ["opened"]


async def test_while_the_objects_cannot_be_read_after_a_restart_nothing_of_theirs_ends() -> None:
    house = House(Objects([one("Theirs")]))
    await house.begins()
    house.objects.is_away = True
    evaluator = await house.begins()
    await house.turns(evaluator)
    during = await house.happened()

    house.objects.is_away = False
    await house.turns(evaluator)

    assert during == ["opened"]
    assert await house.happened() == ["opened"]


async def test_what_one_of_them_would_have_told_while_the_process_was_down_is_told() -> None:
    house = House(Objects([one("Theirs")]), hot=(3, 6))
    await house.begins(a_rule("Ours"))
    house.clock.at += 10 * OBJECTS_EVERY

    await house.begins(a_rule("Ours"))

    assert sorted((alert.name, alert.life.state.value) for alert in await house.alerts()) == [
        ("Ours", "resolved"),
        ("Theirs", "resolved"),
    ]


async def test_what_was_taken_out_of_them_meanwhile_ends() -> None:
    house = House(Objects([one("Theirs"), one("Other", expr="other > 1")]))
    await house.begins()
    house.objects.rules = [one("Another", expr="other > 1")]

    await house.begins()

    assert "resolved" in await house.happened()


async def test_what_was_only_pending_when_its_rule_went_leaves_no_trace() -> None:
    house = House(Objects([one("Theirs"), one("Later", **{"for": "1h"})]))
    evaluator = await house.begins()
    house.objects.rules = [one("Theirs")]

    await house.turns(evaluator)

    assert [alert.name for alert in await house.alerts()] == ["Theirs"]
    async with house.store.unit() as unit:
        (incident,) = await unit.incidents.find()
    assert [member.name for member in incident.members] == ["Theirs"]


async def test_a_rule_of_theirs_never_stands_for_one_of_ours() -> None:
    house = House(Objects([one("Same")], name="ours"))
    ours = replace(a_rule("Same"), id="ours/g/Same")

    evaluator = await house.begins(ours)

    assert sorted(evaluator.rules) == ["ours/g/Same", "team:ours/g/Same"]
    assert evaluator.rules[ours.id] == ours


async def test_rules_keep_their_ids_when_an_object_of_the_same_name_goes() -> None:
    house = House(Objects([one("Same")], spaces=("team-a", "team-b")))
    evaluator = await house.begins()
    before = set(evaluator.rules)
    house.objects.spaces = ("team-b",)

    await house.turns(evaluator)

    assert set(evaluator.rules) == {id for id in before if id.startswith("team-b")} != before
