"""Plans that run while a process is killed again and again: a drain of many pods, repairs and acceptances.

What must hold of them in the end is judged here. The kubelets are slow: pods end one after the other, and a script runs
for a moment, so that kills come at any point.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any, Self

from collectors.facts.results import SourceError
from commands.acceptance.acceptance import Acceptance
from commands.execution.plan import Plan, PlanState
from demo.lookalikes.kubernetes.faults import RecordedRequest
from tests.support.drained import Kubelets, kubelets
from tests.support.light import ready_node
from tests.support.light_stage import Light
from tests.support.waiting_plans import Waiting

SPACE, DRAINED, PODS = "killed", "kill-d1", 40
KINDS = ("node drain {node}", "node repair {node} --with nvidia-uvm", "node accept {node}")
TESTS = ("copy", "disk")
SETTINGS: dict[str, Any] = {
    "node_jobs": {"namespace": SPACE, "image": "registry.example/tools:1"},
    "acceptance": {
        "suite": "short",
        "suites": {"short": {"tests": [{"name": name, "gpus": False, "script": "echo"} for name in TESTS]}},
    },
}
PRINTED = b"yardmaster/1 copy pass 1340 GB/s\nyardmaster/1 end\n"
LOOK, WAIT = 0.5, 60.0  # seconds
RUNS = 1.0  # seconds that the pod of a script runs, at most


@dataclass(kw_only=True)
class KilledPlans:
    """The plans so far. `pace` is the seconds between the ends of two pods."""

    stage: Light
    kubelets: Kubelets
    random: Random
    pace: float
    waiting: Waiting
    begun: list[str] = field(default_factory=list)  # lines

    @classmethod
    @asynccontextmanager
    async def on(cls, stage: Light, *, random: Random, pace: float, most: int) -> AsyncGenerator[Self]:
        """Add nodes for so many plans. `stage` must not run a bot of its own, and needs SETTINGS."""
        stage.kube.logs = lambda *_: PRINTED
        config = stage.kube.kubeconfig(stage.folder / "kubelets")
        async with kubelets(config, SPACE) as made, asyncio.TaskGroup() as group:
            made.ends_pods, made.every = False, 0.2
            plans = cls(stage=stage, kubelets=made, random=random, pace=pace, waiting=Waiting(stage=stage))
            plans._add_pods()
            for number in range(1, most):
                spec = {"unschedulable": True} if _line(number).startswith("node accept") else {}
                ready_node(stage.kube, f"kill-d{number + 1}", **spec)
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
        """Confirm the drain first, then a repair and an acceptance in turn; a kill may come at any moment after it.

        Slack has the acknowledgement then: from now on it must not be lost.
        """
        line = _line(len(self.begun))
        self.begun.append(line)
        try:
            await self.waiting.propose(line)
        except TimeoutError:
            said = [one.said for one in self.stage.slack.ephemerals("dana")[-3:]]
            raise AssertionError(f"no preview of `{line}`: {said}") from None
        asks = "second person" in self.waiting.previews[line].said
        await self.waiting.confirm(line, "eli" if asks else "dana")
        await self.stage.slack.until(lambda: self.stage.slack.envelopes[-1].acked, WAIT)

    async def settled(self, within: float) -> list[str]:
        """Wait until all plans have ended, while a process runs, and return what is wrong."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while not await self._are_over():  # noqa: ASYNC110 - another process changes it
                    await asyncio.sleep(LOOK)  # each look reads the whole store beside the process
        faults = [_fault(plan) for plan in await self._plans()]
        faults += [f"it has no verdict: {one}" for one in await self._unjudged()]
        return [*filter(None, faults), *self._faults()]

    async def ends(self) -> dict[str, int]:
        """Return how many plans of each command ended how."""
        return dict(Counter([f"{plan.command} {plan.state.value}" for plan in await self._plans()]))

    async def _are_over(self) -> bool:
        if self._left() or not all(plan.has_ended for plan in await self._plans()):
            return False
        return not await self._unjudged()

    async def _plans(self) -> list[Plan]:
        confirmed = {*self.waiting.plans.values()}
        return [one for one in await self.waiting.rows(Plan) if one.id in confirmed]

    async def _unjudged(self) -> list[str]:
        return [one.node for one in await self.waiting.rows(Acceptance) if not one.is_over]

    def _faults(self) -> list[str]:
        made = Counter(map(_made, (one for one in self.stage.writes("/jobs") if one.method == "POST")))
        found = [f"left behind: {one}" for one in self._left()]
        found += [f"evicted {times} times: {pod}" for pod, times in self._evictions().items() if times > 1]
        found += [f"made {times} times: {job}" for job, times in made.items() if times > 1]
        lines = [line for line in self.begun if "drain" not in line]
        most = sum(len(TESTS) if "accept" in line else 1 for line in lines)
        return [*found, *([f"{len(made)} Jobs for {most} steps"] if len(made) > most else ())]

    def _left(self) -> list[str]:
        """Return the Jobs and their pods, which may do anything on their node."""
        jobs = [one["metadata"]["name"] for one in self.stage.kube.list("jobs")]
        return [*jobs, *(one["metadata"]["name"] for one in self._pods() if _is_of_job(one))]

    def _pods(self) -> list[Any]:
        return [one for one in self.stage.kube.list("pods") if one["metadata"]["namespace"] == SPACE]

    def _evictions(self) -> Counter[str]:
        seen = (one for one in self.stage.writes("/eviction") if one.method == "POST")
        real = (one for one in seen if not (one.body.get("deleteOptions") or {}).get("dryRun"))
        return Counter(one.path.split("/")[-2] for one in real)

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
            first = [one for one in ending if _is_of_job(one)] or ending[:1]
            for one in first:
                with suppress(SourceError):
                    path = self.kubelets.path("pods", one["metadata"]["name"])
                    await self.kubelets.call("DELETE", path, {"gracePeriodSeconds": 0})
            await asyncio.sleep(self.random.uniform(0.0, 2 * self.pace))

    async def _end_jobs(self) -> None:
        """Let the pods of scripts succeed after a moment."""
        while True:
            for one in self._pods():
                if _is_of_job(one) and one["status"].get("phase") == "Running":
                    await asyncio.sleep(self.random.uniform(0.0, RUNS))
                    with suppress(SourceError):
                        await self.kubelets.end(one["metadata"]["name"], 0)
            await asyncio.sleep(0.1)


def _line(number: int) -> str:
    kind = KINDS[0] if number == 0 else KINDS[2 - number % 2]
    return kind.format(node=f"kill-d{number + 1}")


def _fault(plan: Plan) -> str:
    if plan.state is PlanState.DONE or (plan.state is PlanState.FAILED and plan.error):
        return ""
    return f"`{plan.line}` is neither complete nor stopped with a reason: {plan.state.value}"


def _made(seen: RecordedRequest) -> str:
    """Return which script a Job was made for, and on which node: it is named after that."""
    meta = seen.body["metadata"]
    return f"{meta['annotations']['yardmaster.io/script']} as {meta['name']}"


def _is_of_job(pod: Any) -> bool:
    return any(one["kind"] == "Job" for one in pod["metadata"].get("ownerReferences") or ())
