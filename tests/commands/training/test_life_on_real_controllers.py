"""The whole life of a training of a kind, with the kind's own controller beside a real control plane.

One kind of each family; the others of it in `make soak`. JobSets have tests of their own.
"""

import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from commands.core.context import Defaults
from commands.training.training_kinds import BY_OPTION
from tests.support.drained import kubelets
from tests.support.examples import by_profile
from tests.support.life_of_a_kind import LifeOfAKind, LifeStage
from tests.support.yard import yard_before

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("real_kubernetes"), pytest.mark.soak]
OPERATOR, TRAINER = "real_training_operator", "real_trainer"
USUAL = {"pytorchjob": OPERATOR, "trainjob": TRAINER}
CONTROLLERS = {**USUAL, **by_profile({}, {"tfjob": OPERATOR, "mpijob": OPERATOR})}
COLLECTED_WITHIN = 180  # seconds: the garbage collector looks for new kinds twice a minute
KILLED_EVERY = by_profile(
    50, 5
)  # writes of the journal: each costs a launch; the look-alikes are killed at each


@pytest.fixture(params=list(CONTROLLERS.items()), ids=list(CONTROLLERS))
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[LifeStage]:
    option, fixture = request.param
    controller: Any = request.getfixturevalue(fixture)
    kind = BY_OPTION[option]
    name = f"t-{uuid.uuid4().hex[:6]}"
    config: Path = controller.cluster.kubeconfig

    @asynccontextmanager
    async def without_controller() -> AsyncGenerator[None]:
        with controller.stopped():
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
            definition=controller.definitions[kind.objects.path.rpartition("/")[2]],
            collected_within=COLLECTED_WITHIN,
            step_of_kills=KILLED_EVERY,
            without_controller=without_controller,
        )
        try:
            yield made
        finally:
            for path in (
                f"/api/v1/namespaces/{name}",
                *(f"/api/v1/nodes/{name}-{node}" for node in ("a", "b")),
                f"/apis/scheduling.k8s.io/v1/priorityclasses/{made.high}",
            ):
                with suppress(Exception):
                    await kube.call("DELETE", path)


class TestLife(LifeOfAKind):
    """Of each kind whose controller is a real part."""
