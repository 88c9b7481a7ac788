"""A source that becomes unavailable: nothing resolves, the card says so, and missed evaluations are backfilled."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from tests.support.light import CLUSTER, HOT, Light, PushedClock, light, ready_node
from tests.support.log_documents import host_line
from tests.support.rule_file import error_logs, rule, rule_file
from tests.support.scripted_prometheus import Truth

MORE_NODES = ("log-a01", "log-a02", "sick-a01", "sick-a02")
CHECKED = rule_file(
    "story-own",
    rule("KubeNodeNotReady", "{{ $labels.node }} is not ready.", check="node-not-ready"),
    error_logs(above=2),
    {**rule("YardmasterSourceBlind", "Blind: {{ $labels.component }}.", check="source-blind"), "for": "1s"},
)


@dataclass(frozen=True, kw_only=True)
class Outage:
    """How a source becomes unavailable, and how it comes back."""

    source: str
    begin: Callable[[Light], Awaitable[Any]]
    end: Callable[[Light], Awaitable[Any]]


def of_prometheus(how: str) -> Outage:
    return Outage(
        source="prometheus",
        begin=lambda stage: stage.prometheus.goes(how),
        end=lambda stage: stage.prometheus.goes(""),
    )


def of_elastic(begin: Callable[[Light], Any]) -> Outage:
    async def now(stage: Light) -> None:
        begin(stage)

    async def heal(stage: Light) -> None:
        stage.elastic.faults.heal()

    return Outage(source="elasticsearch", begin=now, end=heal)


def of_kubernetes(begin: Callable[[Light], Callable[[], None]]) -> Outage:
    heals: dict[int, Callable[[], None]] = {}

    async def now(stage: Light) -> None:
        heals[id(stage)] = begin(stage)

    async def heal(stage: Light) -> None:
        heals.pop(id(stage))()

    return Outage(source="kubernetes", begin=now, end=heal)


def paused(stage: Light) -> Callable[[], None]:
    stage.kube.pause()
    return stage.kube.resume


OUTAGES = {
    "Prometheus refuses connections": of_prometheus("refused"),
    "Prometheus hangs": of_prometheus("hang"),
    "Prometheus answers 503": of_prometheus("503"),
    "Prometheus answers in part, with warnings": of_prometheus("warnings"),
    "Elasticsearch refuses connections": Outage(
        source="elasticsearch", begin=lambda stage: stage.elastic.down(), end=lambda stage: stage.elastic.up()
    ),
    "Elasticsearch hangs": of_elastic(lambda stage: stage.elastic.faults.pause()),
    "Elasticsearch answers 503": of_elastic(lambda stage: stage.elastic.faults.fail(503, times=10**6)),
    "Elasticsearch answers in part, with failed shards": of_elastic(
        lambda stage: stage.elastic.faults.partial(1, times=10**6)
    ),
    "Elasticsearch answers in part, out of time": of_elastic(
        lambda stage: stage.elastic.faults.time_out(times=10**6)
    ),
    "Kubernetes hangs": of_kubernetes(paused),
    "Kubernetes answers 503": of_kubernetes(lambda stage: stage.block(lambda seen: True, 503)),
    "Kubernetes hides the nodes, with 403": of_kubernetes(
        lambda stage: stage.block(lambda seen: seen.path == "/api/v1/nodes", 403)
    ),
}


def not_ready(stage: Light, name: str, status: str = "False") -> None:
    condition = {"type": "Ready", "status": status, "reason": "KubeletNotReady", "message": "PLEG"}
    stage.kube.patch("nodes", "", name, {"status": {"conditions": [condition]}}, status=True)


async def errors(stage: Light, node: str) -> None:
    at = stage.clock.now() - timedelta(seconds=1)
    lines = [host_line(at, f"oops {n}", node=node, unit="kubelet", level="error") for n in range(5)]
    await stage.elastic.index(lines)


async def state(stage: Light) -> tuple[set[Any], list[Any]]:
    """Return the current alerts and incidents, without times and without those about blindness itself."""
    async with stage.yard.store.unit() as unit:
        alerts = await unit.rows(Alert).find(cluster=CLUSTER)
        incidents = await unit.rows(Incident).find(cluster=CLUSTER)
    current = {
        (alert.name, alert.labels, alert.life.state)
        for alert in alerts
        if alert.name != "YardmasterSourceBlind"
    }
    summaries = sorted(
        (
            one.group_key,
            one.state,
            one.severity.value,
            sorted((member.name, member.state.value, member.summary) for member in one.members),
            [event.type.value for event in one.events],
        )
        for one in incidents
        if "YardmasterSourceBlind" not in {member.name for member in one.members}
    )
    return current, summaries


async def group_keys(stage: Light, which: str) -> set[str]:
    async with stage.yard.store.unit() as unit:
        return {
            one.group_key for one in await unit.rows(Incident).find(cluster=CLUSTER) if one.state == which
        }


async def has(stage: Light, which: str, *expected: str) -> None:
    """Wait until these are among the incidents in that state."""

    async def has_all(unit: Any) -> bool:
        return set(expected) <= {
            one.group_key for one in await unit.rows(Incident).find(cluster=CLUSTER, state=which)
        }

    await stage.until_kept(has_all)


@pytest.fixture(params=list(OUTAGES.values()), ids=list(OUTAGES))
def outage(request: pytest.FixtureRequest) -> Outage:
    found: Outage = request.param
    return found


FIRST = ("node/gpu-a01", "node/log-a01", "node/sick-a01")
LATER = {
    "prometheus": ("node/gpu-b01", "node/gpu-a02"),
    "elasticsearch": ("node/log-a02",),
    "kubernetes": ("node/sick-a02",),
}


async def test_an_unavailable_source_resolves_nothing_and_is_backfilled(
    tmp_path: Path, outage: Outage
) -> None:
    truth, clock = Truth(), PushedClock()
    async with (
        light(tmp_path / "blind", own_rules=CHECKED, truth=truth, clock=clock) as blind,
        light(tmp_path / "healthy", own_rules=CHECKED, truth=truth, clock=clock) as healthy,
    ):
        both = (blind, healthy)
        for stage in both:
            for name in MORE_NODES:
                ready_node(stage.kube, name)
            not_ready(stage, "sick-a01")
            await errors(stage, "log-a01")
        truth.say(HOT, ({"node": "gpu-a01", "gpu": "3"}, 91), since=clock.now())
        for stage in both:
            await has(stage, "open", *FIRST)

        await outage.begin(blind)
        evaluator = blind.yard.evaluators[CLUSTER]
        await blind.until(lambda: outage.source in evaluator.blind)

        truth.say(
            HOT,
            ({"node": "gpu-b01", "gpu": "0"}, 99),
            ({"node": "gpu-a02", "gpu": "1"}, 88),
            since=clock.now(),
        )
        for stage in both:
            not_ready(stage, "sick-a01", "True")
            not_ready(stage, "sick-a02")
            await errors(stage, "log-a02")
        await has(healthy, "open", "node/gpu-a02", "node/gpu-b01", "node/log-a02", "node/sick-a02")
        await asyncio.sleep(1)  # so that no evaluation of either falls between
        truth.say(HOT, ({"node": "gpu-b01", "gpu": "0"}, 99), since=clock.now())  # gpu-a02 fired and resolved
        await has(healthy, "resolved", "node/gpu-a01", "node/gpu-a02", "node/sick-a01")
        blind_card = await blind.card(f"Blind: {outage.source}")
        await blind.next_rounds(1)

        gone = {"prometheus": FIRST[0], "elasticsearch": FIRST[1], "kubernetes": FIRST[2]}[outage.source]
        assert gone in await group_keys(blind, "open")
        assert not set(LATER[outage.source]) & (
            await group_keys(blind, "open") | await group_keys(blind, "resolved")
        )
        assert outage.source in blind_card.said
        card = await blind.card(f"{gone.removeprefix('node/')} ")
        await blind.slack.until(lambda: "Cannot see it now" in card.said, 60)
        assert len(blind.cards()) == len({one.said.splitlines()[0] for one in blind.cards()})

        await outage.end(blind)
        await blind.until(lambda: not evaluator.blind, 60)
        await blind.next_rounds(2)
        assert await state(blind) == await state(healthy)
        await blind.slack.until(lambda: "✅" in blind_card.said, 60)
        await blind.slack.until(lambda: "Cannot see it now" not in card.said, 60)
