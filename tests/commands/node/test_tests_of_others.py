"""`node accept` where other programs test nodes: theirs is started, awaited and read, with a stand-in for each."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.jobs.acceptance_watcher import AcceptanceWatcher
from collectors.facts.results import SourceError
from commands.acceptance.acceptance import Acceptance, AcceptanceState
from commands.acceptance.suites import AcceptancePolicy
from commands.core.context import Defaults
from commands.core.node_script import NodeJobDefaults
from commands.core.request import Request
from commands.execution.plan import Plan, PlanState
from tests.support.drained import ON_BOTH_SERVERS, until
from tests.support.node_jobs import JobStage, job_stage
from tests.support.validator_definitions import validator_definition

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
REQUESTS = "/apis/nvsentinel.nvidia.com/v1alpha1/validationrequests"
RULES = "/apis/readiness.node.x-k8s.io/v1alpha1/nodereadinessrules"
CERTIFICATIONS = "/apis/cre.nvidia.com/v1alpha1/certifications"
BURNED_IN = "gpu.example.com/BurnedIn"


def defaults(jobs: NodeJobDefaults) -> Defaults:
    return Defaults(node_jobs=jobs, acceptance=AcceptancePolicy())


@dataclass(kw_only=True)
class Site:
    """A cluster whose node is cordoned, and whose other programs the test plays."""

    stage: JobStage

    @property
    def node(self) -> str:
        return self.stage.node

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        return await self.stage.kubelets.call(method, path, body)

    async def serve(self, kind: str, path: str) -> None:
        """Install the definition of a kind, and wait until it is served."""
        await self.call("POST", DEFINITIONS, validator_definition(kind))

        async def served() -> bool:
            with suppress(SourceError):
                return (await self.call("GET", path)).get("items") is not None
            return False

        await until(served)

    async def ask(self, line: str = "") -> "asyncio.Task[Plan]":
        yard = self.stage.yard
        reply = await yard.say(line or f"node accept {self.node}")
        plan = await yard.newest()
        assert plan is not None, reply
        assert plan.command == "node accept", reply
        return asyncio.get_running_loop().create_task(yard.executor.execute(await yard.confirmed(plan)))

    async def made(self, path: str) -> Any:
        """Wait for the object that the plan creates, and return it."""
        found: list[Any] = []

        async def there() -> bool:
            items = (await self.call("GET", path))["items"]
            found[:] = [one for one in items if self.node in one["metadata"]["name"]]
            return bool(found)

        await until(there)
        return found[0]

    async def report(self, path: str, found: Any, status: Any) -> None:
        """Write the status of an object, as its controller does."""
        meta = found["metadata"]
        if "namespace" in meta:
            group, plural = path.rsplit("/", 1)
            path = f"{group}/namespaces/{meta['namespace']}/{plural}"
        await self.call("PATCH", f"{path}/{meta['name']}/status", {"status": status})

    async def condition(self, status: str) -> None:
        found = (await self.call("GET", f"/api/v1/nodes/{self.node}"))["status"]["conditions"]
        kept = [one for one in found if one["type"] != BURNED_IN]
        body = {"status": {"conditions": [*kept, {"type": BURNED_IN, "status": status}]}}
        await self.call("PATCH", f"/api/v1/nodes/{self.node}/status", body)

    async def verdict(self) -> Acceptance:
        async def take(request: Request) -> None:
            raise AssertionError(request.line)

        yard = self.stage.yard
        policy = yard.pipeline.defaults.acceptance
        await AcceptanceWatcher(yard.store, {"prod-a": yard.cluster}, yard.clock, take, policy).check()
        async with yard.store.read() as snapshot:
            (found,) = await snapshot.rows(Acceptance).find()
        return found


def a_group(test: str, phase: str, node: str, **more: Any) -> dict[str, Any]:
    name = f"{test}-group-1"
    return {
        "name": name,
        "provider": "k8s-job-provider",
        "phase": phase,
        "nodes": [node],
        "tests": [test],
        **more,
    }


@pytest.fixture(params=ON_BOTH_SERVERS)
async def site(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Site]:
    async with job_stage(request, tmp_path, policy=defaults) as stage:
        await stage.yard.do(f"node cordon {stage.node} --reason test")
        await stage.yard.seen(lambda: stage.yard.cluster.inventory().nodes[stage.node].spec.unschedulable)
        made = Site(stage=stage)
        try:
            yield made
        finally:
            for kind in ("ValidationRequest", "Certification", "NodeReadinessRule"):
                name = validator_definition(kind)["metadata"]["name"]
                with suppress(SourceError):
                    await made.call("DELETE", f"{DEFINITIONS}/{name}")


async def test_nvsentinels_validation_is_started_awaited_and_read(site: Site) -> None:
    await site.serve("ValidationRequest", REQUESTS)
    task = await site.ask()
    found = await site.made(REQUESTS)
    assert found["spec"] == {"nodes": [{"name": site.node}]}
    running = [a_group("dcgm-diag-test", "Running", site.node)]
    await site.report(REQUESTS, found, {"phase": "Running", "testGroups": running})
    assert not task.done()
    passed = [a_group(one, "Succeeded", site.node) for one in ("dcgm-diag-test", "nccl-loopback-nvswitch")]
    await site.report(REQUESTS, found, {"phase": "Succeeded", "testGroups": passed})
    over = await task
    assert over.state is PlanState.DONE, over.error
    assert await site.stage.jobs() == [], "none of our own tests ran"
    one = await site.verdict()
    assert (one.state, one.suite) == (AcceptanceState.ACCEPTED, "nvsentinel")
    assert "accepted" in await site.stage.yard.say(f"node show {site.node}")


async def test_a_test_of_theirs_that_failed_is_named(site: Site) -> None:
    await site.serve("ValidationRequest", REQUESTS)
    task = await site.ask()
    found = await site.made(REQUESTS)
    attempts = [{"objectName": "a", "phase": "Failed", "failureReason": "TestTimeout"}]
    groups = [
        a_group("dcgm-diag-test", "Succeeded", site.node),
        a_group("nccl-loopback-nvswitch", "Failed", site.node, attempts=attempts),
    ]
    await site.report(REQUESTS, found, {"phase": "Failed", "testGroups": groups})
    assert (await task).state is PlanState.DONE
    one = await site.verdict()
    assert (one.state, one.reasons) == (
        AcceptanceState.FAILED,
        ("nccl-loopback-nvswitch: TestTimeout",),
    )


async def test_a_readiness_rule_is_awaited_after_the_tests(site: Site) -> None:
    await site.serve("ValidationRequest", REQUESTS)
    await site.serve("NodeReadinessRule", RULES)
    labels = (await site.call("GET", f"/api/v1/nodes/{site.node}"))["metadata"]["labels"]
    own = {"key": "kubernetes.io/hostname", "operator": "In", "values": [labels["kubernetes.io/hostname"]]}
    spec = {
        "conditions": [{"type": BURNED_IN, "requiredStatus": "True"}],
        "nodeSelector": {"matchExpressions": [own]},
        "taint": {"key": "readiness.k8s.io/burn-in", "effect": "NoSchedule"},
    }
    await site.call(
        "POST", RULES, {**_of("readiness.node.x-k8s.io", "NodeReadinessRule", "burn-in"), "spec": spec}
    )
    task = await site.ask()
    found = await site.made(REQUESTS)
    await site.condition("False")
    groups = [a_group("dcgm-diag-test", "Succeeded", site.node)]
    await site.report(REQUESTS, found, {"phase": "Succeeded", "testGroups": groups})
    await asyncio.sleep(0.3)
    assert not task.done()
    await site.condition("True")
    over = await task
    assert over.state is PlanState.DONE, over.error
    assert (await site.verdict()).state is AcceptanceState.ACCEPTED


async def test_the_readiness_engine_certifies_the_node(site: Site) -> None:
    await site.serve("Certification", CERTIFICATIONS)
    task = await site.ask()
    found = await site.made(CERTIFICATIONS)
    assert found["spec"]["target"] == {"nodeSelector": {"kubernetes.io/hostname": site.node}}
    failed = {
        "type": "Failed",
        "status": "True",
        "reason": "BelowThreshold",
        "message": "412 of 580 GB/s",
        "lastTransitionTime": "2026-11-21T12:00:00Z",
    }
    await site.report(CERTIFICATIONS, found, {"conditions": [failed]})
    assert (await task).state is PlanState.DONE
    one = await site.verdict()
    assert (one.state, one.reasons) == (AcceptanceState.FAILED, ("Certification: 412 of 580 GB/s",))


async def test_one_that_is_not_served_is_said_to_be_missing(site: Site) -> None:
    said = await site.stage.yard.say(f"node accept {site.node} --suite certification")
    assert "certification needs a cluster that serves Certification, and this one does not" in said


async def test_our_own_suite_is_there_by_its_name(site: Site) -> None:
    await site.serve("ValidationRequest", REQUESTS)
    said = await site.stage.yard.say(f"node accept {site.node} --suite yardmaster")
    assert f"Test {site.node} with suite yardmaster" in said
    assert "dcgm" in said


def _of(group: str, kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": f"{group}/v1alpha1", "kind": kind, "metadata": {"name": name}}
