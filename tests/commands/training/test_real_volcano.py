"""Jobs of Volcano under the real Volcano, on a real control plane: their short life, and a queue that is full.

In `make soak` only: Volcano takes long to build. Their whole life is in `test_life_on_real_controllers.py`.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from functools import partial

import pytest

from collectors.trainings.training import TrainingState
from tests.real.fixtures import present_or_skip
from tests.real.parts.controllers import VOLCANO
from tests.real.servers.kubernetes import KubernetesCluster
from tests.real.servers.volcano import Volcano
from tests.support.drained import until
from tests.support.examples import by_profile
from tests.support.queue_stage import SEEN_WITHIN, VolcanoStage, queue_stage
from tests.support.real_controllers import Record, record_passed

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("real_kubernetes"), pytest.mark.soak]


@pytest.fixture(scope="module")
def volcano(
    real_kubernetes: KubernetesCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Volcano]:
    folder = tmp_path_factory.mktemp("volcano")
    with present_or_skip(partial(Volcano, cluster=real_kubernetes, folder=folder)) as running:
        yield running


@pytest.fixture
async def stage(volcano: Volcano, record_property: Record) -> AsyncIterator[VolcanoStage]:
    record_passed(record_property, "vcjob", VOLCANO)
    async with queue_stage(volcano.cluster.kubeconfig, VolcanoStage, "vcjob") as made:
        yield made


if by_profile(usual=False, soaking=True):

    class TestVolcano:
        async def test_it_is_suspended_by_a_command_and_a_resume_counts_as_a_retry(
            self, stage: VolcanoStage
        ) -> None:
            await stage.done(stage.line)
            running = await stage.until(TrainingState.RUNNING)
            assert (running.queue, running.restarts) == (stage.name, 0)
            suspension = await stage.done(f"training suspend {stage.name}")
            assert all("by a Command" in step.description for step in suspension.steps)
            assert any("0 of 100 are used" in note for note in suspension.notes)
            await stage.until(TrainingState.SUSPENDED)
            await stage.until_without_pods()
            resumption = await stage.done(f"training resume {stage.name}")
            assert any("counts each resume as a retry" in note for note in resumption.notes)
            again = await stage.until(TrainingState.RUNNING)
            assert (len(again.ranks), again.restarts) == (len(running.ranks), 1)
            second = await stage.done(f"training suspend {stage.name}")
            assert any("1 of 100 are used" in note for note in second.notes)
            await stage.until(TrainingState.SUSPENDED)
            await stage.until_without_pods()
            await stage.done(f"plan undo {second.id}")
            assert (await stage.until(TrainingState.RUNNING)).restarts == 2
            await stage.done(f"training stop {stage.name}")
            await stage.until_without_pods()

        async def test_it_succeeds_when_its_workers_have_ended(self, stage: VolcanoStage) -> None:
            await stage.done(stage.line)
            running = await stage.until(TrainingState.RUNNING)
            for rank in running.ranks:
                await stage.kube.end(rank.pod, 0)
            await stage.until(TrainingState.SUCCEEDED)
            await stage.seen(lambda: (found := stage.named()) is not None and found.gpus == 0)

        async def test_the_next_waits_for_a_full_queue_and_why_says_how_much_and_for_whom(
            self, stage: VolcanoStage
        ) -> None:
            await stage.done(stage.line)
            await stage.until(TrainingState.RUNNING)
            second = f"{stage.name}-2"
            await stage.done(stage.launched_as(second, workers=1))
            await stage.until(TrainingState.QUEUED, of=second)
            full = f"queue {stage.name} of Volcano may have 8 nvidia.com/gpu, and 8 are in use"

            async def is_full() -> bool:
                return full in await stage.why(second)

            with suppress(TimeoutError):  # what it says instead is shown
                await until(is_full, seconds=SEEN_WITHIN)
            said = await stage.why(second)
            assert full in said
            assert "it asks for 4" in said
            assert f"{stage.name} of Volcano: 8 of 8 GPUs in use" in said
            assert f"in use by: {stage.name}/{stage.name}" in said
            assert f"starts: not known: nothing says when {stage.name}/{stage.name} ends" in said
            await stage.done(f"training stop {stage.name}")
            await stage.until(TrainingState.RUNNING, of=second)

        async def test_one_that_is_larger_than_its_queue_does_not_start(self, stage: VolcanoStage) -> None:
            await stage.done(stage.launched_as(stage.name, workers=3))
            await stage.until(TrainingState.QUEUED)
            size = (
                f"queue {stage.name} of Volcano may have 8 nvidia.com/gpu, and 0 are in use; it asks for 12"
            )

            async def is_said() -> bool:
                return size in await stage.why()

            await until(is_said, seconds=SEEN_WITHIN)
            said = await stage.why()
            assert "starts: not known: it asks for more than the queue has" in said
            assert "with 2 workers it would fit" in said
