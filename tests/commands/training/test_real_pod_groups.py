"""A gang of Kubernetes' own scheduler, 1.36 with its gate: why it waits, from its PodGroup."""

import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from collectors.trainings.training import TrainingState
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.drained import Kubelets, kubelets, until
from tests.support.yard import Yard, yard_before

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("real_kubernetes")]
API = "/apis/scheduling.k8s.io/v1alpha2"
RANKS = 3


@dataclass(kw_only=True)
class Stage:
    yard: Yard
    kube: Kubelets
    name: str

    async def launch(self) -> None:
        """Create a Job whose pods start together; there is room for all but one."""
        group = {"metadata": {"name": "detr"}, "spec": {"schedulingPolicy": {"gang": {"minCount": RANKS}}}}
        await self.kube.call("POST", self.kube.path("podgroups", api=API), group)
        container = {"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "8"}}}
        pod = {
            "schedulingGroup": {"podGroupName": "detr"},
            "nodeSelector": {"pool": self.name},
            "restartPolicy": "Never",
            "containers": [container],
        }
        spec = {
            "parallelism": RANKS,
            "completions": RANKS,
            "completionMode": "Indexed",
            "template": {"spec": pod},
        }
        job = {"metadata": {"name": "detr"}, "spec": spec}
        await self.kube.call("POST", self.kube.path("jobs", api="/apis/batch/v1"), job)

    def state(self) -> TrainingState | None:
        found = self.yard.cluster.training(f"{self.name}/Job/detr")
        return found.state if found is not None else None


@pytest.fixture
async def stage(real_kubernetes: KubernetesCluster) -> AsyncIterator[Stage]:
    name = f"g-{uuid.uuid4().hex[:6]}"
    async with AsyncExitStack() as stack:
        kube = await stack.enter_async_context(kubelets(real_kubernetes.kubeconfig, name))
        for node in range(RANKS - 1):
            await kube.add_open_node(f"{name}-{node}", pool=name, **{"nvidia.com/gpu": "8"})
        yard = await stack.enter_async_context(yard_before(real_kubernetes.kubeconfig))
        try:
            yield Stage(yard=yard, kube=kube, name=name)
        finally:
            await kube.clear(f"{name}-{at}" for at in range(RANKS))


async def test_why_says_that_only_a_part_of_the_gang_has_room_and_it_starts_with_all(stage: Stage) -> None:
    await stage.launch()
    await stage.yard.seen(lambda: stage.state() is TrainingState.QUEUED)

    async def is_said() -> bool:
        said = await stage.yard.say(f"training why {stage.name}/Job/detr")
        return f"its tasks start together, and {RANKS - 1} of {RANKS} have room" in said

    await until(is_said)
    await stage.kube.add_open_node(f"{stage.name}-{RANKS - 1}", pool=stage.name, **{"nvidia.com/gpu": "8"})
    await stage.yard.seen(lambda: stage.state() is TrainingState.RUNNING)
