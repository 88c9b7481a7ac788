"""Checks of trainings and other workloads with GPUs: those that wait for resources, or have failed."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck
from collectors.cluster.objects import Pod
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import counted, listed, sentence
from collectors.facts.workload_keys import parse_workload, shown_kind
from collectors.gpu_workloads import BARE_POD, pods_waiting_for_gpus
from collectors.trainings.placing import placed_since, usually_placed_within
from collectors.trainings.ranks import problem_of
from collectors.trainings.training import Rank, Training, TrainingState


@partial(ClusterCheck, name="training-pending", summary="a training waits for resources", needs={"trainings"})
def pending(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each queued training: for how many seconds, and the reason from the scheduler."""
    assert not isinstance(inputs.trainings, Blind)
    return [
        Sample(
            labels=Labels({"namespace": training.namespace, "training": training.typed}),
            value=_waited(training, inputs.at),
            texts=(training.reason,) if training.reason else (),
        )
        for training in inputs.trainings
        if training.state is TrainingState.QUEUED
    ]


@partial(
    ClusterCheck,
    name="training-half-placed",
    summary="some tasks of a training hold GPUs, and others have no node",
    needs={"trainings"},
    parameters={"minutes": 10.0},
)
def half_placed(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each training of which some tasks hold GPUs while others have no node: how many GPUs.

    The rule waits for `minutes`. Where gangs of its size usually take longer, it gets a sample that much later.
    """
    assert not isinstance(inputs.trainings, Blind)
    until = inputs.at + timedelta(minutes=float(parameters["minutes"]))
    found = []
    for training in inputs.trainings:
        if training.state is not TrainingState.STARTING or not training.gpus:
            continue
        if 0 < (placed := sum(bool(rank.node) for rank in training.ranks)) < training.wanted:
            usual = usually_placed_within(training, inputs.trainings)
            since = placed_since(training)
            if usual is not None and since is not None and until - since <= usual:
                continue
            having = counted(
                "{count} of {tasks} tasks has a node",
                "{count} of {tasks} tasks have a node",
                count=placed,
                tasks=training.wanted,
            )
            texts = (having, training.reason)
            labels = Labels({"namespace": training.namespace, "training": training.typed})
            found.append(Sample(labels=labels, value=training.gpus, texts=tuple(filter(None, texts))))
    return found


@partial(
    ClusterCheck,
    name="training-failed",
    summary="a training failed within the last minutes",
    needs={"trainings"},
    parameters={"minutes": 30.0},
)
def failed(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each training that failed within `minutes`: how many of its tasks ended with an error.

    Its texts are why, and the task that failed first with its node: the others mostly failed because of it. One that
    was stopped on purpose, or by its deadline, did not fail.
    """
    assert not isinstance(inputs.trainings, Blind)
    after = inputs.at - timedelta(minutes=float(parameters["minutes"]))
    found = []
    for training in inputs.trainings:
        first = training.first_failure
        at = training.finished or (first.finished if first else None)
        if training.state is TrainingState.FAILED and at is not None and at > after:
            labels = Labels({"namespace": training.namespace, "training": training.typed})
            texts = tuple(filter(None, (_first_failure(first), training.reason)))
            count = max(1, len({(rank.role, rank.index) for rank in training.failures}))
            found.append(Sample(labels=labels, value=count, texts=texts))
    return found


def _first_failure(first: Rank | None) -> str:
    """Return what is known of the task that failed first: which, where, how and why."""
    if first is None:
        return ""
    return sentence(
        "first {role} {index} on {node}: {reason}, exit code {code}: {why}",
        role=first.role,
        index=first.index,
        node=first.node or "-",
        reason=first.reason or "Failed",
        code="-" if first.exit_code is None else first.exit_code,
        why=first.explanation or "-",
    )


def _waited(training: Training, at: datetime) -> float:
    return (at - training.created).total_seconds() if training.created else 0


@partial(
    ClusterCheck,
    name="gpu-workload-pending",
    summary="pods of a workload with GPUs that is not a training have no node",
    needs={"inventory", "trainings"},
)
def workloads_pending(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each workload with GPUs, of any kind but trainings, that has pods without a node.

    For how many seconds its first such pod has waited, and the reason from the scheduler.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.trainings, Blind)
    waiting = {
        (training.namespace, rank.pod)
        for training in inputs.trainings
        for rank in training.ranks
        if not rank.node
    }
    found = []
    for id, pods in pods_waiting_for_gpus(inputs.inventory, waiting).items():
        namespace, kind, name = parse_workload(id)
        of_pod = {"pod": name} if kind == BARE_POD else {"workload": name, "workload_type": shown_kind(kind)}
        oldest = min(
            (one.metadata.creation_timestamp for one in pods if one.metadata.creation_timestamp), default=None
        )
        found.append(
            Sample(
                labels=Labels({"namespace": namespace, **of_pod}),
                value=(inputs.at - oldest).total_seconds() if oldest else 0,
                texts=(_waiting_text(pods),),
            )
        )
    return found


def _waiting_text(pods: Sequence[Pod]) -> str:
    """Return how many pods wait, and the first reason that is known."""
    count = counted("{count} pod without a node", "{count} pods without a node", count=len(pods))
    problems = (problem_of(one) for one in pods)
    reason = next((listed(filter(None, problem), ":") for problem in problems if any(problem)), "")
    return listed((count, reason), ";") if reason else count


CHECKS = (workloads_pending, half_placed, failed, pending)
