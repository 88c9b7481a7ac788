"""Trainings with a range of workers: `--workers 2..4`, by the kinds that have elastic ones."""

from dataclasses import replace
from typing import Any

import pytest

from collectors.cluster.objects import PyTorchJob, VolcanoJob
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import TrainingState
from commands.core.command import UnusableError
from commands.core.request import Upload
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Plan
from commands.execution.steps import Create
from commands.training.spec import KUEUE, TrainingRole, TrainingSpec
from commands.training.training_kinds import BY_OPTION
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.custom_kinds import a_definition
from tests.support.objects import gpus, inventory, pod, read
from tests.support.yard import ANA, Yard

IMAGE = "--image registry.example/vision/mnist:7"
RANGE = f"training launch mnist {IMAGE} --workers 2..4 --gpus 8"
ELASTIC = [option for option, kind in BY_OPTION.items() if kind.launching and kind.launching.elastic]
FIXED = [option for option, kind in BY_OPTION.items() if kind.launching and not kind.launching.elastic]
REF = ObjectRef(api="v1", kind="Any", namespace="v", name="bert")


def serve(kube: KubernetesLookalike, option: str) -> None:
    if option != "job":
        kube.create(a_definition(BY_OPTION[option].objects))


def made(plan: Plan, option: str) -> Any:
    kind = BY_OPTION[option].objects.kind
    (found,) = (one.manifest for one in plan.steps if isinstance(one, Create) and one.ref.kind == kind)
    return found["spec"]


def test_those_that_have_elastic_ones_are_known() -> None:
    assert ELASTIC == ["pytorchjob", "vcjob", "rayjob"]


@pytest.mark.parametrize("option", ELASTIC)
async def test_it_fits_once_the_least_has_room_and_its_preview_says_the_range(
    yard: Yard, kube: KubernetesLookalike, option: str
) -> None:
    """There is room for two workers."""
    serve(kube, option)
    line = f"{RANGE} --kind {option} -- python train.py"
    reply = await yard.say(line, ANA)
    assert "Launch mnist/mnist: 2 to 4 workers, each with 8 nvidia.com/gpu" in reply
    assert "It fits now, for example on gpu-a01, gpu-a02" in reply
    launching = BY_OPTION[option].launching
    assert launching is not None
    assert launching.elastic.split(".")[0] in reply
    refusal = await yard.say(line.replace("2..4", "3..4"), ANA)
    assert "mnist/mnist does not fit now" in refusal


@pytest.mark.parametrize("option", FIXED)
async def test_a_kind_without_elastic_ones_refuses_a_range_by_its_name(
    yard: Yard, kube: KubernetesLookalike, option: str
) -> None:
    serve(kube, option)
    reply = await yard.say(f"{RANGE} --kind {option} --wait -- python train.py", ANA)
    kind = BY_OPTION[option].objects.kind
    assert f"--workers 2..4 is not for {kind}s, whose number of workers is fixed" in reply
    assert "--kind pytorchjob, --kind vcjob or --kind rayjob" in reply
    assert await yard.newest() is None
    assert kube.get("namespaces", "", "mnist") is None


async def test_a_pytorchjob_has_workers_only_and_their_range(yard: Yard, kube: KubernetesLookalike) -> None:
    serve(kube, "pytorchjob")
    spec = made(await yard.plan(f"{RANGE} --kind pytorchjob --backoff 3", ANA), "pytorchjob")
    assert list(spec["pytorchReplicaSpecs"]) == ["Worker"]
    assert spec["pytorchReplicaSpecs"]["Worker"]["replicas"] == 4
    assert spec["elasticPolicy"] == {
        "rdzvBackend": "c10d",
        "minReplicas": 2,
        "maxReplicas": 4,
        "maxRestarts": 3,
    }
    fixed = made(await yard.plan(f"{RANGE.replace('2..4', '2..2')} --kind pytorchjob", ANA), "pytorchjob")
    assert list(fixed["pytorchReplicaSpecs"]) == ["Master", "Worker"]
    assert "elasticPolicy" not in fixed


async def test_the_gang_of_a_vcjob_needs_the_least_and_its_servers(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    serve(kube, "vcjob")
    spec = made(await yard.plan(f"{RANGE} --kind vcjob --ps 1", ANA), "vcjob")
    worker, server = spec["tasks"]
    assert (spec["minAvailable"], worker["replicas"], worker["minAvailable"]) == (3, 4, 2)
    assert "minAvailable" not in server


async def test_the_cluster_of_a_rayjob_begins_with_the_least_and_only_its_autoscaler_has_an_account(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    serve(kube, "rayjob")
    cluster = made(await yard.plan(f"{RANGE} --kind rayjob -- python t.py", ANA), "rayjob")["rayClusterSpec"]
    (group,) = cluster["workerGroupSpecs"]
    assert (group["replicas"], group["minReplicas"], group["maxReplicas"]) == (2, 2, 4)
    assert cluster["enableInTreeAutoscaling"] is True
    (mount,) = cluster["autoscalerOptions"]["volumeMounts"]
    head = cluster["headGroupSpec"]["template"]["spec"]
    assert head["automountServiceAccountToken"] is False
    assert mount["name"] in [one["name"] for one in head["volumes"]]
    assert mount["name"] not in [one["name"] for one in head["containers"][0]["volumeMounts"]]
    worker = group["template"]["spec"]
    assert mount["name"] not in [one["name"] for one in worker["volumes"]]


def test_a_rayjob_in_a_queue_of_kueue_has_a_fixed_number() -> None:
    role = TrainingRole(name="worker", replicas=4, least=2, gpus=8, command=("python",))
    spec = TrainingSpec(name="m", namespace="m", image="i", roles=(role,), queue="gpus", queue_system=KUEUE)
    rayjob = BY_OPTION["rayjob"].launching
    assert rayjob is not None
    assert "Kueue does not admit a RayJob whose number of workers changes" in rayjob.refusal(spec)
    assert not rayjob.refusal(replace(spec, queue_system="Volcano"))


HOSTILE = [
    ("8..2", "must go from the smaller number to the larger, and 8..2 does not"),
    ("0..4", "must be a whole number, such as 4, or a range, such as 2..8, and 0..4 is neither"),
    ("..4", "and ..4 is neither"),
    ("4..", "and 4.. is neither"),
    ("1..2..3", "and 1..2..3 is neither"),
    ("-1..3", "and -1..3 is neither"),
    ("2...4", "and 2...4 is neither"),
    ("\u0662..\u0664", "is neither"),
    ("1e3", "and 1e3 is neither"),
    ("2..99999", "--workers 99999: must be 1 to 1000"),
    ("2..9999999999999999999", "is neither"),
    ("0", "--workers 0: must be 1 to 1000"),
]


@pytest.mark.parametrize(("given", "said"), HOSTILE)
async def test_what_is_no_range_is_refused(
    yard: Yard, kube: KubernetesLookalike, given: str, said: str
) -> None:
    serve(kube, "pytorchjob")
    reply = await yard.say(f"{RANGE.replace(' 2..4', f'={given}')} --kind pytorchjob", ANA)
    assert said in reply
    assert await yard.newest() is None


@pytest.mark.parametrize(
    ("replicas", "said"),
    [
        (
            "8..2",
            "train.yaml, line 5: --workers must go from the smaller number to the larger, and 8..2 does not",
        ),
        ("0..4", "train.yaml, line 5: --workers must be a whole number"),
        ("[2, 4]", "train.yaml, line 5: replicas must be a text or a number"),
        ("{least: 2}", "train.yaml, line 5: replicas must be a text or a number"),
    ],
)
async def test_in_a_file_it_is_refused_with_its_line(yard: Yard, replicas: str, said: str) -> None:
    file = a_file(replicas)
    assert said in await yard.say("training launch mnist --spec", ANA, uploads=file)
    assert await yard.newest() is None


def a_file(replicas: str) -> tuple[Upload, ...]:
    text = (
        "kind: pytorchjob\nimage: registry.example/vision/mnist:7\nroles:\n  worker:\n"
        f"    replicas: {replicas}\n    gpus: 8\n"
    )
    return (Upload(name="train.yaml", content=text.encode()),)


async def test_a_range_in_a_file_and_one_like_another_mean_the_same(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    serve(kube, "pytorchjob")
    plan = await yard.plan("training launch mnist --spec", ANA, uploads=a_file("2..4"))
    assert made(plan, "pytorchjob")["elasticPolicy"]["maxReplicas"] == 4
    await yard.do(f"{RANGE} --kind pytorchjob", ANA)
    again = made(await yard.plan("training launch second --like mnist --wait", ANA), "pytorchjob")
    assert (again["elasticPolicy"]["minReplicas"], again["elasticPolicy"]["maxReplicas"]) == (2, 4)


def test_it_is_scaled_within_its_range_only() -> None:
    pytorchjob, vcjob = (BY_OPTION[option].scaling for option in ("pytorchjob", "vcjob"))
    assert pytorchjob is not None
    assert vcjob is not None
    raw: Any = {
        "spec": {
            "pytorchReplicaSpecs": {"Worker": {"replicas": 4}},
            "elasticPolicy": {"minReplicas": 2, "maxReplicas": 4},
        }
    }
    less: Any = pytorchjob.step(REF, raw, 2)
    assert less.body["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] == 2
    for workers in (1, 5):
        with pytest.raises(UnusableError, match="runs with 2 to 4 workers"):
            pytorchjob.step(REF, raw, workers)
    raw = {"spec": {"minAvailable": 2, "tasks": [{"name": "worker", "replicas": 4, "minAvailable": 2}]}}
    step: Any = vcjob.step(REF, raw, 3)
    assert (step.body["spec"]["minAvailable"], step.body["spec"]["tasks"][0]["replicas"]) == (2, 3)
    with pytest.raises(UnusableError, match="needs 2 or more workers"):
        vcjob.step(REF, raw, 1)


def a_training(type_: type[Any], kind: str, api: str, spec: Any, running: int) -> Any:
    one = read(type_, {"metadata": {"name": "bert", "namespace": "v", "uid": "u"}, "spec": spec})
    owner = {"apiVersion": api, "kind": kind, "name": "bert", "uid": "u", "controller": True}
    pods = [
        pod(
            f"bert-worker-{number}",
            "v",
            labels={
                "training.kubeflow.org/replica-type": "worker",
                "training.kubeflow.org/replica-index": str(number),
            },
            annotations={"volcano.sh/task-spec": "worker", "volcano.sh/task-index": str(number)},
            ownerReferences=[owner],
            spec={"containers": [gpus(8)], **({"nodeName": "n1"} if number < running else {})},
            status={"phase": "Running" if number < running else "Pending"},
        )
        for number in range(4)
    ]
    (training,) = read_trainings(inventory(one, *pods))
    return training


@pytest.mark.parametrize(
    ("running", "state"),
    [(1, TrainingState.STARTING), (2, TrainingState.RUNNING), (4, TrainingState.RUNNING)],
)
def test_it_runs_as_soon_as_the_least_does(running: int, state: TrainingState) -> None:
    template = {"spec": {"containers": [gpus(8)]}}
    elastic = {
        "pytorchReplicaSpecs": {"Worker": {"replicas": 4, "template": template}},
        "elasticPolicy": {"minReplicas": 2, "maxReplicas": 4},
    }
    assert a_training(PyTorchJob, "PyTorchJob", "kubeflow.org/v1", elastic, running).state is state
    for gang in ({"minAvailable": 2}, {}):
        task = {
            "name": "worker",
            "replicas": 4,
            "template": template,
            **({} if gang else {"minAvailable": 2}),
        }
        spec = {**gang, "tasks": [task]}
        found = a_training(VolcanoJob, "Job", "batch.volcano.sh/v1alpha1", spec, running)
        assert found.state is state
