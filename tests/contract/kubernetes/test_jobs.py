"""Jobs: how they complete, fail, are suspended and are deleted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.kubernetes.api import JOBS, PODS, Api, Json, names_of, template

ENDS_THE_JOB = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [143]}}


def _job(name: str, **spec: Any) -> Json:
    return {"metadata": {"name": name}, "spec": {"template": template(name, restartPolicy="Never"), **spec}}


async def test_an_indexed_job_completes_index_by_index(api: Api) -> None:
    await api.make(JOBS, _job("j", completions=2, parallelism=2, completionMode="Indexed"))
    made = await api.pods("batch.kubernetes.io/job-name=j", 2)
    index = "batch.kubernetes.io/job-completion-index"
    by_index = {p["metadata"]["labels"][index]: p for p in made}
    assert set(by_index) == {"0", "1"}
    one = by_index["1"]
    assert one["metadata"]["name"].startswith("j-1-")
    assert one["spec"]["hostname"] == "j-1"
    assert one["metadata"]["annotations"][index] == "1"
    assert [e["name"] for e in one["spec"]["containers"][0]["env"]] == ["JOB_COMPLETION_INDEX"]
    await api.status(f"{JOBS}/j", active=2, ready=0)
    for each in names_of(made):
        await api.run(each)
    await api.status(f"{JOBS}/j", active=2, ready=2)
    for each in names_of(made):
        await api.end(each)
    done = await api.condition(f"{JOBS}/j", "Complete")
    assert (done["reason"], done["message"]) == (
        "CompletionsReached",
        "Reached expected number of succeeded pods",
    )
    await api.condition(f"{JOBS}/j", "SuccessCriteriaMet")
    status = await api.status(f"{JOBS}/j", succeeded=2, completedIndexes="0,1", active=None)
    assert status["completionTime"]


async def test_an_indexed_job_is_scaled_at_its_end_and_what_it_loses_has_not_failed(api: Api) -> None:
    node = await api.ready_node("a", labels={"pool": api.space})
    job = _job("j", completions=3, parallelism=3, completionMode="Indexed", backoffLimit=0)
    job["spec"]["template"]["spec"] |= {"restartPolicy": "Never", "nodeSelector": {"pool": api.space}}
    await api.make(JOBS, job)
    index = "batch.kubernetes.io/job-completion-index"
    made = {p["metadata"]["labels"][index]: p["metadata"]["name"] for p in await api.pods("job-name=j", 3)}
    for name in made.values():
        await api.bound(name, node)
        await api.run(name)
    await api.change(f"{JOBS}/j", {"spec": {"parallelism": 2, "completions": 2}})
    left = names_of(await api.pods("job-name=j", 2))
    assert set(left) == {made["0"], made["1"]}
    await api.end(made["2"], code=143)  # as a kubelet does
    await api.call("DELETE", f"{PODS}/{made['2']}", {"gracePeriodSeconds": 0})
    await api.gone(f"{PODS}/{made['2']}")
    await api.status(f"{JOBS}/j", active=2, ready=2, failed=None)
    await api.change(f"{JOBS}/j", {"spec": {"parallelism": 3, "completions": 3}})
    again = await api.pods("job-name=j", 3)
    assert {p["metadata"]["labels"][index] for p in again} == {"0", "1", "2"}


async def test_a_job_of_one_completes(api: Api) -> None:
    made = await api.make(JOBS, _job("j"))
    assert (made["spec"]["completions"], made["spec"]["parallelism"], made["spec"]["backoffLimit"]) == (
        1,
        1,
        6,
    )
    (one,) = names_of(await api.pods("job-name=j", 1))
    await api.end(one)
    await api.condition(f"{JOBS}/j", "Complete")
    assert (await api.get(f"{PODS}/{one}")).body["status"]["phase"] == "Succeeded"


async def test_a_job_past_its_backoff_limit_fails(api: Api) -> None:
    await api.make(JOBS, _job("j", backoffLimit=0))
    (one,) = names_of(await api.pods("job-name=j", 1))
    await api.end(one, code=3)
    failed = await api.condition(f"{JOBS}/j", "Failed")
    assert (failed["reason"], failed["message"]) == (
        "BackoffLimitExceeded",
        "Job has reached the specified backoff limit",
    )
    await api.condition(f"{JOBS}/j", "FailureTarget")
    await api.status(f"{JOBS}/j", failed=1, active=None)


async def test_a_pod_failure_policy_fails_a_job_at_its_exit_code(api: Api) -> None:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
    await api.make(JOBS, _job("j", podFailurePolicy={"rules": [rule]}))
    (one,) = names_of(await api.pods("job-name=j", 1))
    await api.end(one, code=42)
    failed = await api.condition(f"{JOBS}/j", "Failed")
    assert failed["reason"] == "PodFailurePolicy"
    assert failed["message"] == (
        f"Container main for pod {api.space}/{one} failed with exit code 42 matching FailJob rule at index 0"
    )


async def test_a_job_over_its_deadline_fails(api: Api) -> None:
    await api.make(JOBS, _job("j", activeDeadlineSeconds=1))
    failed = await api.condition(f"{JOBS}/j", "Failed")
    assert (failed["reason"], failed["message"]) == (
        "DeadlineExceeded",
        "Job was active longer than specified deadline",
    )
    await api.pods("job-name=j", 0)


async def test_a_suspended_job_has_no_pods_until_it_is_resumed(api: Api) -> None:
    await api.make(JOBS, _job("j"))
    await api.pods("job-name=j", 1)
    await api.change(f"{JOBS}/j", {"spec": {"suspend": True}})
    assert (await api.condition(f"{JOBS}/j", "Suspended"))["reason"] == "JobSuspended"
    await api.pods("job-name=j", 0)
    await api.status(f"{JOBS}/j", active=None, startTime=None, failed=None)
    await api.change(f"{JOBS}/j", {"spec": {"suspend": False}})
    assert (await api.condition(f"{JOBS}/j", "Suspended", "False"))["reason"] == "JobResumed"
    await api.pods("job-name=j", 1)


@pytest.mark.parametrize(
    ("restart", "spec"),
    [
        pytest.param("Never", {"backoffLimit": 0}, id="no retries"),
        pytest.param("OnFailure", {"backoffLimit": 0}, id="restarted on failure"),
        pytest.param(
            "Never", {"backoffLimit": 0, "podFailurePolicy": {"rules": [ENDS_THE_JOB]}}, id="fails at 143"
        ),
        pytest.param(
            "Never", {"backoffLimit": 0, "podReplacementPolicy": "Failed"}, id="replaced after their end"
        ),
        pytest.param("Never", {"backoffLimit": 0, "activeDeadlineSeconds": 3600}, id="a deadline"),
    ],
)
@pytest.mark.parametrize("is_early", [False, True], ids=["after its pods", "while its pods end"])
async def test_a_suspended_job_comes_back_although_its_pods_ended_with_an_error(
    api: Api, restart: str, spec: Json, is_early: bool
) -> None:
    """The controller lets go of the pods of a suspended Job before it deletes them: how they end does not count."""
    node = await api.ready_node("a", labels={"pool": api.space})
    job = _job("j", completions=2, parallelism=2, completionMode="Indexed", **spec)
    job["spec"]["template"]["spec"] |= {"restartPolicy": restart, "nodeSelector": {"pool": api.space}}
    await api.make(JOBS, job)
    first = names_of(await api.pods("job-name=j", 2))
    for name in first:
        await api.bound(name, node)
        await api.run(name)
    await api.status(f"{JOBS}/j", active=2, ready=2)
    await api.change(f"{JOBS}/j", {"spec": {"suspend": True}})
    await api.pods("job-name=j", 0)  # none that is not terminating
    await api.condition(f"{JOBS}/j", "Suspended")
    if is_early:
        await api.change(f"{JOBS}/j", {"spec": {"suspend": False}})
    for name in first:  # as a kubelet ends a pod whose process does not catch SIGTERM
        await api.end(name, code=143)
        await api.call("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})
        await api.gone(f"{PODS}/{name}")
    if not is_early:
        await api.status(f"{JOBS}/j", active=None, failed=None, terminating=0)
        await api.change(f"{JOBS}/j", {"spec": {"suspend": False}})
    again = names_of(await api.pods("job-name=j", 2))
    assert set(again).isdisjoint(first)
    for name in again:
        await api.run(name)
    status = await api.status(f"{JOBS}/j", active=2, ready=2, failed=None)
    assert {one["type"] for one in status["conditions"]} == {"Suspended"}


async def test_a_finished_job_and_its_pods_are_deleted_after_the_ttl(api: Api) -> None:
    await api.make(JOBS, _job("j", ttlSecondsAfterFinished=0))
    (one,) = names_of(await api.pods("job-name=j", 1))
    await api.end(one)
    await api.gone(f"{JOBS}/j")
    await api.gone(f"{PODS}/{one}")
