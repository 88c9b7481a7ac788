"""Jobs under the real Kueue, on a real control plane: waiting, admission, suspension, priority, refusals."""

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any

import pytest

from collectors.facts.results import SourceError
from collectors.trainings.training import TrainingState
from commands.core.context import Defaults
from tests.real.fixtures import present_or_skip
from tests.real.servers.kubernetes import KubernetesCluster
from tests.real.servers.kueue import Kueue
from tests.support.drained import kubelets, until
from tests.support.training_stage import TrainingStage
from tests.support.yard import ANA, yard_before

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("real_kubernetes")]
API = "/apis/kueue.x-k8s.io/v1beta2"
COLLECTED_WITHIN = 180  # seconds: the garbage collector looks for new kinds twice a minute


@pytest.fixture(scope="module")
def kueue(real_kubernetes: KubernetesCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kueue]:
    folder = tmp_path_factory.mktemp("kueue")
    with present_or_skip(lambda: Kueue(cluster=real_kubernetes, folder=folder)) as running:
        yield running


@dataclass(kw_only=True)
class Stage(TrainingStage):
    """A cluster with a pool of 8 GPUs, and a ClusterQueue that has this test's name and as many."""

    @property
    def line(self) -> str:
        return self.launched_as(self.name)

    def launched_as(self, name: str, workers: int = 2) -> str:
        return (
            f"training launch {name} --kind job --image registry.example/vision/mnist:7 "
            f"--workers {workers} --gpus 4 --node-selector pool={self.name} --queue {self.name}"
        )

    async def post(self, kind: str, tree: dict[str, Any]) -> None:
        typed = {"apiVersion": API.removeprefix("/apis/"), "kind": kind}
        plural = f"{kind.lower()}es" if kind.endswith("s") else f"{kind.lower()}s"
        await self.kube.call("POST", f"{API}/{plural}", {**typed, **tree})

    async def add_queue(self, name: str, gpus: int, **spec: Any) -> None:
        flavor = {"name": self.name, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": str(gpus)}]}
        groups = [{"coveredResources": ["nvidia.com/gpu"], "flavors": [flavor]}]
        await self.post(
            "ClusterQueue",
            {"metadata": {"name": name}, "spec": {"namespaceSelector": {}, "resourceGroups": groups, **spec}},
        )

        async def is_active() -> bool:
            found = await self.kube.call("GET", f"{API}/clusterqueues/{name}")
            return any(
                one["type"] == "Active" and one["status"] == "True"
                for one in (found.get("status") or {}).get("conditions") or ()
            )

        if "stopPolicy" not in spec:
            await until(is_active)

    async def workload(self, namespace: str = "") -> Any:
        path = f"{API}/namespaces/{namespace or self.name}/workloads"
        (found,) = (await self.kube.call("GET", path))["items"]
        return found

    async def until_without_pods(self) -> None:
        async def none() -> bool:
            return not (await self.kube.call("GET", self.kube.path("pods")))["items"]

        await until(none, seconds=COLLECTED_WITHIN)

    async def why(self, name: str) -> str:
        return await self.yard.say(f"training why {name}")


@pytest.fixture
async def stage(kueue: Kueue) -> AsyncIterator[Stage]:
    name = f"q-{uuid.uuid4().hex[:6]}"
    config = kueue.cluster.kubeconfig
    async with AsyncExitStack() as stack:
        kube = await stack.enter_async_context(kubelets(config, name, makes_namespace=False))
        await stack.enter_async_context(kubelets(config, f"{name}-2", makes_namespace=False))
        await kube.add_open_node(f"{name}-a", pool=name, **{"nvidia.com/gpu": "8"})
        policy = Defaults(
            owners={"ana": "U_ANA"}, training_queues={"q-*": ("vision",), "speech-*": ("speech",)}
        )
        yard = await stack.enter_async_context(yard_before(config, policy=policy))
        made = Stage(yard=yard, kube=kube, name=name)
        await made.post(
            "ResourceFlavor", {"metadata": {"name": name}, "spec": {"nodeLabels": {"pool": name}}}
        )
        await made.add_queue(name, 8)
        try:
            yield made
        finally:
            for path in (
                f"/api/v1/namespaces/{name}",
                f"/api/v1/namespaces/{name}-2",
                f"/api/v1/nodes/{name}-a",
                *(f"{API}/clusterqueues/{name}{end}" for end in ("", "-closed", "-of-others", "-small")),
                f"{API}/resourceflavors/{name}",
                *(f"{API}/workloadpriorityclasses/{name}-{end}" for end in ("low", "high")),
            ):
                with suppress(SourceError):
                    await kube.call("DELETE", path)


async def test_it_is_admitted_and_suspended_and_resumed_through_its_workload(stage: Stage) -> None:
    await stage.done(stage.line)
    running = await stage.until(TrainingState.RUNNING)
    assert running.queue == stage.name
    suspension = await stage.done(f"training suspend {stage.name}")
    assert all("through its Workload" in step.description for step in suspension.steps)
    await stage.until(TrainingState.SUSPENDED)
    assert (await stage.workload())["spec"]["active"] is False
    await stage.until_without_pods()
    assert "somebody suspended it" in await stage.why(stage.name)
    await stage.done(f"training resume {stage.name}")
    await stage.until(TrainingState.RUNNING)


async def test_the_next_waits_for_quota_and_why_says_how_much_and_for_whom(stage: Stage) -> None:
    await stage.done(stage.line)
    await stage.until(TrainingState.RUNNING)
    second = f"{stage.name}-2"
    await stage.done(stage.launched_as(second, workers=1))

    def waits() -> bool:
        found = stage.yard.cluster.training(f"{second}/{second}")
        return found is not None and "quota" in found.reason

    await stage.yard.seen(waits)
    said = await stage.why(second)
    assert f"queue {stage.name} has 8 nvidia.com/gpu, and 8 are in use: 4 more are needed" in said
    assert f"{stage.name} of Kueue: 8 of 8 GPUs in use" in said
    assert f"in use by: {stage.name}/{stage.name}" in said
    assert f"starts: not known: nothing says when {stage.name}/{stage.name} ends" in said
    await stage.done(f"training stop {stage.name}")
    await stage.yard.seen(
        lambda: (
            (found := stage.yard.cluster.training(f"{second}/{second}")) is not None
            and found.state is TrainingState.RUNNING
        )
    )


async def test_one_that_is_larger_than_its_queue_never_starts_and_why_says_what_would_fit(
    stage: Stage,
) -> None:
    await stage.done(stage.launched_as(stage.name, workers=3))
    await stage.yard.seen(lambda: stage.training is not None and "quota" in stage.training.reason)
    said = await stage.why(stage.name)
    assert f"it asks for 12 nvidia.com/gpu, and queue {stage.name} has 8: it never starts as it is" in said
    assert "with 2 workers it would fit" in said


async def test_why_says_that_a_more_urgent_one_took_its_place(stage: Stage) -> None:
    for name, value in (("low", 10), ("high", 1000)):
        made = {"metadata": {"name": f"{stage.name}-{name}"}, "value": value}
        await stage.post("WorkloadPriorityClass", made)
    path = f"{API}/clusterqueues/{stage.name}"
    await stage.kube.call("PATCH", path, {"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}})
    await stage.done(f"{stage.line} --queue-priority {stage.name}-low")
    await stage.until(TrainingState.RUNNING)
    second = f"{stage.name}-2"
    await stage.done(f"{stage.launched_as(second)} --queue-priority {stage.name}-high")
    await stage.yard.seen(lambda: stage.training is not None and stage.training.state is TrainingState.QUEUED)
    await stage.yard.seen(lambda: "quota" in (stage.training.reason if stage.training else ""))
    said = await stage.why(stage.name)
    assert f"{second}/{second} of ana took its place" in said
    assert "it ran until" in said


async def test_the_priority_of_one_that_runs_is_that_of_its_workload(stage: Stage) -> None:
    await stage.post("WorkloadPriorityClass", {"metadata": {"name": f"{stage.name}-high"}, "value": 1000})
    await stage.done(stage.line)
    await stage.until(TrainingState.RUNNING)
    plan = await stage.done(f"training reprioritise {stage.name} {stage.name}-high")
    assert (await stage.workload())["spec"]["priority"] == 1000
    await stage.done(f"plan undo {plan.id}")
    assert (await stage.workload())["spec"]["priority"] == 0
    assert stage.training is not None
    assert stage.training.state is TrainingState.RUNNING


async def test_a_queue_that_cannot_take_it_is_refused_before_anything_is_created(stage: Stage) -> None:
    await stage.add_queue(f"{stage.name}-closed", 8, stopPolicy="Hold")
    others = {"matchLabels": {"team": "speech"}}
    await stage.add_queue(f"{stage.name}-of-others", 8, namespaceSelector=others)
    for queue, refusal in (
        (f"{stage.name}-none", "There is no queue"),
        (f"{stage.name}-closed", "is stopped (Hold)"),
        (f"{stage.name}-of-others", "its namespaceSelector does not select it"),
        ("speech-a", "is only for speech"),
        ("other", "is not among the allowed ones"),
    ):
        line = stage.line.replace(f"--queue {stage.name}", f"--queue {queue}")
        assert refusal in await stage.yard.say(line, ANA), queue
    assert await stage.yard.newest() is None


async def test_while_kueue_is_down_that_is_said_and_it_goes_on_afterwards(stage: Stage, kueue: Kueue) -> None:
    with kueue.stopped():
        await stage.done(stage.line)
        await stage.yard.seen(lambda: stage.training is not None and bool(stage.training.workloads))
        assert "Kueue has not taken it up" in await stage.why(stage.name)
    await stage.until(TrainingState.RUNNING)
