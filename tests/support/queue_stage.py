"""A cluster with a pool of 8 GPUs, and a queue that has a test's name and as many: of Kueue or of Volcano."""

import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from collectors.facts.results import SourceError
from collectors.trainings.training import Training, TrainingState
from commands.core.context import Defaults
from tests.support.cluster_cache import until as cache_until
from tests.support.drained import kubelets, until
from tests.support.training_stage import TrainingStage
from tests.support.yard import yard_before

GPUS = 8  # of the pool, and of the queue
KUEUE_API = "/apis/kueue.x-k8s.io/v1beta2"
VOLCANO_API = "/apis/scheduling.volcano.sh/v1beta1"
COLLECTED_WITHIN = 180  # seconds: the garbage collector looks for new kinds twice a minute
SEEN_WITHIN = 60  # seconds: what a controller has not ended yet is looked at ever more rarely


@dataclass(kw_only=True)
class QueueStage(TrainingStage):
    """`option`: the kind of its trainings, as it is typed. `left`: the paths of what is deleted at the end."""

    option: str
    left: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        return self.launched_as(self.name)

    def launched_as(self, name: str, workers: int = 2) -> str:
        return (
            f"training launch {name} --kind {self.option} --image registry.example/vision/mnist:7 "
            f"--workers {workers} --gpus 4 --node-selector pool={self.name} --queue {self.name}"
        )

    def named(self, name: str = "") -> Training | None:
        """Return the training of this name, or the only one."""
        return self.yard.cluster.training(f"{name or self.name}/{name or self.name}")

    async def seen(self, holds: Callable[[], bool]) -> None:
        assert self.yard.cluster.cache is not None
        await cache_until(self.yard.cluster.cache, holds, seconds=SEEN_WITHIN)

    async def until(self, state: TrainingState, *, of: str = "") -> Training:
        await self.seen(lambda: (found := self.named(of)) is not None and found.state is state)
        found = self.named(of)
        assert found is not None
        return found

    async def until_waiting(self, word: str, *, of: str = "") -> None:
        """Wait until the reason of its state has this word."""
        await self.seen(lambda: (found := self.named(of)) is not None and word in found.reason)

    async def post(self, path: str, kind: str, tree: dict[str, Any]) -> None:
        """Create an object of a custom kind that belongs to no namespace."""
        api = path.rpartition("/")[0].removeprefix("/apis/")
        await self.kube.call("POST", path, {"apiVersion": api, "kind": kind, **tree})
        self.left.append(f"{path}/{tree['metadata']['name']}")

    async def until_without_pods(self) -> None:
        async def none() -> bool:
            return not (await self.kube.call("GET", self.kube.path("pods")))["items"]

        await until(none, seconds=COLLECTED_WITHIN)

    async def why(self, name: str = "") -> str:
        return await self.yard.say(f"training why {name or self.name}")

    async def begin(self) -> None:
        """Create the queue of the test's name."""
        raise NotImplementedError


@dataclass(kw_only=True)
class KueueStage(QueueStage):
    async def begin(self) -> None:
        flavor = {"metadata": {"name": self.name}, "spec": {"nodeLabels": {"pool": self.name}}}
        await self.post(f"{KUEUE_API}/resourceflavors", "ResourceFlavor", flavor)
        await self.add_queue(self.name)

    async def add_queue(self, name: str, **spec: Any) -> None:
        flavor = {"name": self.name, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": str(GPUS)}]}
        groups = [{"coveredResources": ["nvidia.com/gpu"], "flavors": [flavor]}]
        made = {
            "metadata": {"name": name},
            "spec": {"namespaceSelector": {}, "resourceGroups": groups, **spec},
        }
        await self.post(f"{KUEUE_API}/clusterqueues", "ClusterQueue", made)

        async def is_active() -> bool:
            found = await self.kube.call("GET", f"{KUEUE_API}/clusterqueues/{name}")
            return any(
                one["type"] == "Active" and one["status"] == "True"
                for one in (found.get("status") or {}).get("conditions") or ()
            )

        if "stopPolicy" not in spec:
            await until(is_active)

    async def add_priority(self, end: str, value: int) -> None:
        """Create a WorkloadPriorityClass."""
        made = {"metadata": {"name": f"{self.name}-{end}"}, "value": value}
        await self.post(f"{KUEUE_API}/workloadpriorityclasses", "WorkloadPriorityClass", made)

    async def workload(self) -> Any:
        (found,) = (await self.kube.call("GET", f"{KUEUE_API}/namespaces/{self.name}/workloads"))["items"]
        return found


@dataclass(kw_only=True)
class VolcanoStage(QueueStage):
    async def begin(self) -> None:
        spec = {"weight": 1, "capability": {"nvidia.com/gpu": str(GPUS)}}
        await self.post(f"{VOLCANO_API}/queues", "Queue", {"metadata": {"name": self.name}, "spec": spec})

        async def is_open() -> bool:
            found = await self.kube.call("GET", f"{VOLCANO_API}/queues/{self.name}")
            return bool((found.get("status") or {}).get("state") == "Open")

        await until(is_open)


S = TypeVar("S", bound=QueueStage)


@asynccontextmanager
async def queue_stage(kubeconfig: Path, of: type[S], option: str) -> AsyncGenerator[S]:
    """Yield the stage of a test, with names of its own; two trainings of it run. Nothing of it is left."""
    name = f"q-{uuid.uuid4().hex[:6]}"
    async with AsyncExitStack() as stack:
        kube = await stack.enter_async_context(kubelets(kubeconfig, name, makes_namespace=False))
        await stack.enter_async_context(kubelets(kubeconfig, f"{name}-2", makes_namespace=False))
        await kube.add_open_node(f"{name}-a", pool=name, **{"nvidia.com/gpu": str(GPUS)})
        policy = Defaults(
            owners={"ana": "U_ANA"}, training_queues={"q-*": ("vision",), "speech-*": ("speech",)}
        )
        yard = await stack.enter_async_context(yard_before(kubeconfig, policy=policy))
        made = of(yard=yard, kube=kube, name=name, option=option)
        made.left = [f"/api/v1/namespaces/{name}", f"/api/v1/namespaces/{name}-2", f"/api/v1/nodes/{name}-a"]
        try:
            await made.begin()
            yield made
        finally:
            for path in made.left:
                with suppress(SourceError):
                    await kube.call("DELETE", path)
