"""Plans that run while a process is killed again and again: a drain of many pods, and repairs. What must hold of them.

The kubelets are slow: pods end one after the other, and a repair runs for a moment, so that kills come at any point.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any, Self

from collectors.facts.results import SourceError
from commands.execution.plan import Plan, PlanState
from tests.support.drained import Kubelets, kubelets, until
from tests.support.light import ready_node
from tests.support.light_stage import Light
from tests.support.waiting_plans import Waiting

SPACE, DRAINED, PODS = "killed", "kill-d1", 40
JOBS = {"node_jobs": {"namespace": SPACE, "image": "registry.example/tools:1"}}
RUNS = 1.5  # seconds that the pod of a repair runs, at most


@dataclass(kw_only=True)
class KilledPlans:
    """The plans so far. `pace` is the seconds between the ends of two pods."""

    stage: Light
    kubelets: Kubelets
    random: Random
    pace: float
    waiting: Waiting
    repaired: list[str] = field(default_factory=list)

    @classmethod
    @asynccontextmanager
    async def on(cls, stage: Light, *, random: Random, pace: float) -> AsyncGenerator[Self]:
        """Add a node with many pods. `stage` must not run a bot of its own, and needs the settings JOBS."""
        config = stage.kube.kubeconfig(stage.folder / "kubelets")
        async with kubelets(config, SPACE) as made, asyncio.TaskGroup() as group:
            made.ends_pods, made.every = False, 0.2
            plans = cls(stage=stage, kubelets=made, random=random, pace=pace, waiting=Waiting(stage=stage))
            plans._add_pods()
            tasks = [group.create_task(plans._end_pods()), group.create_task(plans._end_jobs())]
            try:
                yield plans
            finally:
                for task in tasks:
                    task.cancel()

    @property
    def evicted(self) -> set[str]:
        """The pods that were asked to go."""
        return set(self._evictions())

    async def begin_another(self) -> None:
        """Confirm the drain first, then a repair of another node each time; a kill may come at any moment after it."""
        if not self.waiting.plans:
            await self._confirm(f"node drain {DRAINED}")
        node = f"kill-r{len(self.repaired)}"
        ready_node(self.stage.kube, node)
        self.repaired.append(node)
        await self._confirm(f"node repair {node} --with nvidia-uvm")

    async def _confirm(self, line: str) -> None:
        """Confirm it, and return once Slack has the acknowledgement: from then on it must not be lost."""

        async def is_known() -> bool:
            known = line.split()[2]
            return known in (await self.stage.asks("dana", "node list --all")).said

        await until(is_known)
        await self.waiting.propose(line)
        await self.waiting.confirm(line)
        await self.stage.slack.until(lambda: self.stage.slack.envelopes[-1].acked, 60)

    async def settled(self, within: float) -> list[str]:
        """Wait until all plans have ended, while a process runs, and return what is wrong."""

        async def is_over() -> bool:
            ended = [(await self.waiting.plan(line)).has_ended for line in self.waiting.plans]
            return all(ended) and not self._left()

        with suppress(TimeoutError):
            await until(is_over, seconds=within)
        faults = [await self._fault(line) for line in self.waiting.plans]
        return [*filter(None, faults), *self._faults()]

    async def ends(self) -> dict[str, int]:
        """Return how many plans ended how."""
        return dict(Counter([(await self.waiting.plan(line)).state.value for line in self.waiting.plans]))

    async def _fault(self, line: str) -> str:
        plan: Plan = await self.waiting.plan(line)
        if plan.state is PlanState.DONE or (plan.state is PlanState.FAILED and plan.error):
            return ""
        return f"`{line}` is neither complete nor stopped with a reason: {plan.state.value}"

    def _faults(self) -> list[str]:
        found = [f"left behind: {one}" for one in self._left()]
        found += [f"evicted {times} times: {pod}" for pod, times in self._evictions().items() if times > 1]
        jobs = self._jobs_made()
        found += [f"{times} Jobs were made on {node}" for node, times in jobs.items() if times > 1]
        return found

    def _left(self) -> list[str]:
        """Return the Jobs, and the pods that may do anything on their node."""
        jobs = [one["metadata"]["name"] for one in self.stage.kube.list("jobs")]
        return [*jobs, *(one["metadata"]["name"] for one in self._pods() if _is_privileged(one))]

    def _pods(self) -> list[Any]:
        return [one for one in self.stage.kube.list("pods") if one["metadata"]["namespace"] == SPACE]

    def _evictions(self) -> Counter[str]:
        seen = (one for one in self.stage.writes("/eviction") if one.method == "POST")
        return Counter(one.path.split("/")[-2] for one in seen)

    def _jobs_made(self) -> Counter[str]:
        made = (one.body for one in self.stage.writes("/jobs") if one.method == "POST")
        return Counter(str(one["spec"]["template"]["spec"]["nodeName"]) for one in made)

    def _add_pods(self) -> None:
        ready_node(self.stage.kube, DRAINED)
        owner = self.stage.kube.create(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}}, namespace=SPACE
        )
        meta = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
        for number in range(PODS):
            pod = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"web-{number}", "ownerReferences": [{**meta, "controller": True}]},
                "spec": {"nodeName": DRAINED, "containers": [{"name": "main", "image": "i"}]},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
            }
            self.stage.kube.create(pod, namespace=SPACE, keep_status=True)

    async def _end_pods(self) -> None:
        """End one of the terminating pods after the other; those of Jobs at once."""
        while True:
            ending = [one for one in self._pods() if "deletionTimestamp" in one["metadata"]]
            first = [one for one in ending if _is_privileged(one)] or ending[:1]
            for one in first:
                with suppress(SourceError):
                    path = self.kubelets.path("pods", one["metadata"]["name"])
                    await self.kubelets.call("DELETE", path, {"gracePeriodSeconds": 0})
            await asyncio.sleep(self.random.uniform(0.0, 2 * self.pace))

    async def _end_jobs(self) -> None:
        """Let the pods of repairs succeed after a moment."""
        while True:
            for one in self._pods():
                if _is_privileged(one) and one["status"].get("phase") == "Running":
                    await asyncio.sleep(self.random.uniform(0.0, RUNS))
                    with suppress(SourceError):
                        await self.kubelets.end(one["metadata"]["name"], 0)
            await asyncio.sleep(0.1)


def _is_privileged(pod: Any) -> bool:
    return any(one.get("securityContext", {}).get("privileged") for one in pod["spec"]["containers"])
