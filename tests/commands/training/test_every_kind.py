"""Completeness of the kinds of training. Each test names the kind, and the step that was forgotten."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.doctor.role_rules import act_rights, look_rights
from collectors.cluster.base import KubernetesObject
from collectors.cluster.indexes import by_namespace, by_owner, kind_in_api
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.facts.workload_keys import shown_kind, workload_key
from collectors.trainings import catalogue
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.training import TrainingState
from commands.command_catalogue import CATALOGUE
from commands.execution.steps import Create, Delete, Patch, Scale
from commands.training import training_kinds
from commands.training.launch_steps import launch_steps
from commands.training.spec import TrainingRole, TrainingSpec
from commands.training.workload_steps import stop_steps, suspend_steps
from commands.training.writing_kind import WritingKind
from docs.generate import fresh
from tests.support.objects import inventory
from tests.support.step_rights import forgotten_rights

ROOT = Path(__file__).parents[3]
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

each_kind = pytest.mark.parametrize("kind", WRITTEN.values(), ids=lambda kind: kind.name)
API = {(kind.api, kind.kind): kind for kind in DEFAULT_KINDS}


def spec_of(kind: WritingKind) -> TrainingSpec:
    """Return the spec, without its servers if the kind refuses them: then it must launch the workers alone."""
    alone = replace(SPEC, roles=SPEC.roles[:1])
    spec = next((one for one in (SPEC, alone) if not kind.refusal(one)), None)
    assert spec is not None, f"it launches no workers: {kind.refusal(alone)}"
    return spec


def launched(kind: WritingKind, **labels: str) -> Inventory:
    """Return the cluster after a launch, before any controller has seen it."""
    steps = launch_steps(kind, spec_of(kind), has_namespace=False, has_secret=False)
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
    failed: KubernetesObject = msgspec.convert(
        {**msgspec.to_builtins(one), "status": {"conditions": [{"type": "Failed", "status": "True"}]}},
        type=kind.objects.type,
    )
    return failed


def test_every_kind_that_is_written_is_read() -> None:
    missing = WRITTEN.keys() - READ.keys()
    assert not missing, f"write collectors/trainings/<kind>.py, and a line in its catalogue.py: {missing}"


@each_kind
def test_its_files_are_named_like_the_kind(kind: WritingKind) -> None:
    for folder in ("collectors/trainings", "commands/training"):
        assert (ROOT / folder / f"{kind.option}.py").is_file(), f"{folder}/{kind.option}.py"
    reading = f"tests/collectors/trainings/test_{kind.option}_trainings.py"
    assert (ROOT / reading).is_file(), f"test what it reads in {reading}"
    if kind is not training_kinds.DEFAULT_KIND:  # most tests of the folder launch that one
        life = f"tests/commands/training/test_{kind.option}s.py"
        assert (ROOT / life).is_file(), f"test its life in {life}"


@each_kind
def test_its_objects_are_watched_and_found_by_their_namespace(kind: WritingKind) -> None:
    assert kind.objects is READ[kind.name].objects
    assert kind.objects in DEFAULT_KINDS, f"add it to collectors/cluster/kinds.py: {kind.name}"
    for index in (by_namespace, by_owner):
        assert index in kind.objects.indexes, f"add the index {index.__name__} to {kind.objects.name}"


@each_kind
def test_what_is_launched_is_read_as_that_kind(kind: WritingKind) -> None:
    (training,) = read_trainings(launched(kind))
    assert (training.kind, training.shown, training.owner) == (kind.name, "mnist/mnist", "ana")
    ranks = sum(role.replicas for role in spec_of(kind).roles)
    assert (training.wanted, training.gpus_wanted) == (ranks, 32)
    assert (training.state, training.reason) == (TrainingState.QUEUED, f"0 of {ranks} ranks are running")
    assert any(f"/{kind.name}/" in workload for workload in training.workloads)


@each_kind
def test_its_workers_are_created_suspended_and_resumed_last(kind: WritingKind) -> None:
    steps = launch_steps(kind, spec_of(kind), has_namespace=False, has_secret=False)
    created = [step for step in steps if isinstance(step, Create) and step.ref.kind == kind.objects.kind]
    assert created
    for step in created:
        assert kind.is_suspended(decoded(step.manifest, {})), step.description
    assert not isinstance(steps[-1], Create)
    undone = [step.inverse("uid") for step in steps]
    assert all(undone)


@each_kind
def test_its_suspension_frees_the_gpus_and_is_undone(kind: WritingKind) -> None:
    seen = launched(kind)
    (training,) = read_trainings(seen)
    steps = suspend_steps(training, seen)
    assert any(isinstance(step, Scale) for step in steps) == any(
        "/Deployment/" in workload for workload in training.workloads
    )
    own = [step for step in steps if not isinstance(step, Scale)]
    assert own
    assert all(step.inverse("") is not None and step.namespaces() == ("mnist",) for step in own)


@each_kind
def test_it_is_not_suspended_twice(kind: WritingKind) -> None:
    steps = launch_steps(kind, spec_of(kind), has_namespace=False, has_secret=False)
    trees = [step.manifest for step in steps if isinstance(step, Create)]
    seen = inventory(*(decoded(tree, {}) for tree in trees))
    (training,) = read_trainings(seen)
    assert training.state is TrainingState.SUSPENDED
    assert not [step for step in suspend_steps(training, seen) if not isinstance(step, Scale)]


@each_kind
def test_what_kueue_manages_is_deleted_and_never_suspended(kind: WritingKind) -> None:
    seen = launched(kind, **QUEUE)
    (training,) = read_trainings(seen)
    steps = [step for step in suspend_steps(training, seen) if not isinstance(step, Scale)]
    assert steps
    assert all(isinstance(step, Delete) and "Kueue would resume it" in step.description for step in steps)


@each_kind
def test_what_has_ended_is_neither_suspended_nor_deleted(kind: WritingKind) -> None:
    for labels in ({}, QUEUE):
        seen = launched(kind, **labels)
        (training,) = read_trainings(seen)
        over = inventory(
            *(with_end(one, kind) for of in seen.snapshots.values() for one in of.objects.values())
        )
        steps = [step for step in suspend_steps(training, over) if not isinstance(step, Scale)]
        assert not steps, steps[0].description


@each_kind
def test_it_is_stopped_by_deleting_exactly_its_top_objects(kind: WritingKind) -> None:
    seen = launched(kind)
    (training,) = read_trainings(seen)
    steps = [step for step in stop_steps(training, seen) if isinstance(step, Delete)]
    deleted = [
        workload_key(step.ref.namespace, kind_in_api(step.ref.kind, step.ref.api), step.ref.name)
        for step in steps
    ]
    assert deleted == list(training.workloads)
    assert all(step.ref.uid for step in steps)


@each_kind
def test_the_rights_of_the_commands_suffice_for_its_steps(kind: WritingKind) -> None:
    rights = {command.name: command.rights for command in CATALOGUE}
    seen = launched(kind)
    queued = launched(kind, **QUEUE)
    (training,) = read_trainings(seen)
    needed = {
        "training launch": launch_steps(kind, spec_of(kind), has_namespace=False, has_secret=False),
        "training stop": stop_steps(training, seen),
        "gpu release": (*suspend_steps(training, seen), *suspend_steps(training, queued)),
        "gpu settle": (*suspend_steps(training, seen), *suspend_steps(training, queued)),
    }
    refused = [
        f"{name}: {one}" for name, steps in needed.items() for one in forgotten_rights(rights[name], steps)
    ]
    assert not refused, f"add to the rights in commands/training/{kind.option}.py: {refused}"


@each_kind
def test_the_chart_and_the_docs_have_it(kind: WritingKind) -> None:
    plural = kind.objects.path.rpartition("/")[2]
    table = act_rights(CATALOGUE)
    for rules in (
        look_rights(CATALOGUE),
        table["training launch"],
        table["training stop"],
        table["gpu release"],
    ):
        found = [
            rule
            for rule in rules["cluster"]
            if rule["apiGroups"] == [kind.objects.group] and plural in rule["resources"]
        ]
        assert found, f"no right for {plural}"
    page = ROOT / "docs/trainings.md"
    assert f"| {shown_kind(kind.name)} " in fresh(page.read_text(encoding="utf-8"))


@each_kind
def test_a_kind_that_cannot_be_seen_is_named(kind: WritingKind) -> None:
    seen = launched(kind)
    blind = replace(seen, missing={kind.objects.name: "forbidden"})
    assert catalogue.unseen_kinds(blind)[shown_kind(kind.name)] == "forbidden"
    assert catalogue.unseen_kinds(seen) == {}
