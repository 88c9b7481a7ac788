"""Completeness of the kinds of training. Each test names the kind, and the step that was forgotten."""

import re
import tomllib
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import pytest

import collectors.trainings
import commands.training
from bot.doctor.role_rules import act_rights, look_rights
from collectors.cluster.indexes import by_namespace, by_owner
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.facts.workload_keys import shown_kind
from collectors.trainings import catalogue
from collectors.trainings.catalogue import read_trainings
from collectors.trainings.reading_kind import ReadingKind
from collectors.trainings.training import TrainingState
from commands.command_catalogue import CATALOGUE
from commands.execution.steps import Create
from commands.training.launch_steps import launch_steps
from commands.training.workload_steps import stop_steps, suspend_steps
from commands.training.writing_kind import WritingKind
from docs.generate import fresh
from tests.commands.training.test_every_kind_suspended import admitted
from tests.support.every_kind import (
    QUEUE,
    READ,
    WRITTEN,
    decoded,
    each_kind,
    each_launched,
    launched,
    launching_of,
    spec_of,
    steps_of_launch,
)
from tests.support.step_rights import forgotten_rights

ROOT = Path(__file__).parents[3]


def kinds_of_files(package: ModuleType, port: type[Any]) -> dict[str, Any]:
    """Return the kinds that the files of a folder define, by module, whether a catalogue has them or not."""
    names = [f"{package.__name__}.{one.name}" for one in iter_modules(package.__path__)]
    found = {name: getattr(import_module(name), "KIND", None) for name in names}
    return {name: kind for name, kind in found.items() if isinstance(kind, port)}


FILES_READ = kinds_of_files(collectors.trainings, ReadingKind)


FILES_WRITTEN = kinds_of_files(commands.training, WritingKind)


each_file = pytest.mark.parametrize("kind", FILES_WRITTEN.values(), ids=lambda kind: kind.name)


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


@each_launched
def test_no_variable_is_written_with_an_empty_value(kind: WritingKind) -> None:
    """A controller that writes the object again leaves an empty value out: a field that is fixed would change.

    Kueue does so to a TrainJob that it has admitted, which then never starts.
    """
    alone = replace(spec_of(kind), env={"EMPTY": ""})
    alone = replace(alone, roles=tuple(role for role in alone.roles if not role.is_server))
    steps = launch_steps(launching_of(kind), alone, has_namespace=False, has_secret=False)
    made = str([step.manifest for step in steps if isinstance(step, Create)])
    assert "{'name': 'EMPTY'}" in made
    assert "'value': ''" not in made


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
