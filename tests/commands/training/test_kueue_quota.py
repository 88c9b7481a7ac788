"""Quotas of Kueue count what its Workloads have, also before Kueue has written the sum into the queue."""

import msgspec
import pytest

from collectors.cluster.kueue_workloads import KueueWorkload
from commands.training.kueue_quota import gpu_quotas, reserved_in

GPU = "nvidia.com/gpu"


def queue(*, reserved: str | None) -> dict[str, object]:
    flavor = {"name": "a100", "resources": [{"name": GPU, "nominalQuota": "8"}]}
    status = (
        {}
        if reserved is None
        else {"flavorsReservation": [{"name": "a100", "resources": [{"name": GPU, "total": reserved}]}]}
    )
    return {"spec": {"resourceGroups": [{"flavors": [flavor]}]}, "status": status}


def workload(gpus: int, *, of: str = "research", is_over: bool = False) -> KueueWorkload:
    """Return a Workload with two sets of pods, each with so many GPUs; `of` is empty for one that waits."""
    usage = {"flavors": {GPU: "a100"}, "resourceUsage": {GPU: str(gpus)}}
    over = [{"type": "Finished", "status": "True"}] if is_over else []
    return msgspec.convert(
        {
            "metadata": {"name": "w", "namespace": "nlp"},
            "status": {
                "conditions": over,
                **({"admission": {"clusterQueue": of, "podSetAssignments": [usage, usage]}} if of else {}),
            },
        },
        KueueWorkload,
    )


@pytest.mark.parametrize(("status", "used"), [(None, 8), ("0", 8), ("8", 8), ("12", 12)])
def test_what_is_admitted_is_in_use_before_the_status_of_the_queue_says_so(
    status: str | None, used: float
) -> None:
    others = (workload(2, of="other"), workload(2, is_over=True), workload(2, of=""))
    admitted = reserved_in("research", (workload(4), *others))
    (quota,) = gpu_quotas(queue(reserved=status), admitted)
    assert (quota.own, quota.used) == (8, used)


def test_without_either_it_is_not_known() -> None:
    (quota,) = gpu_quotas(queue(reserved=None), {})
    assert quota.used is None
