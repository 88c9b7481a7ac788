"""Discovery: kinds that ask at the same time share a request, and an error of it."""

import asyncio
import json
from typing import Any, cast

import pytest

from collectors.cluster.discovery import Discovery
from collectors.facts.results import SourceError
from collectors.sources.kubernetes.source import KubernetesSource

GROUPS = {"groups": [{"versions": [{"groupVersion": "batch/v1"}]}]}
RESOURCES = {"resources": [{"name": "jobs"}]}
ANSWERS: dict[str, Any] = {"/apis": GROUPS, "/apis/batch/v1": RESOURCES}
JOBS, CRONJOBS, QUEUES = "/apis/batch/v1/jobs", "/apis/batch/v1/cronjobs", "/apis/kueue.x-k8s.io/v1/queues"


class Server:
    where = "prod-a"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_down = False

    async def get(self, path: str) -> bytes:
        self.asked.append(path)
        await asyncio.sleep(1)
        if self.is_down:
            raise SourceError("prod-a does not answer")
        return json.dumps(ANSWERS[path]).encode()


def discovery(server: Server) -> Discovery:
    return Discovery(cast("KubernetesSource", server))


async def test_kinds_that_ask_at_the_same_time_share_a_request() -> None:
    server = Server()
    served = discovery(server)
    found = await asyncio.gather(*map(served.is_served, (JOBS, CRONJOBS, *[QUEUES] * 30)))
    assert found == [True, False, *[False] * 30]
    assert server.asked == ["/apis", "/apis/batch/v1"]


async def test_who_asks_later_is_answered_with_what_is_so_then() -> None:
    server = Server()
    served = discovery(server)
    assert await served.is_served(JOBS)
    assert not await served.is_served(QUEUES)
    assert server.asked == ["/apis", "/apis/batch/v1", "/apis"]


async def test_a_server_that_is_down_is_waited_for_once() -> None:
    server = Server()
    served = discovery(server)
    server.is_down = True
    found = await asyncio.gather(*map(served.is_served, [QUEUES, *[JOBS] * 9]), return_exceptions=True)
    assert all(isinstance(one, SourceError) for one in found)
    assert server.asked == ["/apis"]
    server.is_down = False
    assert await served.is_served(JOBS)


async def test_the_others_go_on_when_the_one_that_asks_is_cancelled() -> None:
    server = Server()
    served = discovery(server)
    first, other = (asyncio.get_running_loop().create_task(served.is_served(JOBS)) for _ in range(2))
    await asyncio.sleep(0.5)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await other
