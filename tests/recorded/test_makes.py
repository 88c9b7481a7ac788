"""Faults of GPUs of other makes, in pages as their projects document them: a card with node, GPU and holder."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from collectors.facts.queries import LogQuery
from demo.parts.prometheus import PrometheusServer
from tests.recorded.table import EPISODES, MINUTE
from tests.support.gpu_makes import MAKES, GpuMake
from tests.support.recorded_cluster import FaultKind
from tests.support.recorded_episodes import Episode
from tests.support.recorded_loop import RULES, RuleLoop, rule_loop
from tests.support.recorded_objects import OWNER, objects_at

NO_LOGS = tuple(name for name, rule in RULES.items() if not isinstance(rule.query, LogQuery))
ABOUT_GPUS = (*(name for name in NO_LOGS if "GPU" in name), "NodeTargetDown", "TargetDown")
# The rule that sees each fault, and what the card's title says of it.
SEEN = {
    FaultKind.HOT: ("GPUTemperatureHigh", "hot"),
    FaultKind.UNHEALTHY: ("GPUReportedUnhealthy", "unhealthy"),
    FaultKind.ECC: ("GPUECCUncorrectableErrors", "cannot be corrected"),
    FaultKind.GONE: ("GPUMetricsLost", "no metrics of GPU 0"),
    FaultKind.IDLE: ("GPUIdle", "has not used its GPUs"),
    FaultKind.CLOCK: ("GPUClockLow", "slow GPU"),
    FaultKind.THROTTLED: ("GPUThermalResidencyHigh", "throttles"),
    FaultKind.NO_EXPORTER: ("NodeTargetDown", "Prometheus gets nothing"),
    FaultKind.CAPACITY: ("GPUMissing", "missing 1 of its GPUs"),
}
NAMES_THE_GPU = SEEN.keys() - {FaultKind.IDLE, FaultKind.NO_EXPORTER, FaultKind.CAPACITY}
makes = pytest.mark.parametrize("make", MAKES, ids=lambda one: one.name)


@asynccontextmanager
async def before_it_is_fixed(recordings: PrometheusServer, one: Episode) -> AsyncIterator[RuleLoop]:
    """The loop of rules about GPUs until the fault is about to be fixed; before it began nothing was wrong."""
    objects = partial(objects_at, one.cluster)
    async with rule_loop(recordings.url, objects, start=one.begins - 4 * MINUTE, rules=ABOUT_GPUS) as loop:
        await loop.run(one.begins)
        assert not await loop.shown(), "nothing is wrong yet"
        await loop.run(one.fixed - MINUTE / 2)
        yield loop


@makes
async def test_each_fault_has_its_card(recordings: PrometheusServer, make: GpuMake) -> None:
    one = EPISODES[f"make, {make.name}"]
    async with before_it_is_fixed(recordings, one) as loop:
        assert loop.most_blind == 0
        incidents = await loop.incidents()
        cards = await loop.shown()
        seen = {
            incident.subject.node or holder_node(cards[incident.id], make): incident for incident in incidents
        }
        assert set(seen) == set(make.faulty.values()), list(cards.values())
        assert len(incidents) == len(make.faults), "one card for each node"
        for kind, node in make.faulty.items():
            rule, words = SEEN[kind]
            incident, card = seen[node], cards[seen[node].id]
            assert rule in {member.name for member in incident.members}
            assert words in card.splitlines()[0]
            assert f"train-{node}" in card
            assert OWNER in card
            assert ("GPU 0" in card) or kind not in NAMES_THE_GPU
        await loop.run(one.fixed + 20 * MINUTE)
        assert not await loop.incidents(is_open=True)


def holder_node(card: str, make: GpuMake) -> str:
    """Return the node of the training that a card is about."""
    return next((node for node in make.faulty.values() if f"train-{node}" in card), "")


@makes
async def test_twenty_quiet_minutes(recordings: PrometheusServer, make: GpuMake) -> None:
    one = EPISODES[f"quiet, {make.name}"]
    start = one.cluster.start + 10 * MINUTE
    objects = partial(objects_at, one.cluster)
    async with rule_loop(recordings.url, objects, start=start, rules=NO_LOGS) as loop:
        await loop.run(start + 20 * MINUTE, every=2 * MINUTE)
        assert not await loop.shown()
        assert loop.most_blind == 0
