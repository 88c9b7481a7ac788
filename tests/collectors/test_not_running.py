"""A workload that fires already keeps its alert when others join it: it is not over."""

from collectors.checks.not_running import not_running
from collectors.facts.labels import Labels
from tests.alerts.packs.check_case import check_input
from tests.support.objects import gpus, inventory, node, pod, samples_in

HELD = {
    "phase": "Pending",
    "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ErrImagePull"}}}],
}
PULLING = [
    pod(name, "vision", spec={"nodeName": "gpu-a01", "containers": [gpus(1)]}, status=HELD) for name in "abc"
]
PARAMETERS = {"problem": "image"}


def test_what_fires_stays_beside_what_several_have_in_common() -> None:
    firing = Labels({"namespace": "vision", "pod": "b"})
    inputs = check_input(inventory(node("gpu-a01"), *PULLING), standing=(firing,))

    found = samples_in(not_running.run(inputs, PARAMETERS))

    assert [sample.labels for sample in found] == [Labels({"node": "gpu-a01"}), firing]
