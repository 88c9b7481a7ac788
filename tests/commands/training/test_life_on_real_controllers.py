"""The whole life of a training of a kind, with the kind's own controller beside a real control plane.

Short lives of two families in every run; `make soak` has whole lives of all kinds. JobSets have tests of their own.
"""

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from collectors.trainings.training import TrainingState
from commands.core.context import Defaults
from commands.training.training_kinds import BY_OPTION
from tests.real.fixtures import present_or_skip
from tests.real.servers.kuberay import KubeRay
from tests.real.servers.operator_part import Operator
from tests.real.servers.trainer import Trainer
from tests.real.servers.volcano import Volcano
from tests.support import real_controllers
from tests.support.drained import kubelets
from tests.support.examples import by_profile
from tests.support.life_of_a_kind import LifeOfAKind, LifeStage
from tests.support.real_controllers import CONTROLLERS, Record, record_passed
from tests.support.yard import yard_before

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("real_kubernetes"), pytest.mark.soak]
# By the option of the kind: what runs its controller, where that is no operator with a main of ours.
SERVERS: dict[str, Callable[..., Operator | Trainer | Volcano]] = {
    "rayjob": KubeRay,
    "trainjob": Trainer,
    "vcjob": Volcano,
}
OPTIONS = {
    "vcjob": " --queue default"
}  # that a launch needs there: without its admission Volcano knows no default
WHOLE = by_profile([], [*CONTROLLERS])
SHORT = by_profile([*real_controllers.SHORT], [*real_controllers.SHORT, "mpijobv2", "rayjob"])
# Of two to six workers where four have room: how many begin, and what the kind's controller makes of the range.
ELASTIC = {
    "pytorchjob": (4, {"name": "PET_NNODES", "value": "2:6"}),
    "rayjob": (2, {"name": "KUBERAY_CRD_VER", "value": "v1"}),  # of the autoscaler, which adds the others
    "vcjob": (4, {"name": "WORKERS", "value": "6"}),
}
COLLECTED_WITHIN = 180  # seconds: the garbage collector looks for new kinds twice a minute
SEEN_WITHIN = 120  # seconds: KubeRay looks every three, and a Job begins again what failed after ten
KILLED_EVERY = by_profile(
    50, 5
)  # writes of the journal: each costs a launch; the look-alikes are killed at each


@pytest.fixture(scope="module")
def controller(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The controller of a kind. One at a time: two projects define an MPIJob."""
    serve = SERVERS.get(request.param) or partial(Operator, part=CONTROLLERS[request.param])
    cluster = request.getfixturevalue("real_jobset" if request.param == "trainjob" else "real_kubernetes")
    folder = tmp_path_factory.mktemp(request.param)
    with present_or_skip(lambda: serve(cluster=cluster, folder=folder)) as running:
        yield request.param, running


@pytest.fixture
async def stage(controller: Any, record_property: Record) -> AsyncIterator[LifeStage]:
    option, running = controller
    record_passed(record_property, option, CONTROLLERS[option])
    kind = BY_OPTION[option]
    name = f"t-{uuid.uuid4().hex[:6]}"
    config: Path = running.cluster.kubeconfig

    @asynccontextmanager
    async def without_controller() -> AsyncGenerator[None]:
        with running.stopped():
            yield

    async with AsyncExitStack() as stack:
        kube = await stack.enter_async_context(kubelets(config, name, makes_namespace=False))
        for node in ("a", "b"):
            await kube.add_open_node(f"{name}-{node}", pool=name, **{"nvidia.com/gpu": "8"})
        yard = await stack.enter_async_context(yard_before(config, policy=Defaults(owners={"ana": "U_ANA"})))
        made = LifeStage(
            yard=yard,
            kube=kube,
            kind=kind,
            name=name,
            options=OPTIONS.get(option, ""),
            definition=running.definitions[kind.objects.path.rpartition("/")[2]],
            collected_within=COLLECTED_WITHIN,
            seen_within=SEEN_WITHIN,
            step_of_kills=KILLED_EVERY,
            without_controller=without_controller,
        )
        try:
            yield made
        finally:
            await kube.clear(
                (f"{name}-a", f"{name}-b"), f"/apis/scheduling.k8s.io/v1/priorityclasses/{made.high}"
            )


if WHOLE:

    @pytest.mark.parametrize("controller", WHOLE, indirect=True)
    class TestLife(LifeOfAKind):
        """Of each kind whose controller is a real part."""


@pytest.mark.parametrize("controller", by_profile([*real_controllers.ELASTIC], [*ELASTIC]), indirect=True)
async def test_an_elastic_one_runs_with_fewer_than_it_may_have(stage: LifeStage) -> None:
    begun, variable = ELASTIC[stage.kind.option]
    await stage.done(stage.line_of("2..6"))
    await stage.until(TrainingState.RUNNING)

    def held() -> int:
        found = stage.training
        return sum(bool(rank.gpus and rank.node) for rank in found.ranks) if found is not None else 0

    await stage.seen(lambda: held() == begun)
    pods = (await stage.kube.call("GET", stage.kube.path("pods")))["items"]
    containers = [one for pod in pods for one in pod["spec"]["containers"]]
    assert any(variable in one.get("env", ()) for one in containers)
    await stage.done(f"training stop {stage.name} --keep-namespace")
    await stage.until_without_pods()


@pytest.mark.parametrize("controller", SHORT, indirect=True)
class TestShortLife:
    """What each family of kinds shows at least in every run."""

    test_it_runs_and_succeeds_when_its_work_has_ended = (
        LifeOfAKind.test_it_runs_and_succeeds_when_its_work_has_ended
    )
