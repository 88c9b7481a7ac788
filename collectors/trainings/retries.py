"""The retries that a training has left when it loses pods, as far as its objects say it. Pure.

Source: Kubernetes' Job API, batch/v1: a pod that is evicted counts as failed, unless the pod failure policy ignores
disruptions; `backoffLimit` is 6 if nothing is said. JobSet 0.12: a Job that fails restarts the whole at most
`failurePolicy.maxRestarts` times, 0 if nothing is said.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from collectors.cluster.objects import Job, JobSet
from collectors.cluster.workloads import PodFailurePolicy

_BACKOFF = 6
_DISRUPTED = "DisruptionTarget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """What its controllers still make good: `pods` that are lost one by one, and restarts of it as a `whole`."""

    pods: float  # infinite where they do not count
    whole: int = 0

    def survives(self, lost: int) -> bool:
        """Whether it goes on after the loss of so many pods."""
        return lost <= self.pods or self.whole > 0


def job_retries(job: Job) -> Retries | None:
    """Return what a Job has left; None where that is not known."""
    spec = job.spec
    if spec.managed_by or spec.backoff_limit_per_index is not None:
        return None
    limit = _BACKOFF if spec.backoff_limit is None else spec.backoff_limit
    left = max(0, limit - job.status.failed)
    return (
        Retries(pods=left) if spec.pod_failure_policy is None else _by_policy(spec.pod_failure_policy, left)
    )


def _by_policy(policy: PodFailurePolicy, left: int) -> Retries | None:
    """By its first rule, which decides. One about exit codes may decide, or not: a program ends as it likes."""
    for rule in policy.rules or ():
        if rule.on_pod_conditions is None:
            return None
        if any(one.type == _DISRUPTED and one.status == "True" for one in rule.on_pod_conditions):
            return {"Ignore": Retries(pods=inf), "FailJob": Retries(pods=0), "Count": Retries(pods=left)}.get(
                rule.action
            )
    return Retries(pods=left)


def jobset_retries(jobset: JobSet, jobs: Iterable[Job]) -> Retries | None:
    """Return what a JobSet has left: in its Jobs, and of restarts of the whole; None where that is not known."""
    policy = jobset.spec.failure_policy
    own = [job_retries(job) for job in jobs]
    if jobset.spec.managed_by or (policy is not None and policy.rules) or not own:
        return None
    if any(one is None for one in own):
        return None
    whole = max(0, (policy.max_restarts if policy is not None else 0) - jobset.status.restarts)
    return Retries(pods=min(one.pods for one in own if one is not None), whole=whole)


def together(parts: Iterable[Retries | None]) -> Retries | None:
    """Return what several objects have left together: as much as the one with the least; None if one is not known."""
    found = list(parts)
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        return None
    return Retries(pods=min(one.pods for one in known), whole=min(one.whole for one in known))
