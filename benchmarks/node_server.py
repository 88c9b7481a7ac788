"""Nodes in a process of their own: `python -m benchmarks.node_server KUBECONFIG PORT COUNT MILLISECONDS`.

It is the look-alike of Kubernetes, which answers each request after so many milliseconds. The measured process pays for
the connection only. The kubeconfig is written once it serves.
"""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import a_node_tree


def names(count: int) -> tuple[str, ...]:
    return tuple(f"gpu-{number:03}" for number in range(count))


async def serve(kubeconfig: Path, port: int, count: int, latency: timedelta) -> None:
    """Serve until cancelled."""
    async with KubernetesLookalike.running(controllers=False, port=port) as kube:
        for name in names(count):
            kube.create(a_node_tree(name), keep_status=True)
        kube.latency = latency
        kube.kubeconfig(kubeconfig)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(
        serve(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), timedelta(milliseconds=int(sys.argv[4])))
    )
