"""`volume freeze` on the look-alike and on a real control plane: each write is one that the API accepts."""

import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from commands.execution.plan import PlanState
from tests.support.drained import ON_BOTH_SERVERS, Kubelets, kubeconfig_of, kubelets, quick
from tests.support.yard import Yard, yard_before


@pytest.fixture(params=ON_BOTH_SERVERS)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Yard, Kubelets, str]]:
    """A pipeline, the cluster's kubelets, and the name of a ready node."""
    mark = uuid.uuid4().hex[:6]
    node = f"freeze-{mark}"
    async with AsyncExitStack() as stack:
        config = await stack.enter_async_context(kubeconfig_of(request, tmp_path))
        made = await stack.enter_async_context(kubelets(config, f"freeze-{mark}"))
        await made.add_node(node)
        yard = await stack.enter_async_context(yard_before(config, pause=quick))
        try:
            yield yard, made, node
        finally:
            await made.clear((node,))


def pod_spec(kube: Kubelets, node: str, **more: Any) -> dict[str, Any]:
    return {
        "nodeSelector": {"kubernetes.io/hostname": node},
        "tolerations": [kube.toleration],
        "containers": [{"name": "main", "image": "i"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "ckpt"}}],
        **more,
    }


async def with_writers(kube: Kubelets, node: str) -> None:
    """Create a claim that waits for its class, and a Deployment, a Job and a CronJob that would write to it."""
    await kube.call(
        "POST",
        kube.path("persistentvolumeclaims"),
        {
            "metadata": {"name": "ckpt"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "by-hand",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    )
    labels = {"app": "samples"}
    await kube.call(
        "POST",
        kube.path("deployments", api="/apis/apps/v1"),
        {
            "metadata": {"name": "samples"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod_spec(kube, node)},
            },
        },
    )
    job = {"template": {"spec": pod_spec(kube, node, restartPolicy="Never")}}
    await kube.call(
        "POST", kube.path("jobs", api="/apis/batch/v1"), {"metadata": {"name": "once"}, "spec": job}
    )
    await kube.call(
        "POST",
        kube.path("cronjobs", api="/apis/batch/v1"),
        {"metadata": {"name": "nightly"}, "spec": {"schedule": "@yearly", "jobTemplate": {"spec": job}}},
    )


async def test_every_writer_is_held_and_an_undo_is_planned_for_each(
    stage: tuple[Yard, Kubelets, str],
) -> None:
    yard, kube, node = stage
    await with_writers(kube, node)

    def writers() -> int:
        pods = yard.cluster.inventory().pods.values()
        return sum(pod.metadata.namespace == kube.namespace for pod in pods)

    await yard.seen(lambda: writers() == 3)

    async def state() -> tuple[Any, ...]:
        found = []
        for api, kind, name, field in (
            ("/apis/apps/v1", "deployments", "samples", "replicas"),
            ("/apis/batch/v1", "jobs", "once", "suspend"),
            ("/apis/batch/v1", "cronjobs", "nightly", "suspend"),
        ):
            one = await kube.call("GET", f"{kube.path(kind, api=api)}/{name}")
            found.append(one["spec"].get(field))
        cordoned = (await kube.call("GET", f"/api/v1/nodes/{node}"))["spec"].get("unschedulable", False)
        return (*found, cordoned)

    plan = await yard.do(f"volume freeze {kube.namespace}/ckpt --node {node}")

    assert plan.state is PlanState.DONE, plan.error
    assert plan.is_dry_run
    assert await state() == (0, True, True, True)
    await yard.seen(lambda: writers() == 0)

    undo = await yard.plan(f"plan undo {plan.id}")
    asked = {step.description for step in undo.steps}
    space = kube.namespace
    assert asked >= {
        f"uncordon {node}",
        f"resume cronjob {space}/nightly",
        f"resume job {space}/once: its pods start again",
        f"scale deployment {space}/samples back to 2",
    }
