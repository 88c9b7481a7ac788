"""The card of a node names the pods that are probably behind it, whose they are, and nothing that is not known."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from alerts.cards.culprits import Culprit, culprits_texts, wanted_culprits
from alerts.cards.incident_card import incident_card
from alerts.cards.incident_context import IncidentContext
from alerts.cards.text import plain
from alerts.incidents.incident import Incident
from alerts.rules import Culprits, Rule
from bot.jobs.culprit_finder import MOST, CulpritFinder
from collectors.cluster.inventory import Inventory
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult, Sample, Seen, SourceError
from collectors.trainings.training import Rank, Training, TrainingState
from commands.incident.culprit_search import in_trouble
from tests.alerts.packs.shipped import shipped_rules
from tests.support import objects
from tests.support.alerting import NOON, a_rule, an_alert, minutes
from tests.support.chat import LoopClock
from tests.support.incidents import an_open_incident
from tests.support.memory_store import MemoryStore
from tests.support.shown import lines_of
from tests.support.trainings import a_training

GIB = 2.0**30


def a_rule_for(kind: Culprits) -> Rule:
    made = a_rule("Full")
    return replace(made, template=replace(made.template, culprits=kind))


def an_incident(
    kind: Culprits, *, id: str = "i1", texts: tuple[str, ...] = ()
) -> tuple[Incident, dict[str, Rule]]:
    rule = a_rule_for(kind)
    opened = an_open_incident(an_alert("Full", node="gpu-a01"))
    member = replace(opened.members[0], rule=rule.id, texts=texts)
    return replace(opened, id=id, cluster="prod-a", members=(member,)), {rule.id: rule}


def waiting(reason: str, restarts: int) -> dict[str, Any]:
    state = {"waiting": {"reason": reason}}
    return {
        "phase": "Running",
        "containerStatuses": [{"name": "main", "restartCount": restarts, "state": state}],
    }


def a_pod(name: str, *, node: str = "gpu-a01", status: dict[str, Any] | None = None) -> Any:
    return objects.pod(name, "vision-detr", spec={"nodeName": node}, status=status or {"phase": "Running"})


@dataclass
class Cluster:
    """A cluster of these pods, whose Prometheus has their memory."""

    pods: Sequence[Any]
    memory: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""  # why Prometheus does not answer
    is_seen: bool = True
    queries: list[str] = field(default_factory=list)

    def inventory(self) -> Inventory:
        if not self.is_seen:
            raise SourceError("it does not answer")
        return objects.inventory(*self.pods)

    def trainings(self) -> Sequence[Training]:
        ranks = tuple(Rank(role="worker", index=n, pod=pod.metadata.name) for n, pod in enumerate(self.pods))
        return (a_training("vision-detr", "detr", TrainingState.RUNNING, owner="ana", ranks=ranks[:2]),)

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        self.queries.append(query.expr)
        if self.reason:
            return Blind(source="prometheus", at=at, reason=self.reason)
        samples = tuple(
            Sample(labels=Labels({"namespace": "vision-detr", "pod": pod}), value=value)
            for pod, value in self.memory.items()
        )
        return Seen(source="prometheus", at=at, samples=samples)


def test_the_pods_in_trouble_are_named_those_of_the_line_first() -> None:
    incident, rules = an_incident(Culprits.TROUBLE, texts=("Error syncing pod vision-detr/loop",))
    seen = Cluster(
        pods=(
            a_pod("detr-0", status=waiting("CrashLoopBackOff", 40)),
            a_pod("loop", status=waiting("CrashLoopBackOff", 3)),
            a_pod("fine"),
            a_pod("far", node="gpu-a02", status=waiting("CrashLoopBackOff", 9)),
        )
    )
    found = in_trouble(incident, rules, seen)
    assert [(one.pod, one.figure, one.owner) for one in found] == [
        ("vision-detr/loop", "CrashLoopBackOff, 3 restarts", "ana"),
        ("vision-detr/detr-0", "CrashLoopBackOff, 40 restarts", "ana"),
    ]
    (line,) = culprits_texts(found, {"ana": "U7"})
    assert plain(line).startswith("In trouble on it: vision-detr/loop of ana, CrashLoopBackOff, 3 restarts; ")


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(None, id="no cluster"),
        pytest.param(Cluster(pods=(), is_seen=False), id="it cannot be seen"),
        pytest.param(Cluster(pods=(a_pod("fine"),)), id="nothing is in trouble"),
    ],
)
def test_what_is_not_known_is_not_said(seen: Cluster | None) -> None:
    incident, rules = an_incident(Culprits.TROUBLE)
    assert in_trouble(incident, rules, seen) == ()
    card = incident_card(incident, context=IncidentContext(rules=rules), now=NOON)
    assert "In trouble" not in "\n".join(lines_of(card))


def test_only_an_alert_that_stands_asks_for_them() -> None:
    incident, rules = an_incident(Culprits.MEMORY)
    assert wanted_culprits(incident, rules, Culprits.MEMORY) == "gpu-a01"
    assert wanted_culprits(incident, rules, Culprits.TROUBLE) == ""
    over = replace(incident, resolved_at=NOON + minutes(5))
    assert wanted_culprits(over, rules, Culprits.MEMORY) == ""


@dataclass
class Stage:
    """A finder, the cluster that it asks, and the clusters whose cards it has marked."""

    finder: CulpritFinder
    store: MemoryStore
    cluster: Cluster
    marked: list[str]


async def a_stage(cluster: Cluster, *incidents: Incident, rules: Mapping[str, Rule]) -> Stage:
    store, marked = MemoryStore(), list[str]()
    known: Any = {"prod-a": cluster}
    finder = CulpritFinder(store, known, lambda: rules, LoopClock(), on_change=marked.append)
    store.listen(finder.wake)
    async with store.unit() as unit:
        for incident in incidents:
            await unit.rows(Incident).put(incident)
    return Stage(finder, store, cluster, marked)


PODS = tuple(a_pod(name) for name in ("detr-0", "detr-1", "leak", "small", "none"))
FULL = {"detr-0": 96 * GIB, "detr-1": 90 * GIB, "leak": 800 * GIB, "small": GIB}


async def test_the_pods_with_the_most_memory_are_named_with_figure_and_owner() -> None:
    incident, rules = an_incident(Culprits.MEMORY)
    stage = await a_stage(Cluster(pods=PODS, memory=FULL), incident, rules=rules)
    assert await stage.finder.look()
    found = stage.finder.of(incident)
    assert found[:2] == (
        Culprit(kind=Culprits.MEMORY, pod="vision-detr/leak", figure="800 GiB"),
        Culprit(kind=Culprits.MEMORY, pod="vision-detr/detr-0", figure="96 GiB", owner="ana"),
    )
    assert len(found) == 3
    assert stage.marked == ["prod-a"]
    card = incident_card(incident, context=IncidentContext(rules=rules, culprits=found), now=NOON)
    said = "\n".join(lines_of(card))
    assert "Most memory on it: vision-detr/leak, 800 GiB; vision-detr/detr-0 of " in said.replace("`", "")
    stage.cluster.memory = {**FULL, "leak": 810 * GIB}
    await stage.finder.look()
    assert stage.finder.of(incident)[0].figure == "810 GiB"
    assert stage.marked == ["prod-a"], "the figures alone edit no card at once"


async def test_the_pods_that_use_the_most_cpus_are_named() -> None:
    incident, rules = an_incident(Culprits.CPU)
    used = {"detr-0": 9.96, "detr-1": 1.0, "leak": 48.2, "small": 0.2}
    stage = await a_stage(Cluster(pods=PODS, memory=used), incident, rules=rules)
    await stage.finder.look()
    assert "container_cpu_usage_seconds_total" in stage.cluster.queries[0]
    found = [(one.pod, str(one.figure), one.owner) for one in stage.finder.of(incident)]
    assert found == [
        ("vision-detr/leak", "48 CPUs", ""),
        ("vision-detr/detr-0", "10 CPUs", "ana"),
        ("vision-detr/detr-1", "1 CPU", "ana"),
    ]


async def test_the_shipped_rules_about_busy_cpus_name_the_pods() -> None:
    wanted = {rule.name for rule in shipped_rules().values() if rule.template.culprits is Culprits.CPU}
    assert wanted == {"NodeCPUHighUsage", "NodeCPUOverload"}


@pytest.mark.parametrize(
    "change", [{"reason": "no answer"}, {"is_seen": False}], ids=["Prometheus", "cluster"]
)
async def test_what_is_not_known_any_more_is_left_out(change: dict[str, Any]) -> None:
    incident, rules = an_incident(Culprits.MEMORY)
    stage = await a_stage(Cluster(pods=PODS, memory=FULL), incident, rules=rules)
    await stage.finder.look()
    for name, value in change.items():
        setattr(stage.cluster, name, value)
    await stage.finder.look()
    assert stage.finder.of(incident) == ()
    assert stage.marked == ["prod-a", "prod-a"]


async def test_nothing_is_asked_for_incidents_that_do_not_want_it_or_are_over() -> None:
    other, rules = an_incident(Culprits.TROUBLE)
    stage = await a_stage(Cluster(pods=PODS, memory=FULL), other, rules=rules)
    assert not await stage.finder.look()
    assert stage.cluster.queries == []
    incident, rules = an_incident(Culprits.MEMORY)
    stage = await a_stage(Cluster(pods=PODS, memory=FULL), incident, rules=rules)
    await stage.finder.look()
    assert stage.finder.of(replace(incident, resolved_at=NOON)) == ()


async def test_a_storm_asks_about_a_few_at_a_time() -> None:
    incidents = [an_incident(Culprits.MEMORY, id=f"i{number}")[0] for number in range(MOST + 5)]
    _, rules = an_incident(Culprits.MEMORY)
    stage = await a_stage(Cluster(pods=PODS, memory=FULL), *incidents, rules=rules)
    await stage.finder.look()
    assert len(stage.cluster.queries) == MOST


@pytest.mark.looptime
async def test_it_looks_when_an_incident_is_opened_and_every_minute_after_it() -> None:
    incident, rules = an_incident(Culprits.MEMORY)
    stage = await a_stage(Cluster(pods=PODS, memory=FULL), rules=rules)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(stage.finder.run())
        await asyncio.sleep(timedelta(hours=1).total_seconds())
        assert stage.cluster.queries == []
        async with stage.store.unit() as unit:
            await unit.rows(Incident).put(incident)
        await asyncio.sleep(5)
        assert len(stage.cluster.queries) == 1
        await asyncio.sleep(120)
        assert len(stage.cluster.queries) == 3
        running.cancel()
