"""Trainings are launched, undone and launched again with only the permissions of the chart."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from collectors.cluster.kinds import JOBSETS
from collectors.facts.results import SourceError
from commands.core.context import Defaults
from commands.core.request import Upload
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Plan, PlanState
from commands.execution.steps import Create, Delete
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings, User
from tests.commands.training.conftest import SECRET
from tests.support.custom_kinds import a_definition
from tests.support.quick_yaml import from_yaml
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
    """Two nodes, the pull secret, and a user `bot` with the chart's permissions for launch and stop."""
    rights = from_yaml(RIGHTS.read_text())
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


async def keep_namespace(yard: Yard) -> None:
    """Launch and stop a training, and keep its namespace with the copied secret."""
    await launched(yard)
    plan = await yard.do("training stop mnist --keep-namespace", DANA)
    assert plan.state is PlanState.DONE, plan.error
    await yard.seen(lambda: not any(view.workloads for view in yard.cluster.trainings()))


async def test_the_account_can_neither_read_nor_delete_the_copied_secret(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await launched(yard)
    assert kube.get("secrets", "mnist", "regcred") is not None
    secret = ObjectRef(api="v1", kind="Secret", namespace="mnist", name="regcred")
    for forbidden in (yard.writer.read(secret), yard.writer.delete(secret)):
        with pytest.raises(SourceError, match="403"):
            await forbidden


async def test_of_config_maps_only_the_uploaded_scripts_can_be_read_and_deleted(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    script = Upload(name="run.sh", content=b"#!/bin/bash\nsleep 1\n")
    plan = await yard.do(LINE, ANA, uploads=(script,))
    assert plan.state is PlanState.DONE, plan.error
    await yard.seen(lambda: any(view.workloads for view in yard.cluster.trainings()))
    meta = {"name": "of-others", "namespace": "mnist"}
    kube.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"password": "x"}})
    other = ObjectRef(api="v1", kind="ConfigMap", namespace="mnist", name="of-others")
    for forbidden in (yard.writer.read(other), yard.writer.delete(other), yard.writer.listing(other)):
        with pytest.raises(SourceError, match="403"):
            await forbidden

    over = await yard.do("training stop mnist --keep-namespace", DANA)
    assert over.state is PlanState.DONE, over.error
    left = {one["metadata"]["name"] for one in kube.list("configmaps", "mnist")}
    assert ("of-others" in left, "training-script" in left) == (True, False)


async def test_undoing_a_launch_deletes_the_secret_with_its_namespace(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await launched(yard)
    undone = await yard.do(f"plan undo {plan.id}", DANA)
    assert undone.state is PlanState.DONE, undone.error
    assert not any("This is not undone" in note for note in undone.notes)
    deleted = {step.ref.kind for step in undone.steps if isinstance(step, Delete)}
    assert deleted == {"Namespace", "Service", "Job"}
    assert not kube.list("secrets", "mnist")


async def test_a_jobset_is_launched_stopped_and_undone_with_the_permissions_of_the_chart(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    kube.create(a_definition(JOBSETS))
    for line in ("training stop mnist --keep-namespace", "plan undo {}"):
        plan = await yard.do(f"{LINE} --kind jobset", ANA)
        assert plan.state is PlanState.DONE, plan.error
        jobset = kube.get("jobsets", "mnist", "mnist")
        assert jobset is not None
        assert jobset["spec"]["suspend"] is False
        await yard.seen(lambda: any(view.workloads for view in yard.cluster.trainings()))
        over = await yard.do(line.format(plan.id), DANA)
        assert over.state is PlanState.DONE, over.error
        assert kube.get("jobsets", "mnist", "mnist") is None
        await yard.seen(lambda: not any(view.workloads for view in yard.cluster.trainings()))


async def test_a_launch_into_a_kept_namespace_uses_the_existing_secret(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await keep_namespace(yard)
    again = await launched(yard)
    outcomes = {
        step.ref.kind: record.outcome
        for step, record in zip(again.steps, await yard.records(again), strict=True)
        if isinstance(step, Create)
    }
    assert "Namespace" not in outcomes
    assert outcomes["Secret"] == "already there"
    assert kube.get("jobs", "mnist", "mnist-worker")["spec"]["suspend"] is False  # type: ignore[index]


async def test_undoing_a_launch_into_a_kept_namespace_keeps_the_namespace_and_secret(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await keep_namespace(yard)
    again = await launched(yard)
    undone = await yard.do(f"plan undo {again.id}", DANA)
    assert undone.state is PlanState.DONE, undone.error
    assert any("This is not undone" in note and "secret" in note for note in undone.notes), undone.notes
    assert kube.get("secrets", "mnist", "regcred") is not None
    assert not kube.list("jobs", "mnist")


async def test_a_secret_missing_from_a_kept_namespace_is_copied_again(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await keep_namespace(yard)
    kube.delete("secrets", "mnist", "regcred")
    await launched(yard)
    copied = kube.get("secrets", "mnist", "regcred")
    assert copied is not None
    assert copied["data"] == {".dockerconfigjson": SECRET}
