"""All pods of a large cluster arrive, in pages, as typed objects."""

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from collectors.cluster.cache import ClusterCache, ReflectorTiming
from collectors.cluster.inventory import inventory_of
from collectors.cluster.kinds import NODES, PODS
from collectors.cluster.objects import Pod
from collectors.facts.clock import SystemClock
from collectors.facts.results import Blind
from collectors.sources.kubernetes.source import KubernetesSource

Connect = Callable[..., Awaitable[KubernetesSource]]
Run = Callable[[ClusterCache], Awaitable[ClusterCache]]
Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
COUNT, PAGE, NODE_COUNT = 5000, 500, 250


def training_pod(number: int) -> dict[str, Any]:
    """Return a pod that, like real ones, has more fields than are decoded."""
    name = f"train-{number // 8}-worker-{number % 8}"
    return {
        "metadata": {
            "name": name,
            "namespace": f"team-{number % 20}",
            "uid": f"uid-{number}",
            "resourceVersion": str(1000 + number),
            "labels": {"batch.kubernetes.io/job-name": f"train-{number // 8}"},
            "creationTimestamp": "2026-11-21T03:00:00Z",
            "managedFields": [{"manager": "kcm", "fieldsV1": {f"f:{n}": {"f:x": {}} for n in range(20)}}],
        },
        "spec": {
            "nodeName": f"gpu-{number % NODE_COUNT}",
            "containers": [
                {
                    "name": "main",
                    "env": [{"name": f"VARIABLE_{n}", "value": "v" * 20} for n in range(15)],
                    "resources": {"limits": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "1"}},
                    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                }
            ],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "d"}}],
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        },
        "status": {
            "phase": "Running",
            "podIP": f"10.{number // 60000}.{number // 250 % 240}.{number % 250}",
            "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": "2026-11-21T03:00:05Z"}
                for kind in ("PodScheduled", "Initialized", "Ready")
            ],
            "containerStatuses": [
                {
                    "name": "main",
                    "ready": True,
                    "restartCount": 0,
                    "state": {"running": {"startedAt": "2026-11-21T03:00:04Z"}},
                }
            ],
        },
    }


@pytest.fixture(scope="module")
def pages() -> list[bytes]:
    items = [training_pod(number) for number in range(COUNT)]
    bodies = []
    for start in range(0, COUNT, PAGE):
        more = {"continue": str(start + PAGE)} if start + PAGE < COUNT else {}
        page = {"metadata": {"resourceVersion": "9999", **more}, "items": items[start : start + PAGE]}
        bodies.append(json.dumps(page).encode())
    return bodies


async def test_all_pods_are_typed_and_counted(
    pages: list[bytes], serve: Serve, connect: Connect, run: Run
) -> None:
    tokens: list[str] = []
    status = {"capacity": {"nvidia.com/gpu": "32"}, "allocatable": {"nvidia.com/gpu": "32"}}
    nodes = [{"metadata": {"name": f"gpu-{n}"}, "status": status} for n in range(NODE_COUNT)]

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            response = web.StreamResponse()
            await response.prepare(request)
            return response
        if request.path.endswith("/nodes"):
            return web.json_response({"metadata": {"resourceVersion": "1"}, "items": nodes})
        tokens.append(request.query.get("continue", ""))
        return web.Response(body=pages[int(tokens[-1] or 0) // PAGE], content_type="application/json")

    source = await connect(await serve(answer))
    timing = ReflectorTiming(watch=5, grace=5, first_wait=5)
    cache = await run(ClusterCache(source, clock=SystemClock(), kinds=(NODES, PODS), timing=timing))
    await cache.synced(timedelta(seconds=60))
    snapshot = cache.snapshot(PODS)
    assert not isinstance(snapshot, Blind)
    assert len(snapshot.objects) == COUNT
    assert tokens == ["", *(str(start) for start in range(PAGE, COUNT, PAGE))]
    assert all(type(one) is Pod for one in snapshot.objects.values())
    one = snapshot.objects["team-7/train-500-worker-7"]
    assert one.spec.node_name == "gpu-7"
    assert one.status.container_statuses is not None
    assert one.status.container_statuses[0].ready
    seen = inventory_of(cache)
    assert not isinstance(seen, Blind)
    shares = [
        found.counts["nvidia.com/gpu"] for n in range(NODE_COUNT) if (found := seen.gpus_on(f"gpu-{n}"))
    ]
    assert [share.requested for share in shares] == [COUNT / NODE_COUNT] * NODE_COUNT
