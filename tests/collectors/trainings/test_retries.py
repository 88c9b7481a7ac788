"""Trainings go on after they lost pods, or fail for good, by what their objects say."""

from typing import Any

import pytest

from collectors.cluster.objects import Job, JobSet
from collectors.trainings.retries import Retries, job_retries, jobset_retries, together
from tests.support.objects import read

IGNORES = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
BY_CODE = {
    "rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}, *IGNORES["rules"]]
}
FAILS = {
    "rules": [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
}
OTHER = {"rules": [{"action": "FailJob", "onPodConditions": [{"type": "ConfigIssue"}]}]}


def job(failed: int = 0, **spec: Any) -> Job:
    return read(
        Job, {"metadata": {"name": "j", "namespace": "s"}, "spec": spec, "status": {"failed": failed}}
    )


def jobset(restarts: int = 0, **spec: Any) -> JobSet:
    made = {"metadata": {"name": "s", "namespace": "s"}, "spec": spec, "status": {"restarts": restarts}}
    return read(JobSet, made)


@pytest.mark.parametrize(
    ("one", "lost", "goes_on"),
    [
        pytest.param(job(backoffLimit=0), 1, False, id="no retry"),
        pytest.param(job(backoffLimit=1), 1, True, id="one retry"),
        pytest.param(job(backoffLimit=1), 2, False, id="each pod counts"),
        pytest.param(job(1, backoffLimit=1), 1, False, id="used up"),
        pytest.param(job(), 6, True, id="six by default"),
        pytest.param(job(), 7, False, id="seven by default"),
        pytest.param(job(backoffLimit=0, podFailurePolicy=IGNORES), 99, True, id="disruptions are ignored"),
        pytest.param(job(backoffLimit=6, podFailurePolicy=FAILS), 1, False, id="disruptions fail it"),
        pytest.param(job(backoffLimit=0, podFailurePolicy=OTHER), 1, False, id="a rule about something else"),
        pytest.param(job(backoffLimit=0, podFailurePolicy=BY_CODE), 1, None, id="by the exit code"),
        pytest.param(job(backoffLimit=0, backoffLimitPerIndex=1), 1, None, id="by index"),
        pytest.param(job(managedBy="kueue.x-k8s.io/multikueue"), 1, None, id="managed elsewhere"),
    ],
)
def test_a_job(one: Job, lost: int, goes_on: bool | None) -> None:
    retries = job_retries(one)
    assert (retries.survives(lost) if retries is not None else None) is goes_on


@pytest.mark.parametrize(
    ("one", "limit", "goes_on"),
    [
        pytest.param(jobset(), 0, False, id="no policy"),
        pytest.param(jobset(failurePolicy={"maxRestarts": 2}), 0, True, id="restarts are left"),
        pytest.param(jobset(2, failurePolicy={"maxRestarts": 2}), 0, False, id="none is left"),
        pytest.param(jobset(), 1, True, id="its Job makes it good"),
        pytest.param(
            jobset(failurePolicy={"maxRestarts": 2, "rules": [{"action": "FailJobSet"}]}),
            0,
            None,
            id="by rules",
        ),
    ],
)
def test_a_jobset(one: JobSet, limit: int, goes_on: bool | None) -> None:
    retries = jobset_retries(one, [job(backoffLimit=limit)])
    assert (retries.survives(1) if retries is not None else None) is goes_on


def test_of_several_objects_the_least_counts() -> None:
    assert together([Retries(pods=3), Retries(pods=1)]) == Retries(pods=1)
    assert together([Retries(pods=3), None]) is None
    assert together([]) is None
