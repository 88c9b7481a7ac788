"""This file tests that trainings are launched, undone and launched again with no more rights than the chart gives."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from collectors.facts.results import SourceError
from commands.core.context import Defaults
from commands.plans.plan import Plan, PlanState
from commands.plans.steps import Create, Delete, ObjectRef
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings, User
from tests.commands.training.conftest import SECRET
from tests.support.yard import ANA, DANA, Hands, Yard, a_node_tree, yard_before

RIGHTS = Path(__file__).parents[3] / "helm/yardmaster/files/rights.yaml"
ENABLED = ("training launch", "training stop")
RBAC = "rbac.authorization.k8s.io"
LINE = "training launch mnist --image registry.example/mnist:7 --gpus 1"
PULL_RULE = {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["regcred"], "verbs": ["get"]}


def a_namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def grant(kube: KubernetesLookalike, name: str, rules: list[Any], namespace: str = "") -> None:
    """Give the user `bot` these rules, across the cluster or in one namespace."""
    kind = "Role" if namespace else "ClusterRole"
    place = {"namespace": namespace} if namespace else {}
    meta = {"name": name, **place}
    kube.create({"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": meta, "rules": rules})
    kube.create(
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": f"{kind}Binding",
            "metadata": meta,
            "roleRef": {"apiGroup": RBAC, "kind": kind, "name": name},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "bot"}],
        }
    )


@pytest.fixture
async def kube(clock: Hands) -> AsyncIterator[KubernetesLookalike]:
    """Two nodes, the pull secret, and a user `bot` with the rights of the chart where launch and stop are enabled."""
    rights = yaml.safe_load(RIGHTS.read_text())
    async with KubernetesLookalike.running(
        clock=clock.now, tokens={"bot": User("bot")}, settings=Settings(node_grace=None)
    ) as running:
        for name in ("gpu-a01", "gpu-a02"):
            running.create(a_node_tree(name), keep_status=True)
        running.create(a_namespace("platform"))
        meta = {"name": "regcred", "namespace": "platform"}
        content = {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": SECRET}}
        running.create({"apiVersion": "v1", "kind": "Secret", "metadata": meta, **content})
        grant(running, "look", rights["look"]["cluster"])
        grant(running, "act", [rule for name in ENABLED for rule in rights["act"][name]["cluster"]])
        for namespace, rules in rights["look"]["namespaces"].items():
            if running.get("namespaces", "", namespace) is None:
                running.create(a_namespace(namespace))
            grant(running, "look", rules, namespace)
        grant(running, "pull-secret", [PULL_RULE], "platform")
        yield running


@pytest.fixture
async def yard(kube: KubernetesLookalike, clock: Hands, tmp_path: Path) -> AsyncIterator[Yard]:
    config = kube.kubeconfig(tmp_path / "config", token="bot")
    async with yard_before(config, clock=clock, policy=Defaults(pull_secret="platform/regcred")) as made:
        yield made


async def launched(yard: Yard) -> Plan:
    plan = await yard.do(LINE, ANA)
    assert plan.state is PlanState.DONE, plan.error
    await yard.seen(lambda: any(view.workloads for view in yard.cluster.trainings()))
    return plan


async def kept_namespace(yard: Yard) -> None:
    """The training was stopped, and its namespace with the copied secret stayed."""
    await launched(yard)
    plan = await yard.do("training stop mnist --keep-namespace", DANA)
    assert plan.state is PlanState.DONE, plan.error
    await yard.seen(lambda: not any(view.workloads for view in yard.cluster.trainings()))


async def test_the_account_may_neither_read_nor_delete_the_copied_secret(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await launched(yard)
    assert kube.get("secrets", "mnist", "regcred") is not None
    secret = ObjectRef(api="v1", kind="Secret", namespace="mnist", name="regcred")
    for forbidden in (yard.writer.read(secret), yard.writer.delete(Delete(ref=secret, description=""))):
        with pytest.raises(SourceError, match="403"):
            await forbidden


async def test_undoing_a_launch_leaves_the_secret_to_the_end_of_its_namespace(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await launched(yard)
    undone = await yard.do(f"plan undo {plan.id}", DANA)
    assert undone.state is PlanState.DONE, undone.error
    assert not any("stays as it is" in note for note in undone.notes)
    deleted = {step.ref.kind for step in undone.steps if isinstance(step, Delete)}
    assert deleted == {"Namespace", "Service", "Job"}
    assert not kube.list("secrets", "mnist")


async def test_a_kept_namespace_is_launched_into_again_with_the_secret_that_is_there(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await kept_namespace(yard)
    again = await launched(yard)
    outcomes = {
        step.ref.kind: record.outcome
        for step, record in zip(again.steps, again.records, strict=True)
        if isinstance(step, Create)
    }
    assert "Namespace" not in outcomes
    assert outcomes["Secret"] == "was there already"
    assert kube.get("jobs", "mnist", "mnist-worker")["spec"]["suspend"] is False  # type: ignore[index]


async def test_undoing_a_launch_into_a_kept_namespace_leaves_the_namespace_and_its_secret(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await kept_namespace(yard)
    again = await launched(yard)
    undone = await yard.do(f"plan undo {again.id}", DANA)
    assert undone.state is PlanState.DONE, undone.error
    assert any("This stays as it is" in note and "secret" in note for note in undone.notes), undone.notes
    assert kube.get("secrets", "mnist", "regcred") is not None
    assert not kube.list("jobs", "mnist")


async def test_a_secret_that_is_gone_from_a_kept_namespace_is_copied_anew(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await kept_namespace(yard)
    kube.delete("secrets", "mnist", "regcred")
    await launched(yard)
    copied = kube.get("secrets", "mnist", "regcred")
    assert copied is not None
    assert copied["data"] == {".dockerconfigjson": SECRET}
