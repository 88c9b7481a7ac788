"""Each kind of training after a launch, as the tests of all kinds see it."""

import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from collectors.cluster.base import KubernetesObject
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.trainings import catalogue
from commands.execution.steps import Create, Patch, Step
from commands.training import training_kinds
from commands.training.launch_steps import launch_steps
from commands.training.spec import KUEUE, TrainingRole, TrainingSpec
from commands.training.writing_kind import Launching, WritingKind
from tests.support.objects import inventory

READ = {kind.name: kind for kind in catalogue.KINDS}


WRITTEN = training_kinds.KINDS


QUEUE = {"kueue.x-k8s.io/queue-name": "gpus"}


SPEC = TrainingSpec(
    name="mnist",
    namespace="mnist",
    image="registry.example/mnist:7",
    roles=(
        TrainingRole(name="worker", replicas=4, gpus=8, memory="64Gi", command=("bash", "/run.sh")),
        TrainingRole(name="ps", replicas=2, cpu="4", is_server=True),
    ),
    owner="ana",
    team="vision",
)


# How the status of an API says that an object has failed. A kind is tested with the first that it understands.
FAILED: tuple[dict[str, Any], ...] = (
    {"conditions": [{"type": "Failed", "status": "True"}]},
    {"state": {"phase": "Failed"}},
    {"jobDeploymentStatus": "Failed"},
)


each_kind = pytest.mark.parametrize("kind", WRITTEN.values(), ids=lambda kind: kind.name)


each_launched = pytest.mark.parametrize(
    "kind", [kind for kind in WRITTEN.values() if kind.launching], ids=lambda kind: kind.name
)


each_suspended = pytest.mark.parametrize(
    "kind",
    [kind for kind in WRITTEN.values() if kind.launching and kind.suspending],
    ids=lambda kind: kind.name,
)


each_created_suspended = pytest.mark.parametrize(
    "kind",
    [kind for kind in WRITTEN.values() if kind.launching and kind.launching.starts_suspended],
    ids=lambda kind: kind.name,
)


each_in_kueue = pytest.mark.parametrize(
    "kind",
    [kind for kind in WRITTEN.values() if kind.launching and KUEUE in kind.launching.queues],
    ids=lambda kind: kind.name,
)


API = {(kind.api, kind.kind): kind for kind in DEFAULT_KINDS}


API_OF = {kind.kind_in_keys: kind.api for kind in DEFAULT_KINDS}


def spec_of(kind: WritingKind) -> TrainingSpec:
    """Return the spec, without its servers if the kind refuses them: then it must launch the workers alone."""
    alone = replace(SPEC, roles=SPEC.roles[:1])
    refusal = launching_of(kind).refusal
    spec = next((one for one in (SPEC, alone) if not refusal(one)), None)
    assert spec is not None, f"it launches no workers: {refusal(alone)}"
    return spec


def launching_of(kind: WritingKind) -> Launching:
    assert kind.launching is not None
    return kind.launching


def steps_of_launch(kind: WritingKind) -> tuple[Step, ...]:
    return launch_steps(launching_of(kind), spec_of(kind), has_namespace=False, has_secret=False)


def launched(kind: WritingKind, **labels: str) -> Inventory:
    """Return the cluster after a launch, before any controller has seen it."""
    steps = steps_of_launch(kind)
    trees = {step.ref: step.manifest for step in steps if isinstance(step, Create)}
    for step in steps:
        if isinstance(step, Patch):
            trees[step.ref] = merged(trees[step.ref], step.body)
    return inventory(*(decoded(tree, labels) for tree in trees.values()))


def merged(tree: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    return {**tree, **{key: merged(tree.get(key, {}), value) for key, value in patch.items()}}


def decoded(tree: Any, labels: dict[str, str]) -> KubernetesObject:
    objects = API[(tree["apiVersion"], tree["kind"])]
    meta = {**tree["metadata"], "uid": f"uid-{tree['metadata']['name']}"}
    meta["labels"] = {**meta["labels"], **labels}
    found: KubernetesObject = msgspec.json.decode(json.dumps({**tree, "metadata": meta}), type=objects.type)
    return found


def with_end(one: KubernetesObject, kind: WritingKind) -> KubernetesObject:
    """Return the object after its failure, if it is of this kind."""
    if not isinstance(one, kind.objects.type):
        return one
    tree = msgspec.to_builtins(one)
    after: list[KubernetesObject] = [
        msgspec.convert({**tree, "status": status}, type=kind.objects.type) for status in FAILED
    ]
    failed = next(filter(kind.has_ended, after), None)
    assert failed is not None, f"add to FAILED how the status of a {kind.name} says that it has failed"
    return failed
