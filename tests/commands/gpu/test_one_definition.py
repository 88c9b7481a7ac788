"""The card and the command agree: what the rule GPUIdle fires for is what `gpu idle` lists, at every moment."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from collectors.check import CheckInput, SourceState
from collectors.check_catalogue import CHECKS
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Pod
from collectors.facts.labels import Labels
from collectors.facts.queries import CheckQuery, PromQLQuery
from collectors.facts.results import QueryResult, Sample, Seen
from collectors.gpu_activity import ENGINE, IDLE_AFTER, MEASURE, STEPS, UTIL, Activity, activity
from collectors.query_router import RulesInForce
from commands.core.context import Defaults
from commands.core.idle_detection import find_idle
from tests.support import objects
from tests.support.examples import share
from tests.support.objects import NOW
from tests.support.routing import QuietSource, a_router

NAMES = ("a", "b", "c")


@dataclass
class Measured(QuietSource):
    """A Prometheus that knows these samples, and a cluster of these pods."""

    samples: tuple[Sample, ...]
    pods: tuple[Pod, ...]
    standing: dict[Labels, bool] = field(default_factory=dict)

    def inventory(self) -> Inventory:
        return objects.inventory(*self.pods)

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        is_known = query == activity(IDLE_AFTER)
        return Seen(source=self.name, at=at, samples=self.samples if is_known else ())

    async def of_rule(self) -> set[str]:
        def inputs(at: datetime, sources: tuple[SourceState, ...]) -> CheckInput:
            return CheckInput(at=at, inventory=self.inventory(), trainings=(), configs={}, sources=sources)

        router = a_router(self, checks=CHECKS, check_input=inputs)
        rules = RulesInForce(standing=lambda _id: self.standing)
        answers = await router.query_all({"r": CheckQuery(name="gpus-idle")}, at=NOW, rules=rules)
        found = answers["r"]
        assert isinstance(found, Seen), found
        return {sample.labels["pod"] for sample in found.samples}

    async def of_command(self) -> dict[str, Activity]:
        cluster: Any = self
        found = await find_idle(cluster, now=NOW, after=Defaults().idle_after)
        return {one.pod: one.activity for one in found.pods.values()}


@st.composite
def clusters(draw: st.DrawFn) -> Measured:
    """Pods of any age with whole GPUs or slices, whose metrics show work, none, gaps, or only some of the GPUs."""
    pods, samples = [], []
    for name in NAMES:
        count = draw(st.integers(1, 2))
        resource = draw(st.sampled_from(["nvidia.com/gpu", "nvidia.com/mig-1g.10gb"]))
        age = draw(st.sampled_from([5, 29, 31, 600]))
        start = f"{NOW - timedelta(minutes=age):%Y-%m-%dT%H:%M:%SZ}"
        spec = {"nodeName": "n1", "containers": [objects.gpus(count, resource)]}
        phase = draw(st.sampled_from(["Running", "Running", "Succeeded"]))
        pods.append(objects.pod(name, "ml", spec=spec, status={"phase": phase, "startTime": start}))
        for metric in draw(st.sets(st.sampled_from([UTIL, ENGINE]))):
            for number in range(draw(st.integers(0, count))):
                of = {"exported_namespace": "ml", "exported_pod": name, "UUID": f"GPU-{name}-{number}"}
                most = draw(st.sampled_from([0.0, 0.0, 0.005, 1.0, float("nan")]))
                seen = draw(st.sampled_from([STEPS, STEPS - 1, STEPS - 2, 3]))
                for what, value in (("most", most), ("seen", seen)):
                    labels = Labels({**of, MEASURE: f"{metric}/{what}"})
                    samples.append(Sample(labels=labels, value=value))
    standing = {
        Labels({"namespace": "ml", "pod": name, "node": "n1"}): True
        for name in draw(st.sets(st.sampled_from(NAMES)))
    }
    return Measured(samples=tuple(samples), pods=tuple(pods), standing=standing)


@given(clusters())
@share(1 / 4)
async def test_the_rule_fires_for_what_the_command_lists(cluster: Measured) -> None:
    listed, fired = await cluster.of_command(), await cluster.of_rule()
    idle = {name for name, one in listed.items() if one is Activity.IDLE}
    unknown = {name for name, one in listed.items() if one is Activity.UNKNOWN}
    standing = {labels["pod"] for labels in cluster.standing}
    assert fired == idle | (unknown & standing)


def test_the_command_looks_back_as_far_as_the_rule() -> None:
    assert CHECKS["gpus-idle"].metrics == activity(Defaults().idle_after)
