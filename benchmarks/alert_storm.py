"""A storm of alerts, and alerts that have nothing in common; how both are posted."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import aiohttp

from benchmarks.alert_programs import AlertProgram
from tests.support.alert_sender import AlertSender, Posted, firing

NODES = 248
NAMES = (  # of a node that has lost its power: eight, so that 248 nodes have 1,984 alerts
    "NodeNotReady",
    "NodeUnreachable",
    "KubeletDown",
    "NodeExporterDown",
    "GPUExporterDown",
    "GPUsMissing",
    "LinkDown",
    "PowerSupplyFailed",
)
BATCH = 64  # as Prometheus posts them
SENDERS = 4
WITHIN = timedelta(seconds=1)


def nodes(count: int = NODES) -> list[str]:
    return [f"gpu-{number:04}" for number in range(count)]


def storm(count: int = NODES) -> list[Posted]:
    """Return the alerts in the order in which rules are evaluated: each on all nodes."""
    return [
        firing({"alertname": name, "severity": "critical", "node": node}, summary=f"{name} on {node}.")
        for name in NAMES
        for node in nodes(count)
    ]


def scattered(count: int, *, name: str = "ReplicasMissing", first: int = 0) -> list[Posted]:
    """Return alerts of one name, each about a Deployment of its own."""
    return [
        firing(
            {
                "alertname": name,
                "severity": "critical",
                "namespace": "serving",
                "deployment": f"app-{number:05}",
            },
            summary="It has fewer replicas than it should.",
        )
        for number in range(first, first + count)
    ]


def batches(alerts: Sequence[Posted], size: int = BATCH) -> Iterator[Sequence[Posted]]:
    for start in range(0, len(alerts), size):
        yield alerts[start : start + size]


@asynccontextmanager
async def sending_to(program: AlertProgram) -> AsyncIterator[AlertSender]:
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        yield AlertSender(session=session, url=program.url, headers=program.headers)


async def post_within(
    sender: AlertSender, alerts: Sequence[Posted], within: timedelta = WITHIN, *, senders: int = SENDERS
) -> None:
    """Post them evenly over this time, in batches, a few at once; return when all are taken."""
    waiting = list(batches(alerts))
    pause = within.total_seconds() / max(1, len(waiting))
    loop = asyncio.get_running_loop()
    began = loop.time()
    slots = asyncio.Semaphore(senders)

    async def one(number: int, batch: Sequence[Posted]) -> None:
        await asyncio.sleep(began + number * pause - loop.time())
        async with slots:
            await sender.post_until_taken(batch)

    async with asyncio.TaskGroup() as group:
        for number, batch in enumerate(waiting):
            group.create_task(one(number, batch))
