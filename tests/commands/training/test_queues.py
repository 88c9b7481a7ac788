"""Queues by name: of Kueue, which starts and suspends what waits in it, and of Volcano."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from collectors.cluster.kinds import JOBS, JOBSETS, PYTORCHJOBS, ResourceKind
from collectors.trainings.training import TrainingState
from commands.core.command import UnusableError
from commands.core.context import Defaults
from commands.execution.steps import Create
from commands.training.queues import check_allowed, selects
from commands.training.suspend_field import POLICY, SUSPEND
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings
from tests.support.controller_lookalike import ControllerLookalike
from tests.support.custom_kinds import a_definition
from tests.support.drained import kubelets, until
from tests.support.jobset_controller import JobSetLookalike
from tests.support.kueue_controller import API, DEFINITIONS, KueueLookalike
from tests.support.training_controllers import CONTROLLERS
from tests.support.training_stage import TrainingStage
from tests.support.yard import ANA, yard_before

FIELDS: dict[ResourceKind[Any], tuple[str, ...]] = {JOBS: SUSPEND, JOBSETS: SUSPEND, PYTORCHJOBS: POLICY}


@dataclass(kw_only=True)
class Stage(TrainingStage):
    """A cluster with Kueue and its queue `gpus`."""

    kueue: KueueLookalike
    option: str

    @property
    def line(self) -> str:
        return (
            f"training launch {self.name} --kind {self.option} --image registry.example/vision/mnist:7 --workers 2 "
            f"--gpus 4 --node-selector pool={self.name}"
        )

    async def workload(self) -> Any:
        (found,) = (await self.kube.call("GET", f"{API}/namespaces/{self.name}/workloads"))["items"]
        return found


@pytest.fixture(params=["job", "jobset", "pytorchjob"])
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    name = f"q-{uuid.uuid4().hex[:6]}"
    async with AsyncExitStack() as stack:
        running = KubernetesLookalike.running(settings=Settings(node_grace=None))
        config = (await stack.enter_async_context(running)).kubeconfig(tmp_path / "config")
        kube = await stack.enter_async_context(kubelets(config, name, makes_namespace=False))
        kueue = KueueLookalike(kube.client, tuple(FIELDS.items()))
        await kueue.install("gpus")
        controllers: list[Any] = [
            JobSetLookalike(kube.client),
            ControllerLookalike(kube.client, CONTROLLERS[PYTORCHJOBS.kind_in_keys]),
        ]
        for one in controllers:
            await one.install()
        await kube.add_open_node(f"{name}-a", pool=name, **{"nvidia.com/gpu": "8"})
        policy = Defaults(
            owners={"ana": "U_ANA"}, training_queues={"gpus*": ("vision",), "speech-*": ("speech",)}
        )
        yard = await stack.enter_async_context(yard_before(config, policy=policy))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one.run()) for one in (kueue, *controllers)]
            try:
                yield Stage(yard=yard, kube=kube, kueue=kueue, name=name, option=request.param)
            finally:
                for task in tasks:
                    task.cancel()


async def test_kueue_starts_it_and_it_is_suspended_and_resumed_through_its_workload(stage: Stage) -> None:
    stage.kueue.is_full = True
    plan = await stage.done(f"{stage.line} --queue gpus")
    assert any("Kueue starts it when queue gpus has room" in note for note in plan.notes)
    assert not any("start the workers" in step.description for step in plan.steps)
    await stage.yard.seen(
        lambda: stage.training is not None and "insufficient quota" in stage.training.reason
    )
    waiting = await stage.until(TrainingState.QUEUED)
    assert waiting.queue == "gpus"
    assert "WaitingForQuota" in waiting.reason
    assert "queue: gpus" in await stage.yard.say(f"training show {stage.name}")
    why = await stage.yard.say(f"training why {stage.name}")
    assert f"/{stage.name} waits" in why
    assert "insufficient quota" in why
    assert "starts: not known" in why

    stage.kueue.is_full = False
    await stage.until(TrainingState.RUNNING)
    suspension = await stage.done(f"training suspend {stage.name}")
    assert all("through its Workload" in step.description for step in suspension.steps)
    held = await stage.until(TrainingState.SUSPENDED)
    assert "its Workload in Kueue is not active" in held.reason
    assert (await stage.workload())["spec"]["active"] is False

    async def none() -> bool:
        return not (await stage.kube.call("GET", stage.kube.path("pods")))["items"]

    await until(none)
    await stage.done(f"training resume {stage.name}")
    await stage.until(TrainingState.RUNNING)
    assert "launch it again with --workers 1" in await stage.yard.say(f"training scale {stage.name} 1")


async def test_its_priority_is_that_of_its_workload_or_its_label(stage: Stage) -> None:
    for name, value in (("low", 10), ("high", 1000)):
        made = {"apiVersion": API.removeprefix("/apis/"), "kind": "WorkloadPriorityClass", "value": value}
        await stage.kube.call("POST", f"{API}/workloadpriorityclasses", {**made, "metadata": {"name": name}})
    await stage.done(f"{stage.line} --queue gpus --queue-priority low")
    await stage.until(TrainingState.RUNNING)
    assert "no WorkloadPriorityClass none" in await stage.yard.say(f"training reprioritise {stage.name} none")
    plan = await stage.done(f"training reprioritise {stage.name} high")
    assert "replace priority low" in plan.steps[0].description


@pytest.mark.parametrize("stage", ["job"], indirect=True)
async def test_a_label_is_never_added_to_what_kueue_has_admitted(stage: Stage) -> None:
    made = {"apiVersion": API.removeprefix("/apis/"), "kind": "WorkloadPriorityClass", "value": 1000}
    await stage.kube.call("POST", f"{API}/workloadpriorityclasses", {**made, "metadata": {"name": "high"}})
    await stage.done(f"{stage.line} --queue gpus")
    await stage.until(TrainingState.RUNNING)
    plan = await stage.done(f"training reprioritise {stage.name} high")
    assert (await stage.workload())["spec"]["priority"] == 1000
    await stage.done(f"plan undo {plan.id}")
    assert (await stage.workload())["spec"]["priority"] == 0


@pytest.mark.parametrize("stage", ["job"], indirect=True)
async def test_a_queue_that_cannot_take_it_is_refused_before_anything_is_created(stage: Stage) -> None:
    api = API.removeprefix("/apis/")
    for name, spec in (
        ("gpus-closed", {"namespaceSelector": {}, "stopPolicy": "Hold"}),
        ("gpus-of-others", {"namespaceSelector": {"matchLabels": {"team": "speech"}}}),
        ("gpus-for-none", {}),
    ):
        tree = {"apiVersion": api, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}
        await stage.kube.call("POST", f"{API}/clusterqueues", tree)
    for options, refusal in (
        ("--queue gpus-none", "There is no queue gpus-none"),
        ("--queue gpus-closed", "is stopped (Hold)"),
        ("--queue gpus-of-others", "its namespaceSelector does not select it"),
        ("--queue gpus-for-none", "its namespaceSelector does not select it"),
        ("--queue speech-a", "is only for speech"),
        ("--queue other", "is not among the allowed ones"),
        ("--queue gpus --ps 1", "--ps with --queue is not for Jobs"),
        ("--queue gpus --queue-priority none", "There is no WorkloadPriorityClass none"),
        ("--queue-priority high", "--queue-priority needs a --queue"),
        ("--queue 'gpus/../x'", "is not valid"),
    ):
        assert refusal in await stage.yard.say(f"{stage.line} {options}", ANA), options
    assert await stage.yard.newest() is None


@pytest.mark.parametrize("stage", ["pytorchjob"], indirect=True)
async def test_a_queue_of_volcano_is_checked_and_written_into_the_gang(stage: Stage) -> None:
    await stage.kube.call("POST", DEFINITIONS, _volcano_queues())
    for name, spec, state in (
        ("gpus-v", {"weight": 1}, "Open"),
        ("gpus-shut", {}, "Closed"),
        ("gpus-parent", {}, "Open"),
        ("gpus-child", {"parent": "gpus-parent"}, "Open"),
    ):
        path = "/apis/scheduling.volcano.sh/v1beta1/queues"
        tree = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}}
        await stage.kube.call("POST", path, {**tree, "spec": spec})
        await stage.kube.call("PATCH", f"{path}/{name}/status", {"status": {"state": state}})
    assert "is Closed: it accepts nothing" in await stage.yard.say(f"{stage.line} --queue gpus-shut", ANA)
    assert "choose one below it, such as gpus-child" in await stage.yard.say(
        f"{stage.line} --queue gpus-parent", ANA
    )
    plan = await stage.done(f"{stage.line} --queue gpus-v")
    created = [step.manifest for step in plan.steps if isinstance(step, Create)]
    (made,) = (one for one in created if one["kind"] == "PyTorchJob")
    assert made["spec"]["runPolicy"]["schedulingPolicy"] == {"queue": "gpus-v"}
    assert "kueue.x-k8s.io/queue-name" not in made["metadata"]["labels"]


def _volcano_queues() -> dict[str, Any]:
    made = a_definition(JOBSETS)
    made["metadata"] = {"name": "queues.scheduling.volcano.sh"}
    made["spec"] |= {"group": "scheduling.volcano.sh", "scope": "Cluster"}
    made["spec"]["names"] = {"plural": "queues", "singular": "queue", "kind": "Queue"}
    made["spec"]["versions"][0]["name"] = "v1beta1"
    return made


@pytest.mark.parametrize(
    ("selector", "is_selected"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"team": "vision"}}, True),
        ({"matchLabels": {"team": "speech"}}, False),
        ({"matchExpressions": [{"key": "team", "operator": "In", "values": ["vision", "x"]}]}, True),
        ({"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["vision"]}]}, False),
        ({"matchExpressions": [{"key": "stage", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "stage", "operator": "DoesNotExist"}]}, True),
    ],
)
def test_a_selector_selects_as_in_kubernetes(selector: dict[str, Any] | None, is_selected: bool) -> None:
    assert selects(selector, {"team": "vision"}) is is_selected


def test_without_a_setting_every_queue_may_be_used_and_a_star_is_everybody() -> None:
    check_allowed("rec", {}, ())
    check_allowed("rec", {"*": ("*",)}, ())
    with pytest.raises(UnusableError):
        check_allowed("rec", {"rec": ("search",)}, ("vision",))
