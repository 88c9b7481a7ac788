"""A live Prometheus in a process of its own: `python -m benchmarks.live_prometheus FOLDER`.

It scrapes the demo's cluster of 16 GPU nodes every 15 s, as a real cluster would, and has an hour of history. One
node's cooling has failed, so that some alerts fire. FOLDER/ready contains the address once queries return samples.
"""

import asyncio
import json
import sys
import urllib.parse
import urllib.request
from datetime import timedelta
from pathlib import Path

from demo.lookalikes.kubernetes import KubernetesLookalike
from demo.parts.prometheus import PrometheusServer, import_openmetrics
from demo.world.kube.api import Access
from demo.world.world import Settings, World

READY = "ready"
EVERY = timedelta(seconds=15)
PAST = timedelta(hours=1)
WANTED = "count(DCGM_FI_DEV_GPU_TEMP) == 128 and on () count(kube_node_info) == 18 and on () max(up)"


async def serve(folder: Path) -> None:
    """Run the world and its Prometheus until cancelled."""
    async with (
        KubernetesLookalike.running() as kube,
        World(
            Settings(
                access=Access(url=kube.url, token=kube.admin_token, ca_file=None),
                past=PAST,
                samples=folder / "past.om",
                speed=5.0,
            )
        ) as world,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(world.run())
        await world.ready.wait()
        world.faults.start("cooling", node="gpu-b03")
        data = folder / "prometheus"
        data.mkdir()
        await asyncio.to_thread(import_openmetrics, folder / "past.om", data)
        async with PrometheusServer(config=world.prometheus_config(every=EVERY), folder=data) as prometheus:
            async with asyncio.timeout(60):
                while not await asyncio.to_thread(_is_scraped, prometheus.url):  # noqa: ASYNC110 - a server
                    await asyncio.sleep(0.5)
            (folder / READY).write_text(prometheus.url, encoding="utf-8")
            await asyncio.Event().wait()


def _is_scraped(url: str) -> bool:
    """Whether everything was scraped at least once."""
    query = urllib.parse.urlencode({"query": WANTED})
    with urllib.request.urlopen(f"{url}/api/v1/query?{query}", timeout=5) as response:
        return bool(json.load(response)["data"]["result"])


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
