"""The card and the command agree: what the rule GPUIdle fires for is what `gpu idle` lists, at every moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.check import CheckInput, SourceState
from collectors.check_catalogue import CHECKS, checks_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Pod
from collectors.facts.labels import Labels
from collectors.facts.queries import CheckQuery, PromQLQuery
from collectors.facts.results import QueryResult, Sample, Seen
from collectors.gpu_activity import ENGINE, IDLE_AFTER, MEASURE, STEPS, UTIL, Activity, activity
from collectors.query_router import RulesInForce
from commands.core.context import Defaults
from commands.core.idle_detection import find_idle
from tests.alerts.packs.shipped import shipped_rules
from tests.support import objects
from tests.support.alerting import a_renderer, a_sample, a_topology
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
    after: timedelta = IDLE_AFTER

    def inventory(self) -> Inventory:
        return objects.inventory(*self.pods)

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        is_known = query == activity(self.after)
        return Seen(source=self.name, at=at, samples=self.samples if is_known else ())

    async def of_rule(self, after: timedelta = IDLE_AFTER) -> Mapping[str, float]:
        """Return what the rule's check finds: for how long each pod was idle, in seconds."""

        def inputs(at: datetime, sources: tuple[SourceState, ...]) -> CheckInput:
            return CheckInput(at=at, inventory=self.inventory(), trainings=(), configs={}, sources=sources)

        router = a_router(self, checks=checks_of(idle_after=after), check_input=inputs)
        rules = RulesInForce(standing=lambda _id: self.standing)
        answers = await router.query_all({"r": CheckQuery(name="gpus-idle")}, at=NOW, rules=rules)
        found = answers["r"]
        assert isinstance(found, Seen), found
        return {sample.labels["pod"]: sample.value for sample in found.samples}

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
    assert set(fired) == idle | (unknown & standing)


def test_the_command_looks_back_as_far_as_the_rule() -> None:
    assert CHECKS["gpus-idle"].metrics == activity(Defaults().idle_after)


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        pytest.param(1 / 3, "20s", id="seconds"),
        pytest.param(30, "30 min", id="minutes"),
        pytest.param(180, "3h", id="hours"),
        pytest.param(90, "1h 30 min", id="hours and minutes"),
    ],
)
async def test_the_card_says_for_how_long_by_the_setting(minutes: float, said: str) -> None:
    after = timedelta(minutes=minutes)
    start = f"{NOW - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
    status = {"phase": "Running", "startTime": start}
    spec = {"nodeName": "n1", "containers": [objects.gpus(1, "nvidia.com/gpu")]}
    of = {"exported_namespace": "ml", "exported_pod": "w0", "UUID": "GPU-1"}
    samples = [
        Sample(labels=Labels({**of, MEASURE: f"{UTIL}/{what}"}), value=value)
        for what, value in (("most", 0.0), ("seen", STEPS))
    ]
    cluster = Measured(samples=tuple(samples), pods=(objects.pod("w0", "ml", spec=spec, status=status),))
    cluster.after = after
    value = (await cluster.of_rule(after))["w0"]
    annotations = a_renderer(a_topology()).annotations(
        shipped_rules()["GPUIdle"], a_sample(value, texts=(), namespace="ml", pod="w0")
    )
    for text in ("summary", "headline", "resolved_headline"):
        assert f"its GPUs for {said}." in annotations[text]
