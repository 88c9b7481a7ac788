"""Completeness of the kinds of training. Each test names the kind, and the step that was forgotten."""

import json
import re
import tomllib
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import msgspec
import pytest

import collectors.trainings
import commands.training
from bot.doctor.role_rules import act_rights, look_rights
from collectors.cluster.base import KubernetesObject
from collectors.cluster.indexes import by_namespace, by_owner, kind_in_api
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.cluster.kueue_workloads import KueueWorkload
from collectors.facts.workload_keys import shown_kind, workload_key
from collectors.trainings import catalogue
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.reading_kind import ReadingKind
from collectors.trainings.training import TrainingState
from commands.command_catalogue import CATALOGUE
from commands.core.command import UnusableError
from commands.execution.steps import Create, Delete, Patch, Scale, Step
from commands.training import training_kinds
from commands.training.launch_steps import launch_steps
from commands.training.spec import KUEUE, TrainingRole, TrainingSpec
from commands.training.workload_steps import resume_steps, stop_steps, suspend_steps
from commands.training.writing_kind import Launching, WritingKind
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

# How the status of an API says that an object has failed. A kind is tested with the first that it understands.
FAILED: tuple[dict[str, Any], ...] = (
    {"conditions": [{"type": "Failed", "status": "True"}]},
    {"state": {"phase": "Failed"}},
    {"jobDeploymentStatus": "Failed"},
)


def kinds_of_files(package: ModuleType, port: type[Any]) -> dict[str, Any]:
    """Return the kinds that the files of a folder define, by module, whether a catalogue has them or not."""
    names = [f"{package.__name__}.{one.name}" for one in iter_modules(package.__path__)]
    found = {name: getattr(import_module(name), "KIND", None) for name in names}
    return {name: kind for name, kind in found.items() if isinstance(kind, port)}


FILES_READ = kinds_of_files(collectors.trainings, ReadingKind)
FILES_WRITTEN = kinds_of_files(commands.training, WritingKind)
each_file = pytest.mark.parametrize("kind", FILES_WRITTEN.values(), ids=lambda kind: kind.name)
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


def test_every_kind_that_is_written_is_read() -> None:
    missing = WRITTEN.keys() - READ.keys()
    assert not missing, f"write collectors/trainings/<kind>.py, and a line in its catalogue.py: {missing}"


def test_every_kind_of_a_file_is_in_the_catalogues() -> None:
    forgotten = {
        "KINDS of collectors/trainings/catalogue.py": {kind.name for kind in FILES_READ.values()}
        - READ.keys(),
        "KINDS of commands/training/training_kinds.py": {kind.name for kind in FILES_WRITTEN.values()}
        - WRITTEN.keys(),
    }
    assert not any(forgotten.values()), [
        f"add to {where}: {kinds}" for where, kinds in forgotten.items() if kinds
    ]


def test_every_file_of_a_kind_is_in_its_contract() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    kept = {
        module
        for contract in tool["contracts"]
        if "of kinds of training do not import each other" in contract["name"]
        for module in contract["modules"]
    }
    files = {*FILES_READ, *FILES_WRITTEN}
    assert files <= kept, (
        f"add to the contracts of kinds of training in pyproject.toml: {sorted(files - kept)}"
    )


@each_file
def test_its_files_are_named_like_the_kind(kind: WritingKind) -> None:
    for folder in ("collectors/trainings", "commands/training"):
        assert (ROOT / folder / f"{kind.option}.py").is_file(), f"{folder}/{kind.option}.py"
    readers = (ROOT / "tests/collectors/trainings").glob("test_*_trainings.py")
    word = re.compile(rf"\b{kind.option}\b")
    assert any(word.search(file.read_text(encoding="utf-8")) for file in readers), (
        f"test what it reads in tests/collectors/trainings/test_{kind.option}_trainings.py"
    )


@each_kind
def test_its_objects_are_watched_and_found_by_their_namespace(kind: WritingKind) -> None:
    assert kind.objects is READ[kind.name].objects
    assert kind.objects in DEFAULT_KINDS, f"add it to collectors/cluster/kinds.py: {kind.name}"
    for index in (by_namespace, by_owner):
        assert index in kind.objects.indexes, f"add the index {index.__name__} to {kind.objects.name}"


ADDED = {"RayJob.ray.io": 1}  # ranks that the controller adds: the pod that submits the command


@each_launched
def test_what_is_launched_is_read_as_that_kind(kind: WritingKind) -> None:
    (training,) = read_trainings(launched(kind))
    assert (training.kind, training.shown, training.owner) == (kind.name, "mnist/mnist", "ana")
    spec = spec_of(kind)
    ranks = sum(role.replicas for role in launching_of(kind).roles(spec)) + ADDED.get(kind.name, 0)
    assert (training.wanted, training.gpus_wanted) == (ranks, 32)
    assert (training.state, training.reason) == (TrainingState.QUEUED, f"0 of {ranks} ranks are running")
    assert any(f"/{kind.name}/" in workload for workload in training.workloads)


@each_launched
def test_its_workers_start_when_all_else_is_there_and_the_launch_is_undone(kind: WritingKind) -> None:
    steps = steps_of_launch(kind)
    created = [step for step in steps if isinstance(step, Create) and step.ref.api == kind.objects.api]
    assert created
    if launching_of(kind).starts_suspended:
        assert kind.suspending is not None
        for step in created:
            assert kind.suspending.is_suspended(decoded(step.manifest, {})), step.description
        assert not isinstance(steps[-1], Create), "resume it last"
    else:
        assert list(steps[-len(created) :]) == created, "create it last, as it starts at once"
    undone = [step.inverse("uid") for step in steps]
    assert all(undone)


@each_suspended
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


@each_created_suspended
def test_it_is_not_suspended_twice(kind: WritingKind) -> None:
    trees = [step.manifest for step in steps_of_launch(kind) if isinstance(step, Create)]
    seen = inventory(*(decoded(tree, {}) for tree in trees))
    (training,) = read_trainings(seen)
    assert training.state is TrainingState.SUSPENDED
    assert not [step for step in suspend_steps(training, seen) if not isinstance(step, Scale)]


@each_launched
def test_what_cannot_be_suspended_is_refused_with_the_way_to_stop_it(
    kind: WritingKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WRITTEN, kind.name, replace(kind, suspending=None))
    for labels in ({}, QUEUE):
        seen = launched(kind, **labels)
        (training,) = read_trainings(seen)
        with pytest.raises(
            UnusableError, match="cannot be suspended: `training stop mnist/mnist` deletes it"
        ):
            suspend_steps(training, seen)
        assert stop_steps(training, seen)


def admitted(seen: Inventory, *, active: bool = True) -> Inventory:
    """Return the cluster with a Workload of Kueue for each object that it manages."""
    objects = [one for of in seen.snapshots.values() for one in of.objects.values()]
    managed = [one for one in objects if "kueue.x-k8s.io/queue-name" in (one.metadata.labels or {})]
    return inventory(*objects, *(a_workload(one, active=active) for one in managed))


def a_workload(of: KubernetesObject, *, active: bool) -> KueueWorkload:
    api = API_OF[of.kind_in_keys()]
    owner = {"apiVersion": api, "kind": of.kind_in_keys().partition(".")[0], "name": of.metadata.name}
    meta = {
        "name": f"wl-{of.metadata.name}",
        "namespace": of.metadata.namespace,
        "uid": f"uid-wl-{of.metadata.name}",
        "ownerReferences": [{**owner, "uid": of.metadata.uid, "controller": True}],
    }
    tree = {"metadata": meta, "spec": {"active": active, "queueName": "gpus"}}
    return msgspec.json.decode(json.dumps(tree), type=KueueWorkload)


@each_in_kueue
def test_what_kueue_manages_is_suspended_and_resumed_through_its_workload(kind: WritingKind) -> None:
    seen = admitted(launched(kind, **QUEUE))
    (training,) = read_trainings(seen)
    steps = [step for step in suspend_steps(training, seen) if not isinstance(step, Scale)]
    assert steps
    for step in steps:
        assert isinstance(step, Patch)
        assert (step.ref.kind, step.body) == ("Workload", {"spec": {"active": False}})
        undone = step.inverse("")
        assert undone is not None
        assert undone.body == {"spec": {"active": True}}
    held = admitted(launched(kind, **QUEUE), active=False)
    (training,) = read_trainings(held)
    assert (training.state, training.queue) == (TrainingState.SUSPENDED, "gpus")
    back = [step for step in resume_steps(training, held)[0] if not isinstance(step, Scale)]
    assert [step.body for step in back if isinstance(step, Patch)] == [{"spec": {"active": True}}] * len(
        steps
    )


@each_in_kueue
def test_what_runs_under_kueue_without_a_workload_is_neither_suspended_nor_deleted(kind: WritingKind) -> None:
    seen = launched(kind, **QUEUE)
    (training,) = read_trainings(seen)
    with pytest.raises(UnusableError, match="managed by Kueue, and no Workload of it is seen"):
        suspend_steps(training, seen)


@each_created_suspended
def test_what_kueue_holds_back_waits_and_is_not_called_suspended(kind: WritingKind) -> None:
    """Kueue suspends what it has not admitted."""
    trees = [step.manifest for step in steps_of_launch(kind) if isinstance(step, Create)]
    seen = inventory(*(decoded(tree, QUEUE) for tree in trees))
    (training,) = read_trainings(seen)
    assert (training.state, training.reason) == (
        TrainingState.QUEUED,
        "Kueue has not picked it up yet in queue gpus",
    )
    (training,) = read_trainings(admitted(seen))
    assert (training.state, training.reason) == (TrainingState.QUEUED, "it waits in queue gpus of Kueue")


@each_created_suspended
def test_what_somebody_suspended_is_resumed(kind: WritingKind) -> None:
    trees = [step.manifest for step in steps_of_launch(kind) if isinstance(step, Create)]
    seen = inventory(*(decoded(tree, {}) for tree in trees))
    (training,) = read_trainings(seen)
    steps, notes = resume_steps(training, seen)
    assert not notes
    assert [step for step in steps if not isinstance(step, Scale)]
    assert all(step.inverse("uid") is not None for step in steps)


@each_in_kueue
def test_a_kind_that_is_in_a_queue_of_kueue_is_never_started_by_us(kind: WritingKind) -> None:
    launching = launching_of(kind)
    alone = replace(SPEC, roles=SPEC.roles[:1], queue="gpus", queue_system=KUEUE, queue_priority="high")
    steps = launching.steps(alone)
    tops = [step for step in steps if isinstance(step, Create) and step.ref.api == kind.objects.api]
    assert len(tops) == len(steps)
    for step in tops:
        labels = step.manifest["metadata"]["labels"]
        assert labels["kueue.x-k8s.io/queue-name"] == "gpus"
        assert labels["kueue.x-k8s.io/priority-class"] == "high"


@each_launched
def test_what_has_ended_is_neither_suspended_nor_deleted(kind: WritingKind) -> None:
    for labels in ({}, QUEUE):
        seen = launched(kind, **labels)
        (training,) = read_trainings(seen)
        over = inventory(
            *(with_end(one, kind) for of in seen.snapshots.values() for one in of.objects.values())
        )
        steps = [step for step in suspend_steps(training, over) if not isinstance(step, Scale)]
        assert not steps, steps[0].description


@each_launched
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


@each_launched
def test_the_rights_of_the_commands_suffice_for_its_steps(kind: WritingKind) -> None:
    rights = {command.name: command.rights for command in CATALOGUE}
    seen = launched(kind)
    queued = admitted(launched(kind, **QUEUE))
    (training,) = read_trainings(seen)
    needed = {
        "training launch": steps_of_launch(kind),
        "training stop": stop_steps(training, seen),
    }
    if kind.suspending:
        suspension = (*suspend_steps(training, seen), *suspend_steps(training, queued))
        needed |= {
            "gpu release": suspension,
            "gpu settle": suspension,
            "training suspend": suspension,
            "training resume": tuple(filter(None, (step.inverse("") for step in suspension))),
        }
    refused = [
        f"{name}: {one}" for name, steps in needed.items() for one in forgotten_rights(rights[name], steps)
    ]
    assert not refused, f"add to the rights in commands/training/{kind.option}.py: {refused}"


@each_kind
def test_the_chart_and_the_docs_have_it(kind: WritingKind) -> None:
    plural = kind.objects.path.rpartition("/")[2]
    table = act_rights(CATALOGUE)
    acts = {
        "training launch": kind.launching,
        "training stop": True,
        "gpu release": kind.suspending,
    }
    for rules in (look_rights(CATALOGUE), *(table[name] for name, can in acts.items() if can)):
        found = [
            rule
            for rule in rules["cluster"]
            if rule["apiGroups"] == [kind.objects.group] and plural in rule["resources"]
        ]
        assert found, f"no right for {plural}"
    page = ROOT / "docs/trainings.md"
    assert f"| {shown_kind(kind.name)} " in fresh(page.read_text(encoding="utf-8"))


@each_launched
def test_a_kind_that_cannot_be_seen_is_named(kind: WritingKind) -> None:
    seen = launched(kind)
    blind = replace(seen, missing={kind.objects.name: "forbidden"})
    assert catalogue.unseen_kinds(blind)[shown_kind(kind.name)] == "forbidden"
    assert catalogue.unseen_kinds(seen) == {}
