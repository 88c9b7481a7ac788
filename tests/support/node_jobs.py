"""A cluster for Jobs on nodes, with kubelets that a test steers: the look-alike, or a real control plane."""

import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.jobs.job_removal import JobRemoval
from commands.core.context import Defaults
from commands.core.node_script import NodeJobDefaults
from commands.execution.job_runs import JobRun
from tests.support.drained import Kubelets, kubeconfig_of, kubelets, quick, until
from tests.support.yard import Yard, yard_before

IMAGE = "registry.example/tools:1"


@dataclass(kw_only=True)
class JobStage:
    """A pipeline, kubelets that start pods, and a ready node with GPUs. `log` is what every pod writes."""

    yard: Yard
    kubelets: Kubelets
    node: str
    is_real: bool
    log: bytearray = field(default_factory=bytearray)

    async def jobs(self) -> list[Any]:
        found = await self.kubelets.call("GET", self.kubelets.path("jobs", api="/apis/batch/v1"))
        return list(found["items"])

    async def all_pods(self) -> list[Any]:
        return list((await self.kubelets.call("GET", self.kubelets.path("pods")))["items"])

    async def pod(self) -> str:
        """Wait until a Job's pod runs, and return its name."""
        await self.kubelets.until_running(self.node, 1)
        return str((await self.kubelets.pods(self.node))[0]["metadata"]["name"])

    async def waiting_pod(self) -> str:
        """Wait until a Job has a pod, which no kubelet starts, and return its name."""

        found: list[Any] = []

        async def there() -> bool:
            found[:] = await self.kubelets.pods(self.node)
            return bool(found)

        await until(there)
        return str(found[0]["metadata"]["name"])

    async def set_status(self, pod: str, **status: Any) -> None:
        await self.kubelets.call("PATCH", self.kubelets.path("pods", f"{pod}/status"), {"status": status})

    async def nothing_is_left(self) -> None:
        """Wait until neither a Job nor a pod is there."""

        async def gone() -> bool:
            return not await self.jobs() and not await self.all_pods()

        await until(gone)

    async def runs(self) -> list[JobRun]:
        async with self.yard.store.unit() as unit:
            return list(await unit.rows(JobRun).find())

    async def tidy(self) -> None:
        """Do the due work of Jobs, as the agenda does, until nothing is due."""
        works = JobRemoval(self.yard.store, {"prod-a": self.yard.cluster}).work

        async def done() -> bool:
            due = [run for run in await self.runs() if run.remove_at is not None]
            for run in due:
                if run.remove_at is not None and run.remove_at <= self.yard.clock.now():
                    await works.do(run, self.yard.clock.now())
            return not [run for run in await self.runs() if run.remove_at is not None]

        await until(done)


@asynccontextmanager
async def job_stage(
    request: pytest.FixtureRequest,
    folder: Path,
    *,
    policy: Callable[[NodeJobDefaults], Defaults] = lambda jobs: Defaults(node_jobs=jobs),
) -> AsyncGenerator[JobStage]:
    """Yield the stage on the server that the fixture's parameter names."""
    mark = uuid.uuid4().hex[:6]
    node, namespace, log = f"gpu-{mark}", f"jobs-{mark}", bytearray()
    is_real = getattr(request, "param", "") == "real"
    async with AsyncExitStack() as stack:
        config = await stack.enter_async_context(kubeconfig_of(request, folder, logs=lambda *_: bytes(log)))
        made = await stack.enter_async_context(kubelets(config, namespace))
        await made.add_node(node, **{"nvidia.com/gpu": "8"})
        jobs = NodeJobDefaults(namespace=namespace, image=IMAGE)
        yard = await stack.enter_async_context(yard_before(config, policy=policy(jobs), pause=quick))
        await yard.seen(lambda: node in yard.cluster.inventory().nodes)
        try:
            yield JobStage(yard=yard, kubelets=made, node=node, is_real=is_real, log=log)
        finally:
            await made.clear((node,))
