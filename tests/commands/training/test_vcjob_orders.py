"""Orders to a Job of Volcano: what a resume costs is said before, and one that would fail it is refused."""

import pytest

from collectors.cluster.objects import VolcanoJob
from collectors.trainings.catalogue import read_trainings
from commands.core.command import UnusableError
from commands.execution.steps import Order
from commands.training.notes_before import notes_before
from commands.training.workload_steps import resume_steps, suspend_steps
from tests.support.objects import gpus, inventory, read


def a_job(phase: str, *, used: int, most: int = 3) -> VolcanoJob:
    task = {"name": "worker", "replicas": 2, "template": {"spec": {"containers": [gpus(8)]}}}
    tree = {
        "metadata": {"name": "bert", "namespace": "v", "uid": "u1"},
        "spec": {"tasks": [task], "maxRetry": most},
        "status": {"state": {"phase": phase}, "retryCount": used},
    }
    return read(VolcanoJob, tree)


def test_each_resume_is_counted_and_said_before_the_suspension() -> None:
    seen = inventory(a_job("Running", used=1))
    (training,) = read_trainings(seen)
    (note,) = notes_before("suspend", training, seen)
    assert "counts each resume as a retry: 1 of 3 are used" in note
    (step,) = suspend_steps(training, seen)
    assert isinstance(step, Order)
    assert step.manifest["action"] == "AbortJob"
    assert step.manifest["target"]["uid"] == "u1"
    back = step.inverse("")
    assert back is not None
    assert back.manifest["action"] == "ResumeJob"


def test_a_suspension_that_cannot_be_taken_back_says_so() -> None:
    seen = inventory(a_job("Running", used=2))
    (training,) = read_trainings(seen)
    (note,) = notes_before("suspend", training, seen)
    assert note.startswith("It cannot be resumed")


def test_the_resume_that_would_fail_it_is_refused() -> None:
    for used, is_refused in ((1, False), (2, True), (3, True)):
        seen = inventory(a_job("Aborted", used=used))
        (training,) = read_trainings(seen)
        if is_refused:
            with pytest.raises(UnusableError, match="would reach the limit"):
                resume_steps(training, seen)
        else:
            (step,), _ = resume_steps(training, seen)
            assert isinstance(step, Order)
