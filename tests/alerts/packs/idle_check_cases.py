"""Cases of the rule on pods whose GPUs are idle: it fires for those that `gpu idle` lists."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from collectors.cluster.objects import Pod
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from collectors.gpu_activity import ENGINE, MEASURE, STEPS, UTIL
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import NOW, gpus, inventory, pod

_MIG = "nvidia.com/mig-1g.10gb"


def _pod(
    name: str = "notebook-0", *, count: int = 2, resource: str = "nvidia.com/gpu", age: int = 120
) -> Pod:
    start = (NOW - timedelta(minutes=age)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return pod(
        name,
        "speech",
        spec={"nodeName": "gpu-d04", "containers": [gpus(count, resource)]},
        status={"phase": "Running", "startTime": start},
    )


def _measured(
    *busiest: float, name: str = "notebook-0", metric: str = UTIL, steps: float = STEPS
) -> tuple[Sample, ...]:
    """Return the samples of GPUs of the pod: the most that each worked, and for how many steps that is known."""
    found = []
    for number, most in enumerate(busiest):
        of = {"exported_namespace": "speech", "exported_pod": name, "UUID": f"GPU-{name}-{number}"}
        for what, value in (("most", most), ("seen", steps)):
            found.append(Sample(labels=Labels({**of, MEASURE: f"{metric}/{what}"}), value=value))
    return tuple(found)


def _fired(name: str = "notebook-0") -> Fired:
    labels: Mapping[str, str] = {"namespace": "speech", "pod": name, "node": "gpu-d04", "severity": "warning"}
    return Fired(labels=labels, summary=f"speech/{name} has not used its GPUs for 30 minutes.")


_STANDING = Labels({"namespace": "speech", "pod": "notebook-0", "node": "gpu-d04"})

IDLE_CHECK_CASES: Sequence[CheckCase] = (
    CheckCase(
        rule="GPUIdle",
        description="a pod has held two idle GPUs for the whole window, and another works",
        inputs=check_input(
            inventory(_pod(), _pod("detr-0")), metrics=(*_measured(0, 0), *_measured(97, 97, name="detr-0"))
        ),
        fired=(_fired(),),
    ),
    CheckCase(
        rule="GPUIdle",
        description="a slice has no utilization, and its engine does nothing but background work",
        inputs=check_input(inventory(_pod(count=1, resource=_MIG)), metrics=_measured(0.004, metric=ENGINE)),
        fired=(_fired(),),
    ),
    CheckCase(
        rule="GPUIdle",
        description="it was idle, and after a gap in the scrapes nobody knows: it goes on",
        inputs=check_input(
            inventory(_pod()), metrics=_measured(0, 0, steps=STEPS - 14), standing=(_STANDING,)
        ),
        fired=(_fired(),),
    ),
    CheckCase(
        rule="GPUIdle",
        description="after a gap in the scrapes nobody knows: it does not begin",
        inputs=check_input(inventory(_pod()), metrics=_measured(0, 0, steps=STEPS - 14)),
    ),
    CheckCase(
        rule="GPUIdle",
        description="one of its GPUs is busy, or was for a moment",
        inputs=check_input(inventory(_pod()), metrics=_measured(0, 1), standing=(_STANDING,)),
    ),
    CheckCase(
        rule="GPUIdle",
        description="one of its GPUs does not report",
        inputs=check_input(inventory(_pod()), metrics=_measured(0)),
    ),
    CheckCase(
        rule="GPUIdle",
        description="it started within the window, on GPUs that were idle before: it loads its data",
        inputs=check_input(inventory(_pod(age=29)), metrics=_measured(0, 0), standing=(_STANDING,)),
    ),
    CheckCase(
        rule="GPUIdle",
        description="it is gone, and its samples are still in the window",
        inputs=check_input(inventory(), metrics=_measured(0, 0), standing=(_STANDING,)),
    ),
    CheckCase(
        rule="GPUIdle",
        description="a busy slice",
        inputs=check_input(
            inventory(_pod(count=1, resource=_MIG)), metrics=_measured(0.01001, metric=ENGINE)
        ),
    ),
)
