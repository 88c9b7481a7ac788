"""The whole life of a training of each kind, on the look-alikes. A new kind enters by itself.

It needs a row in `tests/support/training_controllers.py`, which says how its controller acts.
"""

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from collectors.sources.kubernetes.client import KubernetesClient
from commands.core.context import Defaults
from commands.training.training_kinds import DEFAULT_KIND, KINDS
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings
from tests.support.controller_lookalike import ControllerLookalike
from tests.support.custom_kinds import a_definition
from tests.support.drained import kubelets
from tests.support.jobset_controller import JobSetLookalike
from tests.support.life_of_a_kind import LifeOfAKind, LifeStage
from tests.support.trainer_controller import TrainerLookalike
from tests.support.training_controllers import CONTROLLERS
from tests.support.yard import yard_before


class Controller(Protocol):
    """The controller of a kind, on a cluster."""

    async def install(self) -> None: ...

    async def run(self) -> None: ...


@dataclass(kw_only=True)
class Runner:
    """A controller that runs, and can be stopped for a while."""

    controller: Controller
    group: asyncio.TaskGroup
    task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self.task = self.group.create_task(self.controller.run())

    async def stop(self) -> None:
        assert self.task is not None
        self.task.cancel()
        await asyncio.wait((self.task,))
        assert self.task.cancelled(), self.task.exception()

    @asynccontextmanager
    async def stopped(self) -> AsyncGenerator[None]:
        await self.stop()
        yield
        self.start()


# These have look-alikes of their own; that of JobSet passes the tests of the real one.
OWN: dict[str, Callable[[KubernetesClient], Controller]] = {
    "JobSet.jobset.x-k8s.io": JobSetLookalike,
    "TrainJob.trainer.kubeflow.org": TrainerLookalike,
}


LAUNCHED = {name: kind for name, kind in KINDS.items() if kind.launching}


@pytest.fixture(params=sorted(LAUNCHED), ids=[LAUNCHED[name].option for name in sorted(LAUNCHED)])
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[LifeStage]:
    kind = LAUNCHED[request.param]
    name = f"t-{uuid.uuid4().hex[:6]}"
    async with AsyncExitStack() as stack:
        running = KubernetesLookalike.running(settings=Settings(node_grace=None))
        config = (await stack.enter_async_context(running)).kubeconfig(tmp_path / "config")
        kube = await stack.enter_async_context(kubelets(config, name, makes_namespace=False))
        controller: Controller | None = None
        if kind is not DEFAULT_KIND:
            own = OWN.get(kind.name)
            controller = own(kube.client) if own else ControllerLookalike(kube.client, CONTROLLERS[kind.name])
            await controller.install()
        for node in ("a", "b"):
            await kube.add_open_node(f"{name}-{node}", pool=name, **{"nvidia.com/gpu": "8"})
        yard = await stack.enter_async_context(yard_before(config, policy=Defaults(owners={"ana": "U_ANA"})))
        group = await stack.enter_async_context(asyncio.TaskGroup())
        runner = Runner(controller=controller, group=group) if controller is not None else None
        if runner is not None:
            runner.start()
        made = LifeStage(
            yard=yard,
            kube=kube,
            kind=kind,
            name=name,
            definition=a_definition(kind.objects),
            without_controller=runner.stopped if runner is not None else None,
        )
        try:
            yield made
        finally:
            if runner is not None:
                await runner.stop()


class TestLife(LifeOfAKind):
    """Of each kind that is launched."""
