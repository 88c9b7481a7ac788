"""A real API server validates every object of a launch strictly, then a training is launched and stopped."""

from collections.abc import AsyncIterator

import pytest

from collectors.trainings.training import Training
from commands.core.context import Defaults
from commands.core.request import Upload
from commands.execution.plan import PlanState
from commands.execution.steps import Create
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.yard import ANA, DANA, Yard, yard_before

pytestmark = pytest.mark.xdist_group("real_kubernetes")
NODE = "launch-node"


@pytest.fixture
async def yard(real_kubernetes: KubernetesCluster) -> AsyncIterator[Yard]:
    real_kubernetes.create_ready_node(NODE, labels={"pool": "launch"}, resources={"nvidia.com/gpu": "8"})
    real_kubernetes.call(
        "POST",
        "/api/v1/namespaces/default/secrets",
        {
            "metadata": {"name": "launch-regcred"},
            "type": "kubernetes.io/dockerconfigjson",
            "data": {".dockerconfigjson": "eyJhdXRocyI6e319"},
        },
    )
    policy = Defaults(pull_secret="default/launch-regcred")
    try:
        async with yard_before(real_kubernetes.kubeconfig, policy=policy) as made:
            yield made
    finally:
        real_kubernetes.call("DELETE", "/api/v1/namespaces/default/secrets/launch-regcred")
        real_kubernetes.call("DELETE", f"/api/v1/nodes/{NODE}")


async def test_a_launch_with_all_options_is_accepted_run_and_stopped(
    yard: Yard, real_kubernetes: KubernetesCluster
) -> None:
    line = (
        "training launch real-one --image registry.example/vision/mnist:7 --workers 2 --gpus 4 --ps 2 --cpu 2 "
        "--memory 8Gi --max-duration 4h --backoff 1 --service-per-task --node-selector pool=launch -- --epochs '$$'"
    )
    script = Upload(name="run.sh", content=b"#!/bin/bash\nsleep 1\n")
    plan = await yard.do(line, ANA, uploads=(script,))
    assert plan.state is PlanState.DONE, plan.error
    assert sum(isinstance(step, Create) for step in plan.steps) == 12

    def mine() -> list[Training]:
        return [one for one in yard.cluster.trainings() if one.shown == "real-one/real-one"]

    await yard.seen(lambda: [rank.node for view in mine() for rank in view.ranks] == [NODE] * 4)
    (view,) = mine()
    assert {(rank.role, rank.index) for rank in view.ranks} == {
        ("worker", 0),
        ("worker", 1),
        ("ps", 0),
        ("ps", 1),
    }
    pods = real_kubernetes.call("GET", "/api/v1/namespaces/real-one/pods")["items"]
    hosts = {(pod["spec"].get("hostname"), pod["spec"].get("subdomain")) for pod in pods}
    assert ("real-one-worker-1", "real-one-worker") in hosts
    assert ("real-one-ps-1", "real-one-ps") in hosts

    paused = await yard.do("training stop real-one", DANA)
    assert paused.state is PlanState.DONE, paused.error
    space = real_kubernetes.call("GET", "/api/v1/namespaces/real-one")
    assert space["metadata"]["deletionTimestamp"]
