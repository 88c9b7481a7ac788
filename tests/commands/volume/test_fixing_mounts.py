"""`volume fix-mounts`: the owner of an exporter is patched, unless Helm or GitOps manages it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from commands.execution.plan import PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings
from tests.support.yard import Yard, a_node_tree, yard_before

LABELS = {"app": "exporter"}


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    async with KubernetesLookalike.running(settings=Settings(node_grace=None)) as running:
        running.create(a_node_tree("gpu-a01"), keep_status=True)
        running.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "monitoring"}})
        yield running


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_before(kube.kubeconfig(tmp_path / "config")) as made:
        yield made


async def add_exporter(kube: KubernetesLookalike, yard: Yard, *, propagation: str = "", **meta: Any) -> None:
    mount = {"name": "root", "mountPath": "/host", "readOnly": True}
    if propagation:
        mount["mountPropagation"] = propagation
    other = {"name": "logs", "mountPath": "/logs"}
    spec = {
        "containers": [{"name": "main", "image": "i", "volumeMounts": [mount, other]}],
        "volumes": [
            {"name": "root", "hostPath": {"path": "/"}},
            {"name": "logs", "hostPath": {"path": "/var/log"}},
        ],
    }
    tree = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "exporter", "namespace": "monitoring", **meta},
        "spec": {
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": spec},
        },
    }
    kube.create(tree)
    await yard.seen(lambda: any(pod.spec.node_name for pod in yard.cluster.inventory().pods.values()))


def mounts(kube: KubernetesLookalike) -> list[Any]:
    found = kube.get("daemonsets", "monitoring", "exporter")
    assert found is not None
    return [
        one.get("mountPropagation", "")
        for one in found["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]
    ]


async def test_the_owner_is_patched_and_undo_sets_it_back(kube: KubernetesLookalike, yard: Yard) -> None:
    await add_exporter(kube, yard)
    over = await yard.do("volume fix-mounts monitoring/exporter")
    assert over.state is PlanState.DONE, over.error
    assert mounts(kube) == ["HostToContainer", ""]
    assert "reaches all containers" in await yard.say("volume fix-mounts monitoring/exporter")
    undone = await yard.do(f"plan undo {over.id}")
    assert undone.state is PlanState.DONE, undone.error
    assert mounts(kube) == ["", ""]


@pytest.mark.parametrize(
    ("meta", "owner"),
    [
        ({"annotations": {"meta.helm.sh/release-name": "mon"}}, "Helm (release mon)"),
        ({"labels": {"app.kubernetes.io/managed-by": "Helm"}}, "Helm manages"),
        (
            {"annotations": {"argocd.argoproj.io/tracking-id": "infra:apps/DaemonSet:m/e"}},
            "Argo CD (application infra)",
        ),
        ({"labels": {"kustomize.toolkit.fluxcd.io/name": "apps"}}, "Flux (apps)"),
    ],
)
async def test_where_something_else_manages_it_the_value_is_named(
    kube: KubernetesLookalike, yard: Yard, meta: dict[str, Any], owner: str
) -> None:
    await add_exporter(kube, yard, propagation="None", **meta)
    reply = await yard.say("volume fix-mounts monitoring/exporter")
    assert owner in reply
    assert "mountPropagation: HostToContainer" in reply
    assert "main/root" in reply
    assert mounts(kube) == ["None", ""]


async def test_another_change_in_between_is_not_overwritten(kube: KubernetesLookalike, yard: Yard) -> None:
    await add_exporter(kube, yard)
    stored = await yard.confirmed(await yard.plan("volume fix-mounts monitoring/exporter"))
    kube.patch(
        "daemonsets",
        "monitoring",
        "exporter",
        {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "j"}]}}}},
    )
    over = await yard.executor.execute(stored)
    assert over.state is PlanState.FAILED
    assert mounts(kube) == ["", ""]


async def test_a_pod_of_nobody_is_answered_in_words(kube: KubernetesLookalike, yard: Yard) -> None:
    kube.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "debug", "namespace": "monitoring"},
            "spec": {"nodeName": "gpu-a01", "containers": [{"name": "main", "image": "i"}]},
        }
    )
    await yard.seen(lambda: "monitoring/debug" in yard.cluster.inventory().pods)
    assert "is not made from a template that Yardmaster can change" in await yard.say(
        "volume fix-mounts debug"
    )
