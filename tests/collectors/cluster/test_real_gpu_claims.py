"""GPUs that the real scheduler gives by claims, as the cache sees them."""

import asyncio
from datetime import timedelta

from collectors.cluster.cache import ClusterCache
from collectors.cluster.inventory import Inventory, inventory_of
from collectors.facts.clock import SystemClock
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.cluster_cache import QUICK, until
from tests.support.objects import gpus
from tests.support.yard import closed

GPU = "gpu.nvidia.com"
API = "/apis/resource.k8s.io/v1"


def a_driver(cluster: KubernetesCluster) -> None:
    """Create what NVIDIA's driver would: its class, and a slice of eight GPUs on a node."""
    selector = {"cel": {"expression": f'device.driver == "{GPU}"'}}
    spec = {"selectors": [selector], "extendedResourceName": "nvidia.com/gpu"}
    cluster.call("POST", f"{API}/deviceclasses", {"metadata": {"name": GPU}, "spec": spec})
    of = {"name": "dra-a01", "generation": 1, "resourceSliceCount": 1}
    body = {
        "driver": GPU,
        "nodeName": "dra-a01",
        "pool": of,
        "devices": [{"name": f"gpu-{n}", "attributes": {"type": {"string": "gpu"}}} for n in range(8)],
    }
    cluster.call("POST", f"{API}/resourceslices", {"metadata": {"name": "dra-a01"}, "spec": body})


async def test_the_real_scheduler_gives_a_pod_gpus_by_either_way(real_kubernetes: KubernetesCluster) -> None:
    real_kubernetes.create_ready_node("dra-a01", reserved_for="dra")
    a_driver(real_kubernetes)
    two = {"name": "gpu", "exactly": {"deviceClassName": GPU, "count": 2}}
    wanted = {"spec": {"devices": {"requests": [two]}}}
    base = f"{API}/namespaces/default/resourceclaimtemplates"
    real_kubernetes.call("POST", base, {"metadata": {"name": "two"}, "spec": wanted})
    by_claim = {
        "containers": [{"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "two"}],
    }
    pods = "/api/v1/namespaces/default/pods"
    for name, spec in (("dra-claim", by_claim), ("dra-plain", {"containers": [gpus(1, image="i")]})):
        anywhere = {**spec, "tolerations": [{"operator": "Exists"}]}
        real_kubernetes.call("POST", pods, {"metadata": {"name": name}, "spec": anywhere})
    client = await KubernetesClient.connect(KubernetesOptions(kubeconfig=str(real_kubernetes.kubeconfig)))
    cache = ClusterCache(KubernetesSource(client), clock=SystemClock(), timing=QUICK)

    def held() -> list[dict[str, float]]:
        seen = inventory_of(cache)
        assert isinstance(seen, Inventory)
        bound = [one for one in seen.pods_on("dra-a01") if one.metadata.name.startswith("dra-")]
        return [seen.gpus_of(one) for one in sorted(bound, key=lambda one: one.metadata.name)]

    try:
        async with asyncio.TaskGroup() as group:
            running = group.create_task(cache.run())
            await cache.synced(timedelta(seconds=60))
            await until(cache, lambda: held() == [{GPU: 2}, {GPU: 1}], seconds=60)
            seen = inventory_of(cache)
            running.cancel()
        assert isinstance(seen, Inventory)
        found = seen.gpus_on("dra-a01")
        assert found is not None
        assert {name: (one.capacity, one.free) for name, one in found.counts.items()} == {GPU: (8, 5)}
    finally:
        await closed(client)
        for path in (
            f"{pods}/dra-claim",
            f"{pods}/dra-plain",
            f"{base}/two",
            f"{API}/resourceslices/dra-a01",
        ):
            real_kubernetes.call("DELETE", path, {"gracePeriodSeconds": 0})
        real_kubernetes.call("DELETE", f"{API}/deviceclasses/{GPU}")
        real_kubernetes.call("DELETE", "/api/v1/nodes/dra-a01")
