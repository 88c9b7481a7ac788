"""This file tells what happens when a source goes away mid-run: nothing resolves, it is said, it is made up for."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.light import CLUSTER, HOT, Light, PushedClock, light, ready_node
from tests.support.log_documents import host_line
from tests.support.scripted_prometheus import Truth

MORE_NODES = ("log-a01", "log-a02", "sick-a01", "sick-a02")
CHECKED: dict[str, Any] = {
    "groups": [
        {
            "name": "story-own",
            "rules": [
                {
                    "alert": "KubeNodeNotReady",
                    "check": "node-not-ready",
                    "labels": {"severity": "critical"},
                    "annotations": {"summary": "{{ $labels.node }} is not ready."},
                },
                {
                    "alert": "ErrorLogs",
                    "logs": {"match": "level:error", "by": ["node"], "over": "10m", "above": 2},
                    "labels": {"severity": "warning"},
                    "annotations": {"summary": "{{ $labels.node }} logs errors."},
                },
                {
                    "alert": "YardmasterSourceBlind",
                    "check": "source-blind",
                    "for": "1s",
                    "labels": {"severity": "critical"},
                    "annotations": {"summary": "Blind: {{ $labels.component }}."},
                },
            ],
        }
    ]
}


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """How a source goes away, and how it comes back."""

    source: str
    begin: Callable[[Light], Awaitable[Any]]
    end: Callable[[Light], Awaitable[Any]]


def of_prometheus(how: str) -> Trouble:
    return Trouble(
        source="prometheus",
        begin=lambda stage: stage.prometheus.goes(how),
        end=lambda stage: stage.prometheus.goes(""),
    )


def of_elastic(begin: Callable[[Light], Any]) -> Trouble:
    async def now(stage: Light) -> None:
        begin(stage)

    async def heal(stage: Light) -> None:
        stage.elastic.faults.heal()

    return Trouble(source="elasticsearch", begin=now, end=heal)


def of_kubernetes(begin: Callable[[Light], Callable[[], None]]) -> Trouble:
    heals: dict[int, Callable[[], None]] = {}

    async def now(stage: Light) -> None:
        heals[id(stage)] = begin(stage)

    async def heal(stage: Light) -> None:
        heals.pop(id(stage))()

    return Trouble(source="kubernetes", begin=now, end=heal)


def paused(stage: Light) -> Callable[[], None]:
    stage.kube.pause()
    return stage.kube.resume


TROUBLES = {
    "Prometheus refuses connections": of_prometheus("refused"),
    "Prometheus hangs": of_prometheus("hang"),
    "Prometheus answers 503": of_prometheus("503"),
    "Prometheus answers in part, with warnings": of_prometheus("warnings"),
    "Elasticsearch refuses connections": Trouble(
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


def not_ready(stage: Light, name: str, word: str = "False") -> None:
    condition = {"type": "Ready", "status": word, "reason": "KubeletNotReady", "message": "PLEG"}
    stage.kube.patch("nodes", "", name, {"status": {"conditions": [condition]}}, status=True)


async def errors(stage: Light, node: str) -> None:
    at = stage.clock.now() - timedelta(seconds=1)
    lines = [host_line(at, f"oops {n}", node=node, unit="kubelet", level="error") for n in range(5)]
    await stage.elastic.index(lines)


async def state(stage: Light) -> tuple[set[Any], list[Any]]:
    """Alerts that stand and incidents as they stand, without moments and without what speaks of blindness itself."""
    async with stage.yard.store.unit() as unit:
        alerts = await unit.alerts.find(cluster=CLUSTER)
        incidents = await unit.incidents.find(cluster=CLUSTER)
    standing = {
        (alert.name, alert.labels, alert.life.state)
        for alert in alerts
        if alert.name != "YardmasterSourceBlind"
    }
    told = sorted(
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
    return standing, told


async def folds(stage: Light, which: str) -> set[str]:
    async with stage.yard.store.unit() as unit:
        return {one.group_key for one in await unit.incidents.find(cluster=CLUSTER) if one.state == which}


async def has(stage: Light, which: str, *wanted: str) -> None:
    """Wait until these are among the incidents in that state."""

    async def look(unit: Any) -> bool:
        return set(wanted) <= {
            one.group_key for one in await unit.incidents.find(cluster=CLUSTER, state=which)
        }

    await stage.until_kept(look)


@pytest.fixture(params=list(TROUBLES.values()), ids=list(TROUBLES))
def trouble(request: pytest.FixtureRequest) -> Trouble:
    found: Trouble = request.param
    return found


FIRST = ("node/gpu-a01", "node/log-a01", "node/sick-a01")
LATER = {
    "prometheus": ("node/gpu-b01", "node/gpu-a02"),
    "elasticsearch": ("node/log-a02",),
    "kubernetes": ("node/sick-a02",),
}


async def test_a_source_that_goes_away_resolves_nothing_is_said_and_is_made_up_for(
    tmp_path: Path, trouble: Trouble
) -> None:
    truth, clock = Truth(), PushedClock()
    async with (
        light(tmp_path / "hurt", own_rules=CHECKED, truth=truth, clock=clock) as hurt,
        light(tmp_path / "twin", own_rules=CHECKED, truth=truth, clock=clock) as twin,
    ):
        both = (hurt, twin)
        for stage in both:
            for name in MORE_NODES:
                ready_node(stage.kube, name)
            not_ready(stage, "sick-a01")
            await errors(stage, "log-a01")
        truth.say(HOT, ({"node": "gpu-a01", "gpu": "3"}, 91), since=clock.now())
        for stage in both:
            await has(stage, "open", *FIRST)

        await trouble.begin(hurt)
        evaluator = hurt.yard.evaluators[CLUSTER]
        await hurt.until(lambda: trouble.source in evaluator.blind)

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
        await has(twin, "open", "node/gpu-a02", "node/gpu-b01", "node/log-a02", "node/sick-a02")
        await asyncio.sleep(1)  # so that no round of either falls between
        truth.say(HOT, ({"node": "gpu-b01", "gpu": "0"}, 99), since=clock.now())  # gpu-a02 came and went
        await has(twin, "resolved", "node/gpu-a01", "node/gpu-a02", "node/sick-a01")
        blind_card = await hurt.card(f"Blind: {trouble.source}")
        await hurt.next_rounds(1)

        gone = {"prometheus": FIRST[0], "elasticsearch": FIRST[1], "kubernetes": FIRST[2]}[trouble.source]
        assert gone in await folds(hurt, "open")
        assert not set(LATER[trouble.source]) & (await folds(hurt, "open") | await folds(hurt, "resolved"))
        assert trouble.source in blind_card.said
        card = await hurt.card(f"{gone.removeprefix('node/')} ")
        await hurt.slack.until(lambda: "Cannot see it now" in card.said, 60)
        assert len(hurt.cards()) == len({one.said.splitlines()[0] for one in hurt.cards()})

        await trouble.end(hurt)
        await hurt.until(lambda: not evaluator.blind, 60)
        await hurt.next_rounds(2)
        assert await state(hurt) == await state(twin)
        await hurt.slack.until(lambda: "✅" in blind_card.said, 60)
        await hurt.slack.until(lambda: "Cannot see it now" not in card.said, 60)
