"""Each kind of training against its own definition, on a real API server: all of its launch is accepted and kept.

No controller runs: what a field means is proven elsewhere, that it exists and has this form is proven here.
"""

import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from commands.core.context import Defaults
from commands.execution.plan import PlanState
from commands.execution.steps import Create
from commands.training.training_kinds import KINDS
from commands.training.writing_kind import WritingKind
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.quick_yaml import from_yaml
from tests.support.yard import ANA, Yard, yard_before

pytestmark = pytest.mark.xdist_group("real_kubernetes")
FOLDER = Path(__file__).parents[4] / "shared/crds"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LAUNCHED = {kind.option: kind for kind in KINDS.values() if kind.launching and "." in kind.objects.group}
OWN = {
    "tfjob": "--ps 2 --max-duration 4h",
    "vcjob": "--ps 2",
    "jobset": "--ps 2 --max-duration 4h",
    "trainjob": "--backoff 0 --max-duration 4h",
}  # what not every kind can do


CHANGED = ("suspend", "runPolicy")  # by the last step of a launch


def dropped(found: Any, sent: Any, at: str = "") -> list[str]:
    """Return the places of what was sent and is not there. What the server filled in is no matter."""
    if isinstance(sent, dict):
        return [
            place
            for key, one in sent.items()
            for place in dropped((found if isinstance(found, dict) else {}).get(key), one, f"{at}.{key}")
        ]
    if isinstance(sent, list):
        if not isinstance(found, list) or len(found) != len(sent):
            return [at]
        pairs = enumerate(zip(found, sent, strict=True))
        return [place for number, (one, other) in pairs for place in dropped(one, other, f"{at}[{number}]")]
    return [] if found == sent or (found is None and not sent) else [at]


def definition_of(kind: WritingKind) -> dict[str, Any]:
    """Return the project's own definition of the kind, in its version."""
    group, _, version = kind.objects.api.partition("/")
    plural = kind.objects.path.rpartition("/")[2]
    for file in sorted(FOLDER.glob(f"*/{group}_{plural}.yaml")):
        found: dict[str, Any] = from_yaml(file.read_text("utf-8"))
        if version in [one["name"] for one in found["spec"]["versions"]]:
            found["spec"].pop("conversion", None)
            found.pop("status", None)
            return found
    pytest.skip(f"no definition of {kind.objects.api} {kind.objects.kind} in {FOLDER}")


@pytest.fixture(params=sorted(LAUNCHED))
async def kind(
    request: pytest.FixtureRequest, real_kubernetes: KubernetesCluster
) -> AsyncIterator[WritingKind]:
    """A kind that the control plane serves, by its own definition."""
    found = LAUNCHED[request.param]
    definition = definition_of(found)
    path = f"{DEFINITIONS}/{definition['metadata']['name']}"
    if found.option == "trainjob":
        request.getfixturevalue("real_trainer")  # with the runtime that a TrainJob names, and its webhooks
    try:
        real_kubernetes.call("POST", DEFINITIONS, definition)
    except HTTPError as refusal:
        with refusal:
            if refusal.code != 409:
                raise
        yield found  # its controller is there too, as a real part: that has installed the same definition
        return

    def is_served() -> bool:
        try:
            real_kubernetes.call("GET", found.objects.path)
        except OSError:
            return False
        return True

    try:
        real_kubernetes.wait_for(f"{found.objects.kind}s to be served", is_served)
        yield found
    finally:
        real_kubernetes.call("DELETE", path)
        real_kubernetes.wait_for(f"{found.objects.kind}s to be gone", lambda: not is_served())


@pytest.fixture
async def yard(real_kubernetes: KubernetesCluster) -> AsyncIterator[Yard]:
    async with yard_before(real_kubernetes.kubeconfig, policy=Defaults()) as made:
        yield made


async def test_a_launch_is_accepted_and_nothing_of_it_is_dropped(
    kind: WritingKind, yard: Yard, real_kubernetes: KubernetesCluster
) -> None:
    name = f"d-{uuid.uuid4().hex[:6]}"
    workers = "2..3" if kind.launching is not None and kind.launching.elastic else "3"
    line = (
        f"training launch {name} --kind {kind.option} --image registry.example/vision/mnist:7 --gpus 8 "
        f"--workers {workers} --cpu 2 --memory 8Gi --backoff 2 "
        f"{OWN.get(kind.option, '--max-duration 4h')} --wait -- --epochs 9"
    )
    plan = await yard.do(line, ANA)
    try:
        assert plan.state is PlanState.DONE, plan.error
        created = [step for step in plan.steps if isinstance(step, Create)]
        tops = [step for step in created if step.ref.api == kind.objects.api]
        assert tops
        for step in tops:
            path = f"/apis/{step.ref.api}/namespaces/{name}/{kind.objects.path.rpartition('/')[2]}/{step.ref.name}"
            found = real_kubernetes.call("GET", path)
            kept = {key: one for key, one in step.manifest["spec"].items() if key not in CHANGED}
            assert not dropped(found["spec"], kept)
        await yard.seen(lambda: any(one.shown == f"{name}/{name}" for one in yard.cluster.trainings()))
        stopped = await yard.do(f"training stop {name}", ANA)
        assert stopped.state is PlanState.DONE, stopped.error
    finally:
        real_kubernetes.call("DELETE", f"/api/v1/namespaces/{name}")
