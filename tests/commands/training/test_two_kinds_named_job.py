"""Volcano's Job beside batch's, of one name in one namespace: each is read, named and changed without the other.

On the look-alike, and on a real API server with a definition of our own and with Volcano's. No Volcano runs there: the
pods of its Job are made by hand.
"""

import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from alerts.incidents.group_keys import group_key_of
from collectors.cluster.kinds import JOBS, VCJOBS, ResourceKind
from collectors.facts.results import SourceError
from collectors.facts.subjects import Subject
from collectors.facts.workload_keys import shown_kind
from collectors.trainings.training import Training, TrainingState
from collectors.trainings.vcjob import TASK, TASK_NUMBER
from commands.core.context import Defaults
from commands.execution.plan import Plan, PlanState
from commands.execution.steps import Delete
from commands.models import ReclaimRequest
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings
from tests.commands.gpu.conftest import measured
from tests.support.drained import Kubelets, kubelets, until
from tests.support.quick_yaml import from_yaml
from tests.support.rows import an_alert
from tests.support.vcjob_definition import vcjob_definition
from tests.support.yard import ANA, CLUSTER, DANA, Yard, yard_before

VOLCANOS_OWN = Path(__file__).parents[4] / "shared/crds/volcano/batch.volcano.sh_jobs.yaml"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAME = "bert"
REAL = [pytest.mark.real, pytest.mark.xdist_group("real_kubernetes")]
SERVERS = [pytest.param("look-alike", id="look-alike"), pytest.param("real", id="real", marks=REAL)]
IS_MISSING = pytest.mark.skipif(not VOLCANOS_OWN.is_file(), reason=f"{VOLCANOS_OWN} is missing")
EVERY_DEFINITION = pytest.mark.parametrize(
    "stage",
    [*SERVERS, pytest.param("volcano's own", id="volcano's own", marks=[*REAL, IS_MISSING])],
    indirect=True,
)
BOTH = pytest.mark.parametrize(("kind", "other"), [(JOBS, VCJOBS), (VCJOBS, JOBS)], ids=["batch", "volcano"])


@dataclass(kw_only=True)
class Stage:
    """A cluster that serves both kinds, and an empty namespace with a node for its pods."""

    yard: Yard
    kube: Kubelets

    @property
    def space(self) -> str:
        return self.kube.namespace

    def path(self, kind: ResourceKind[Any], name: str = NAME) -> str:
        return self.kube.path("jobs", name, api=f"/apis/{kind.api}")

    def key(self, kind: ResourceKind[Any]) -> str:
        return f"{self.space}/{kind.kind_in_keys}/{NAME}"

    def trainings(self) -> dict[str, Training]:
        return {one.id: one for one in self.yard.cluster.trainings() if one.namespace == self.space}

    def pods(self, kind: ResourceKind[Any]) -> set[str]:
        found = self.trainings().get(self.key(kind))
        return {rank.pod for rank in found.ranks} if found is not None else set()

    async def done(self, line: str) -> Plan:
        plan = await self.yard.do(line, DANA)
        assert plan.state is PlanState.DONE, plan.error
        return plan

    async def create_both(self) -> None:
        """Create a Job of each kind with the same name. Pods of Volcano's are made by hand."""
        pod = {
            "restartPolicy": "Never",
            "nodeSelector": {"pool": self.space},
            "containers": [
                {"name": "main", "image": "registry.example/m:1", "resources": _limits("nvidia.com/gpu", 2)}
            ],
        }
        template = {"spec": pod}
        await self.kube.call(
            "POST",
            self.path(JOBS, ""),
            {"metadata": {"name": NAME}, "spec": {"parallelism": 2, "completions": 2, "template": template}},
        )
        task = {"name": "worker", "replicas": 1, "template": template}
        made = await self.kube.call(
            "POST",
            self.path(VCJOBS, ""),
            {
                "apiVersion": VCJOBS.api,
                "kind": "Job",
                "metadata": {"name": NAME},
                "spec": {"schedulerName": "volcano", "minAvailable": 1, "tasks": [task]},
            },
        )
        owner = {
            "apiVersion": VCJOBS.api,
            "kind": "Job",
            "name": NAME,
            "uid": made["metadata"]["uid"],
            "controller": True,
        }
        meta = {
            "name": f"{NAME}-worker-0",
            "annotations": {TASK: "worker", TASK_NUMBER: "0"},
            "ownerReferences": [owner],
        }
        await self.kube.call("POST", self.kube.path("pods"), {"metadata": meta, "spec": pod})
        await self.yard.seen(
            lambda: (
                set(self.trainings()) == {self.key(JOBS), self.key(VCJOBS)}
                and all(one.state is TrainingState.RUNNING for one in self.trainings().values())
            )
        )

    async def uid(self, kind: ResourceKind[Any]) -> str:
        """Return the uid of the Job of this kind; empty if it is gone or is being deleted."""
        try:
            meta = (await self.kube.call("GET", self.path(kind)))["metadata"]
        except SourceError as error:
            if error.status != 404:
                raise
            return ""
        return "" if "deletionTimestamp" in meta else str(meta["uid"])


def _limits(resource: str, count: int) -> dict[str, Any]:
    return {"limits": {resource: str(count)}}


@pytest.fixture(params=SERVERS)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    name = f"vc-{uuid.uuid4().hex[:6]}"
    definition = vcjob_definition()
    async with AsyncExitStack() as stack:
        if request.param == "look-alike":
            running = KubernetesLookalike.running(settings=Settings(node_grace=None))
            config = (await stack.enter_async_context(running)).kubeconfig(tmp_path / "config")
        else:
            config = request.getfixturevalue("real_kubernetes").kubeconfig
        if request.param == "volcano's own":
            definition = from_yaml(VOLCANOS_OWN.read_text(encoding="utf-8"))
        kube = await stack.enter_async_context(kubelets(config, name))
        await kube.add_open_node(f"{name}-node", pool=name, **{"nvidia.com/gpu": "8"})
        await kube.call("POST", DEFINITIONS, definition)
        try:
            await until(lambda: is_served(kube))
            policy = Defaults(owners={"ana": "U_ANA"})
            yard = await stack.enter_async_context(yard_before(config, policy=policy))
            yield Stage(yard=yard, kube=kube)
        finally:
            await kube.clear((f"{name}-node",), f"{DEFINITIONS}/{VCJOBS.name}")
            await until(lambda: is_gone(kube))


async def is_served(kube: Kubelets) -> bool:
    """Whether this definition is served, and not the one before it, which was deleted a moment ago."""
    found = await kube.call("GET", f"{DEFINITIONS}/{VCJOBS.name}")
    conditions = {one["type"]: one["status"] for one in found.get("status", {}).get("conditions") or ()}
    if conditions.get("Established") != "True":
        return False
    try:
        await kube.call("GET", VCJOBS.path)
    except SourceError as error:
        if error.status not in (404, 429):  # 429: its storage is being initialized
            raise
        return False
    return True


async def is_gone(kube: Kubelets) -> bool:
    """Whether the definition is gone, so that the next test can install its own."""
    try:
        await kube.call("GET", f"{DEFINITIONS}/{VCJOBS.name}")
    except SourceError as error:
        return error.status == 404
    return False


async def test_both_are_listed_and_shown_each_with_its_own_pods(stage: Stage) -> None:
    await stage.create_both()
    by_hand = {f"{NAME}-worker-0"}
    assert stage.pods(VCJOBS) == by_hand
    made = {
        one["metadata"]["name"] for one in (await stage.kube.call("GET", stage.kube.path("pods")))["items"]
    }
    assert stage.pods(JOBS) == made - by_hand
    assert [(len(stage.pods(kind)), stage.trainings()[stage.key(kind)].gpus) for kind in (JOBS, VCJOBS)] == [
        (2, 4),
        (1, 2),
    ]
    listed = await stage.yard.say("training list")
    for kind, other in ((JOBS, VCJOBS), (VCJOBS, JOBS)):
        assert stage.key(kind) in listed
        shown = await stage.yard.say(f"training show {stage.key(kind)}")
        assert f"kind: {shown_kind(kind.kind_in_keys)}\n" in shown
        assert f"ranks: {len(stage.pods(kind))} of {len(stage.pods(kind))} run" in shown
        assert f"training stop {stage.key(kind)}" in shown
        assert stage.key(other) not in shown
    alerts_are_grouped_apart(stage)


def alerts_are_grouped_apart(stage: Stage) -> None:
    """Whatever an alert names: a pod, the workload or the training."""
    topology = stage.yard.cluster.topology()
    found: dict[str, set[str]] = {}
    for kind in (JOBS, VCJOBS):
        key = stage.key(kind)
        pod = Subject(cluster=CLUSTER, namespace=stage.space, pod=sorted(stage.pods(kind))[0])
        workload = Subject(cluster=CLUSTER, workload=key)
        training = Subject(cluster=CLUSTER, training=stage.trainings()[key].typed)
        found[key] = {
            group_key_of(replace(an_alert(), own_subject=own, subject=topology.complete(own)))
            for own in (pod, workload, training)
        }
    assert found == {key: {f"training/{key}", f"workload/{key}"} for key in found}


@BOTH
async def test_one_is_stopped_by_its_key_and_the_other_goes_on(
    stage: Stage, kind: ResourceKind[Any], other: ResourceKind[Any]
) -> None:
    await stage.create_both()
    answer = await stage.yard.say(f"training stop {stage.space}/{NAME}", DANA)
    assert await stage.yard.newest() is None
    assert all(stage.key(one) in answer for one in (JOBS, VCJOBS)), answer
    kept, pods = await stage.uid(other), stage.pods(other)
    assert kept

    plan = await stage.done(f"training stop {stage.key(kind)}")
    (step,) = plan.steps
    assert isinstance(step, Delete)
    assert (step.ref.api, step.ref.kind, step.ref.name) == (kind.api, "Job", NAME)
    word = {JOBS: "job", VCJOBS: "job.batch.volcano.sh"}[kind]  # as kubectl takes it
    assert step.description == f"delete {word} {stage.space}/{NAME} and its pods"
    assert step.how_to_check == f"kubectl get {word} {NAME} -n {stage.space} -o yaml"
    await stage.yard.seen(lambda: set(stage.trainings()) == {stage.key(other)})
    assert await stage.uid(kind) == ""
    assert await stage.uid(other) == kept
    assert stage.pods(other) == pods
    left = stage.trainings()[stage.key(other)]
    assert (left.typed, left.state) == (f"{stage.space}/{NAME}", TrainingState.RUNNING)


async def test_one_is_suspended_and_an_undo_restarts_it(stage: Stage) -> None:
    await stage.create_both()
    kept, pods, first = await stage.uid(VCJOBS), stage.pods(VCJOBS), stage.pods(JOBS)
    measured(stage.yard, {}, names=(NAME,))
    await stage.done(f"gpu free {stage.key(JOBS)} --grace 30m")
    async with stage.yard.store.unit() as unit:
        found = await unit.rows(ReclaimRequest).find(state="asked")
        (asked,) = (one for one in found if stage.space in one.training)  # others are on the real cluster too
    assert asked.training == stage.key(JOBS)
    plan = await stage.done(f"gpu release {asked.id}")
    await stage.yard.seen(lambda: stage.trainings()[stage.key(JOBS)].state is TrainingState.SUSPENDED)
    await stage.yard.seen(lambda: not stage.pods(JOBS))
    assert (await stage.uid(VCJOBS), stage.pods(VCJOBS)) == (kept, pods)

    await stage.done(f"plan undo {plan.id}")
    await stage.yard.seen(lambda: stage.trainings()[stage.key(JOBS)].state is TrainingState.RUNNING)
    assert stage.pods(JOBS).isdisjoint(first)
    assert (await stage.uid(VCJOBS), stage.pods(VCJOBS)) == (kept, pods)


@EVERY_DEFINITION
async def test_it_is_launched_by_the_name_that_is_its_own(stage: Stage) -> None:
    name = f"{stage.space}-new"
    line = (
        f"training launch {name} --kind vcjob --image registry.example/vision/mnist:7 --workers 2 --gpus 1 --ps 1 "
        f"--backoff 1 --node-selector pool={stage.space} -- --epochs 9"
    )
    plan = await stage.yard.do(line, ANA)
    assert plan.state is PlanState.DONE, plan.error

    def mine() -> list[Training]:
        return [one for one in stage.yard.cluster.trainings() if one.namespace == name]

    # Its namespace may be seen first, and is a training without an object then.
    await stage.yard.seen(lambda: [len(one.workloads) for one in mine()] == [1])
    (found,) = mine()
    assert (found.kind, found.owner, found.wanted, found.gpus_wanted) == (VCJOBS.kind_in_keys, "ana", 3, 2)
    assert found.workloads == (f"{name}/{VCJOBS.kind_in_keys}/{name}",)
    await stage.done(f"training stop {found.typed}")
    await stage.yard.seen(lambda: not mine() or not mine()[0].workloads)
