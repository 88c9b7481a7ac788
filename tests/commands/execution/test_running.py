"""A plan that resumes a workload waits until its pods run again, and says what it still waits for."""

from typing import Any

import pytest

from commands.execution.cluster_writer import ClusterWriter
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Plan, PlanState
from commands.execution.steps import Running
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.execution import Noon, executor, journalled, plan_of
from tests.support.memory_store import MemoryStore

JOB = ObjectRef(api="batch/v1", kind="Job", name="w", namespace="default")
STEP = Running(
    ref=JOB, description="wait until its pods run", label="batch.kubernetes.io/job-name=w", count=2
)


def make(kube: KubernetesLookalike, **status: Any) -> None:
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}}
    meta = {"name": "w", "namespace": "default"}
    kube.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": pod}})
    kube.patch("jobs", "default", "w", {"status": status}, status=True)


def add_pod(kube: KubernetesLookalike, name: str, **status: Any) -> None:
    meta = {"name": name, "namespace": "default", "labels": {"batch.kubernetes.io/job-name": "w"}}
    spec = {"containers": [{"name": "main", "image": "i"}]}
    kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    kube.patch("pods", "default", name, {"status": status}, status=True)


async def run(store: MemoryStore, writer: ClusterWriter, clock: Noon | None = None) -> Plan:
    return await executor(store, writer, clock).execute(plan_of(STEP))


async def test_it_is_done_when_as_many_pods_run_as_were_promised(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    make(kube)
    add_pod(kube, "w-0", phase="Running")

    class Starting(Noon):
        async def pause(self, seconds: float) -> None:
            await super().pause(seconds)
            (record,) = await journalled(store, plan_of(STEP))
            seen.append(record.outcome)
            if len(seen) == 2:
                add_pod(kube, "w-1", phase="Running")

    store, seen = MemoryStore(), list[str]()
    over = await run(store, writer, Starting())
    assert (over.state, seen) == (PlanState.DONE, ["1 of 2 pods runs"] * 2)
    (record,) = await journalled(store, over)
    assert record.outcome == "2 of 2 pods run"


async def test_it_gives_up_in_the_end_and_says_what_it_still_waits_for(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    make(kube)
    waiting = {"name": "main", "image": "i", "imageID": "", "ready": False, "restartCount": 0}
    waiting["state"] = {"waiting": {"reason": "ImagePullBackOff", "message": "back-off"}}
    add_pod(kube, "w-0", phase="Running")
    add_pod(kube, "w-1", phase="Pending", containerStatuses=[waiting])
    over = await run(MemoryStore(), writer)
    assert over.state is PlanState.FAILED
    assert over.error.startswith(
        "wait until its pods run: timeout after 300 s; 1 of 2 pods runs; w-1 waits: "
    )


@pytest.mark.parametrize("kind", ["FailureTarget", "Failed"])
async def test_it_fails_at_once_when_the_workload_has_failed(
    kube: KubernetesLookalike, writer: ClusterWriter, kind: str
) -> None:
    make(
        kube,
        conditions=[
            {"type": kind, "status": "True", "reason": "BackoffLimitExceeded", "message": "too many"}
        ],
    )
    clock = Noon()
    over = await run(MemoryStore(), writer, clock)
    assert over.state is PlanState.FAILED
    assert over.error == (
        "job default/w does not come back: it has failed (BackoffLimitExceeded: too many) and has to be launched again"
    )
    assert clock.elapsed().total_seconds() == 0


async def test_it_fails_at_once_when_the_workload_is_suspended_again(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    make(kube)
    kube.patch("jobs", "default", "w", {"spec": {"suspend": True}})
    over = await run(MemoryStore(), writer)
    assert over.error == "job default/w is suspended again"


async def test_what_has_ended_meanwhile_is_not_waited_for(
    kube: KubernetesLookalike, writer: ClusterWriter
) -> None:
    make(kube, conditions=[{"type": "Complete", "status": "True"}])
    assert (await run(MemoryStore(), writer)).state is PlanState.DONE
