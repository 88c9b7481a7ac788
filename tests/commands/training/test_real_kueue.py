"""Trainings under the real Kueue, on a real control plane: waiting, admission, suspension, priority, refusals.

Jobs in every test. Of the other kinds, which their own controllers run, one is in `make test`, all are in `make soak`.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest

from collectors.trainings.training import TrainingState
from tests.real.fixtures import present_or_skip
from tests.real.parts.controllers import KUEUE, TRAINING_OPERATOR
from tests.real.servers.kubernetes import KubernetesCluster
from tests.real.servers.kueue import Kueue
from tests.real.servers.operator_part import Operator
from tests.real.servers.trainer import Trainer
from tests.support.examples import by_profile
from tests.support.queue_stage import KUEUE_API, KueueStage, queue_stage
from tests.support.real_controllers import IN_KUEUE, Record, record_passed
from tests.support.yard import ANA

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("real_kubernetes"), pytest.mark.soak]
# By the option of the kind: its name in Kueue, what runs its controller, and the fixture that has its cluster.
OTHERS: dict[str, tuple[str, Callable[..., Operator | Trainer], str]] = {
    "pytorchjob": ("kubeflow.org/pytorchjob", partial(Operator, part=TRAINING_OPERATOR), "real_kubernetes"),
    "trainjob": ("trainer.kubeflow.org/trainjob", Trainer, "real_jobset"),
}
WITH = by_profile([one for one in OTHERS if one in IN_KUEUE], [*OTHERS])
EACH_KIND = pytest.mark.parametrize("stage", ["job", *WITH], indirect=True)
EACH_KIND_IN_SOAK = pytest.mark.parametrize("stage", by_profile(["job"], ["job", *WITH]), indirect=True)


@pytest.fixture(scope="module")
def kueue(
    request: pytest.FixtureRequest,
    real_kubernetes: KubernetesCluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Kueue]:
    """Kueue, and before it the controllers of other kinds: it looks for those that are missing ever more rarely."""
    with ExitStack() as stack:
        for option in WITH:
            _, serve, fixture = OTHERS[option]
            cluster, folder = request.getfixturevalue(fixture), tmp_path_factory.mktemp(option)
            stack.enter_context(present_or_skip(partial(serve, cluster=cluster, folder=folder)))
        frameworks = ("batch/job", *(OTHERS[option][0] for option in WITH))
        folder = tmp_path_factory.mktemp("kueue")
        yield stack.enter_context(
            present_or_skip(partial(Kueue, cluster=real_kubernetes, folder=folder, frameworks=frameworks))
        )


@pytest.fixture
async def stage(
    request: pytest.FixtureRequest, kueue: Kueue, record_property: Record
) -> AsyncIterator[KueueStage]:
    option = getattr(request, "param", "job")
    record_passed(record_property, option, KUEUE)
    async with queue_stage(kueue.cluster.kubeconfig, KueueStage, option) as made:
        yield made


@EACH_KIND
async def test_it_is_admitted_and_suspended_and_resumed_through_its_workload(stage: KueueStage) -> None:
    await stage.done(stage.line)
    running = await stage.until(TrainingState.RUNNING)
    assert running.queue == stage.name
    suspension = await stage.done(f"training suspend {stage.name}")
    assert all("through its Workload" in step.description for step in suspension.steps)
    await stage.until(TrainingState.SUSPENDED)
    assert (await stage.workload())["spec"]["active"] is False
    await stage.until_without_pods()
    assert "somebody suspended it" in await stage.why()
    await stage.done(f"plan undo {suspension.id}")
    again = await stage.until(TrainingState.RUNNING)
    assert len(again.ranks) == len(running.ranks)
    await stage.done(f"training suspend {stage.name}")
    await stage.until(TrainingState.SUSPENDED)
    await stage.until_without_pods()
    await stage.done(f"training resume {stage.name}")
    await stage.until(TrainingState.RUNNING)


@EACH_KIND_IN_SOAK
async def test_the_next_waits_for_quota_and_why_says_how_much_and_for_whom(stage: KueueStage) -> None:
    await stage.done(stage.line)
    await stage.until(TrainingState.RUNNING)
    second = f"{stage.name}-2"
    await stage.done(stage.launched_as(second, workers=1))
    await stage.until_waiting("quota", of=second)
    said = await stage.why(second)
    assert f"queue {stage.name} has 8 nvidia.com/gpu, and 8 are in use: 4 more are needed" in said
    assert f"{stage.name} of Kueue: 8 of 8 GPUs in use" in said
    assert f"in use by: {stage.name}/{stage.name}" in said
    assert f"starts: not known: nothing says when {stage.name}/{stage.name} ends" in said
    await stage.done(f"training stop {stage.name}")
    await stage.until(TrainingState.RUNNING, of=second)


@EACH_KIND_IN_SOAK
async def test_one_that_is_larger_than_its_queue_never_starts_and_why_says_what_would_fit(
    stage: KueueStage,
) -> None:
    await stage.done(stage.launched_as(stage.name, workers=3))
    await stage.until_waiting("quota")
    said = await stage.why()
    assert f"it asks for 12 nvidia.com/gpu, and queue {stage.name} has 8: it never starts as it is" in said
    assert "with 2 workers it would fit" in said


@EACH_KIND_IN_SOAK
async def test_why_says_that_a_more_urgent_one_took_its_place(stage: KueueStage) -> None:
    await stage.add_priority("low", 10)
    await stage.add_priority("high", 1000)
    path = f"{KUEUE_API}/clusterqueues/{stage.name}"
    await stage.kube.call("PATCH", path, {"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}})
    await stage.done(f"{stage.line} --queue-priority {stage.name}-low")
    await stage.until(TrainingState.RUNNING)
    second = f"{stage.name}-2"
    await stage.done(f"{stage.launched_as(second)} --queue-priority {stage.name}-high")
    await stage.until(TrainingState.QUEUED)
    await stage.until_waiting("quota")
    said = await stage.why()
    assert f"{second}/{second} of ana took its place" in said
    assert "it ran until" in said


@EACH_KIND_IN_SOAK
async def test_the_priority_of_one_that_runs_is_that_of_its_workload(stage: KueueStage) -> None:
    await stage.add_priority("high", 1000)
    await stage.done(stage.line)
    await stage.until(TrainingState.RUNNING)
    plan = await stage.done(f"training reprioritise {stage.name} {stage.name}-high")
    assert (await stage.workload())["spec"]["priority"] == 1000
    await stage.done(f"plan undo {plan.id}")
    assert (await stage.workload())["spec"]["priority"] == 0
    assert stage.training is not None
    assert stage.training.state is TrainingState.RUNNING


async def test_a_queue_that_cannot_take_it_is_refused_before_anything_is_created(stage: KueueStage) -> None:
    await stage.add_queue(f"{stage.name}-closed", stopPolicy="Hold")
    others = {"matchLabels": {"team": "speech"}}
    await stage.add_queue(f"{stage.name}-of-others", namespaceSelector=others)
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


# Not TrainJobs: Kueue starts only those that its webhook has changed, which refuses all while Kueue is down.
@pytest.mark.parametrize("stage", by_profile(["job"], ["job", "pytorchjob"]), indirect=True)
async def test_while_kueue_is_down_that_is_said_and_it_goes_on_afterwards(
    stage: KueueStage, kueue: Kueue
) -> None:
    with kueue.stopped():
        await stage.done(stage.line)
        await stage.yard.seen(lambda: stage.training is not None and bool(stage.training.workloads))
        assert "Kueue has not taken it up" in await stage.why()
    await stage.until(TrainingState.RUNNING)
