"""`gpu cordon` and `gpu uncordon` on the look-alike and on a real control plane, whose GPUs are given by claims."""

import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from alerts.cards.text import plain
from bot.jobs.gpu_lease_reminder import GpuLeaseReminder, gpu_reminder
from commands.core.cordoned_nodes import BY
from commands.execution.executor import PlanExecutor
from commands.execution.plan import PlanState
from commands.execution.steps import Create
from commands.models import GpuLease
from tests.support.drained import ON_BOTH_SERVERS, Kubelets, kubeconfig_of, kubelets, quick
from tests.support.yard import NOON, Yard, yard_before

DRIVER = "gpu.nvidia.com"
CLAIMS = "/apis/resource.k8s.io/v1"
RULES = "/apis/resource.k8s.io/v1beta2/devicetaintrules"


def a_device(number: int, *, index: bool = True) -> dict[str, Any]:
    """Return a GPU as NVIDIA's driver lists it: without an index since 2025, and its name has the minor number."""
    attributes: dict[str, Any] = {"type": {"string": "gpu"}, "uuid": {"string": f"GPU-{number:04d}"}}
    if index:
        attributes["index"] = {"int": number}
    return {"name": f"gpu-{number}", "attributes": attributes}


@dataclass(kw_only=True)
class Stage:
    yard: Yard
    kube: Kubelets
    node: str

    async def list_devices(self, *devices: Any) -> None:
        """Let the driver list the devices of the node, and wait until the bot sees them."""
        spec = {
            "driver": DRIVER,
            "nodeName": self.node,
            "pool": {"name": self.node, "generation": 1, "resourceSliceCount": 1},
            "devices": list(devices),
        }
        body = {"metadata": {"name": self.node}, "spec": spec}
        await self.kube.call("POST", f"{CLAIMS}/resourceslices", body)
        await self.yard.seen(lambda: bool(self.yard.cluster.inventory().whole_gpus_on(self.node)))

    async def give(self, pod: str, *devices: str) -> None:
        """Run a pod that a claim has given these devices, as the scheduler does."""
        path = self.kube.path("resourceclaims", api=CLAIMS)
        exactly = {"deviceClassName": DRIVER, "count": len(devices)}
        request = {"name": "gpu", "exactly": exactly}
        made = {"metadata": {"name": pod}, "spec": {"devices": {"requests": [request]}}}
        await self.kube.call("POST", path, made)
        claims = [{"name": "gpu", "resourceClaimName": pod}]
        await self.kube.add_pod(pod, self.node, owned=True, resourceClaims=claims)
        uid = (await self.kube.call("GET", self.kube.path("pods", pod)))["metadata"]["uid"]
        results = [{"request": "gpu", "driver": DRIVER, "pool": self.node, "device": one} for one in devices]
        status = {
            "allocation": {"devices": {"results": results}},
            "reservedFor": [{"resource": "pods", "name": pod, "uid": uid}],
        }
        await self.kube.call("PATCH", f"{path}/{pod}/status", {"status": status})
        await self.yard.seen(
            lambda: any(
                one.metadata.name == pod and self.yard.cluster.inventory().gpus_of(one)
                for one in self.yard.cluster.inventory().pods_on(self.node)
            )
        )

    async def rules(self) -> list[Any]:
        found = (await self.kube.call("GET", RULES))["items"]
        return [one for one in found if one["spec"]["deviceSelector"].get("pool") == self.node]

    async def leases(self) -> list[GpuLease]:
        async with self.yard.store.read() as snapshot:
            return list(await snapshot.rows(GpuLease).find())

    async def rules_seen(self, count: int) -> None:
        await self.yard.seen(lambda: len(self.yard.cluster.inventory().device_taint_rules) == count)

    async def pods(self) -> list[str]:
        return [one["metadata"]["name"] for one in await self.kube.pods(self.node)]


@pytest.fixture(params=ON_BOTH_SERVERS)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    mark = uuid.uuid4().hex[:6]
    node = f"dra-{mark}"
    async with AsyncExitStack() as stack:
        config = await stack.enter_async_context(kubeconfig_of(request, tmp_path))
        kube = await stack.enter_async_context(kubelets(config, f"dra-{mark}"))
        await kube.add_node(node)
        yard = await stack.enter_async_context(yard_before(config, pause=quick))
        await yard.seen(lambda: node in yard.cluster.inventory().nodes)
        made = Stage(yard=yard, kube=kube, node=node)
        try:
            yield made
        finally:
            rules = [f"{RULES}/{one['metadata']['name']}" for one in await made.rules()]
            slices = f"{CLAIMS}/resourceslices/{node}"
            for path in (*rules, slices, f"/api/v1/namespaces/{kube.namespace}", f"/api/v1/nodes/{node}"):
                with suppress(Exception):
                    await kube.call("DELETE", path)


async def test_one_gpu_is_cordoned_its_pods_are_evicted_and_the_others_go_on(stage: Stage) -> None:
    await stage.list_devices(*map(a_device, range(8)))
    await stage.give("slow", "gpu-3")
    await stage.give("fine", "gpu-4")

    plan = await stage.yard.do(f'gpu cordon {stage.node} 3 --reason "throttles"')

    assert plan.state is PlanState.DONE, plan.error
    (rule,) = await stage.rules()
    assert rule["spec"]["deviceSelector"] == {"driver": DRIVER, "pool": stage.node, "device": "gpu-3"}
    assert rule["spec"]["taint"]["effect"] == "NoSchedule"
    assert rule["metadata"]["annotations"][BY] == "dana"
    assert await stage.pods() == ["fine"]
    (lease,) = await stage.leases()
    assert (lease.gpu, lease.device, lease.rule, lease.plan) == (
        "3",
        "gpu-3",
        rule["metadata"]["name"],
        plan.id,
    )

    await stage.rules_seen(1)
    gpus = stage.yard.cluster.inventory().gpus_on(stage.node)
    assert gpus is not None
    share = gpus.counts[DRIVER]
    assert (share.capacity, share.allocatable, share.cordoned, share.unhealthy) == (8, 7, 1, 0)
    assert "1 cordoned" in await stage.yard.say(f"gpu list --node {stage.node}")
    assert "GPU 3 cordoned by dana: throttles" in await stage.yard.say("node list")
    assert "GPU 3 cordoned by dana: throttles" in await stage.yard.say(f"node show {stage.node}")


async def test_it_comes_back_by_uncordon_and_by_undo(stage: Stage) -> None:
    await stage.list_devices(*map(a_device, range(2)))
    await stage.yard.do(f"gpu cordon {stage.node} 1")
    over = await stage.yard.do(f"gpu uncordon {stage.node} 1")
    assert over.state is PlanState.DONE, over.error
    assert (await stage.rules(), await stage.leases()) == ([], [])

    again = await stage.yard.do(f"gpu cordon {stage.node} gpu-0")
    undone = await stage.yard.do(f"plan undo {again.id}")
    assert undone.state is PlanState.DONE, undone.error
    assert (await stage.rules(), await stage.leases()) == ([], [])


async def test_a_second_cordon_says_whose_it_is_and_for_extends_it(stage: Stage) -> None:
    await stage.list_devices(a_device(0))
    await stage.yard.do(f"gpu cordon {stage.node} 0")
    assert "is already cordoned, by the rule" in await stage.yard.say(f"gpu cordon {stage.node} 0")

    longer = await stage.yard.do(f"gpu cordon {stage.node} 0 --for 9h")
    assert longer.state is PlanState.DONE, longer.error
    assert [one.until for one in await stage.leases()] == [NOON + timedelta(hours=9)]


async def test_what_somebody_else_cordoned_is_left(stage: Stage) -> None:
    await stage.list_devices(a_device(0))
    spec = {
        "deviceSelector": {"driver": DRIVER, "pool": stage.node, "device": "gpu-0"},
        "taint": {"key": "example.com/bad", "effect": "NoSchedule"},
    }
    await stage.kube.call("POST", RULES, {"metadata": {"name": f"theirs-{stage.node}"}, "spec": spec})
    await stage.rules_seen(1)

    assert "by the rule theirs-" in await stage.yard.say(f"gpu cordon {stage.node} 0")
    said = await stage.yard.say(f"gpu uncordon {stage.node} 0")
    assert (
        f"was not cordoned by Yardmaster, so that is left: kubectl delete devicetaintrule theirs-{stage.node}"
        in said
    )
    assert "GPU 0 cordoned by someone else" in await stage.yard.say(f"node show {stage.node}")


async def test_a_rule_that_somebody_removed_leaves_only_its_lease_to_end(stage: Stage) -> None:
    await stage.list_devices(a_device(0))
    await stage.yard.do(f"gpu cordon {stage.node} 0")
    (rule,) = await stage.rules()
    await stage.kube.call("DELETE", f"{RULES}/{rule['metadata']['name']}")

    over = await stage.yard.do(f"gpu uncordon {stage.node} 0")
    assert over.state is PlanState.DONE, over.error
    assert await stage.leases() == []


async def test_a_rule_that_somebody_made_meanwhile_stops_the_plan(stage: Stage) -> None:
    await stage.list_devices(a_device(0))
    plan = await stage.yard.confirmed(await stage.yard.plan(f"gpu cordon {stage.node} 0"))
    name = f"yardmaster-{stage.node}-gpu-0"
    taint = {"key": "example.com/bad", "effect": "NoSchedule"}
    spec = {"deviceSelector": {"pool": stage.node, "device": "gpu-0"}, "taint": taint}
    await stage.kube.call("POST", RULES, {"metadata": {"name": name}, "spec": spec})

    over = await stage.yard.executor.execute(plan)
    assert over.state is PlanState.FAILED
    assert "already exists and was not created by this plan" in over.error
    assert await stage.leases() == []


async def test_a_crash_after_the_rule_goes_on_where_it_was(stage: Stage) -> None:
    await stage.list_devices(a_device(0))
    await stage.give("slow", "gpu-0")
    plan = await stage.yard.confirmed(await stage.yard.plan(f"gpu cordon {stage.node} 0"))
    create = plan.steps[0]
    assert isinstance(create, Create)
    meta = create.manifest["metadata"]
    marked = {**meta, "annotations": {**meta["annotations"], "yardmaster.io/plan": plan.id}}
    await stage.yard.writer.create(
        {**create.manifest, "metadata": marked}
    )  # sent, and killed before its answer was in the journal

    fresh = PlanExecutor(stage.yard.store, {"prod-a": stage.yard.writer}, stage.yard.clock, quick)
    over = await fresh.execute(plan)
    assert over.state is PlanState.DONE, over.error
    assert len(await stage.rules()) == 1
    assert await stage.pods() == []


async def test_a_node_with_a_device_plugin_is_offered_instead(stage: Stage) -> None:
    said = await stage.yard.say(f"gpu cordon {stage.node} 0")
    assert "a device plugin cannot keep one of them back" in said
    assert f"[Cordon {stage.node}] node cordon {stage.node}" in said


async def test_a_gpu_that_is_not_there_is_answered_with_the_devices(stage: Stage) -> None:
    await stage.list_devices(a_device(0), a_device(1))
    said = await stage.yard.say(f"gpu cordon {stage.node} 7")
    assert (
        f"It is not known which device GPU 7 of {stage.node} is: name one of its devices, gpu-0, gpu-1"
        in said
    )


async def test_a_minor_number_is_never_taken_for_an_index(stage: Stage) -> None:
    """A driver that says no index names its devices by their minor numbers: the exporter's UUID does."""
    await stage.list_devices(a_device(0, index=False), a_device(1, index=False))
    assert "It is not known which device" in await stage.yard.say(f"gpu cordon {stage.node} 0")

    labels = {"Hostname": stage.node, "gpu": "0", "UUID": "GPU-0001"}
    stage.yard.prometheus.say("DCGM_FI_DEV_GPU_TEMP", samples=[(labels, 50.0)])
    plan = await stage.yard.do(f"gpu cordon {stage.node} 0")
    assert plan.state is PlanState.DONE, plan.error
    (rule,) = await stage.rules()
    assert rule["spec"]["deviceSelector"]["device"] == "gpu-1"


async def test_a_gpu_that_is_cut_into_slices_is_not_cordoned_alone(stage: Stage) -> None:
    attributes = {"type": {"string": "mig"}, "parentUUID": {"string": "GPU-0000"}}
    await stage.list_devices(a_device(0), {"name": "gpu-0-mig-1", "attributes": attributes})
    assert "is cut into slices" in await stage.yard.say(f"gpu cordon {stage.node} 0")


async def test_the_owner_is_reminded_once_and_the_gpu_stays_cordoned(stage: Stage) -> None:
    await stage.list_devices(a_device(0))
    await stage.yard.do(f"gpu cordon {stage.node} 0")
    (lease,) = await stage.leases()
    words, buttons = gpu_reminder(lease)
    assert f"your cordon of GPU 0 of {stage.node} was due to end" in plain(words).replace("`", "")
    assert [one.line for one in buttons] == [
        f"gpu uncordon {stage.node} 0 --cluster prod-a",
        f"gpu cordon {stage.node} 0 --for 4h --cluster prod-a",
    ]
    work = GpuLeaseReminder(stage.yard.store).work
    stage.yard.clock.move(timedelta(hours=5))
    again = await work.do(lease, stage.yard.clock.now())
    assert again is not None, "without a card it is tried later"
    assert len(await stage.rules()) == 1
