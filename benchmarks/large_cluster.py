"""A large cluster in a process of its own: `python -m benchmarks.large_cluster PORT NODES`.

It serves what an API server and a Prometheus answer for NODES nodes of 8 GPUs, each with a rank and a server of a
training, four pods of DaemonSets and four of Deployments. Trainings are PyTorchJobs, TFJobs and Jobs of Volcano, in
turn: a fifth of all pods. Ranks mount an image of data and one of checkpoints, and one of the DaemonSets mounts the
host's root. Each node has two events, and a gang waits for GPUs. A watch of pods changes one pod every 10 ms; the other
watches are quiet. Every rule's expression has one sample, so that each cycle has all presence queries too.
"""

import asyncio
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import count

import msgspec
from aiohttp import web

from alerts.rules import Rule
from benchmarks.large_cluster_objects import (
    GPUS,
    PATHS_OF_KINDS,
    PODS_ON_NODE,
    host_name,
    lists,
    pod_of,
)
from benchmarks.local_server import serve_until_cancelled
from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from collectors.facts.clock import SystemClock
from collectors.facts.queries import PromQLQuery
from collectors.sources.prometheus.dialects.families import FAMILIES
from collectors.sources.prometheus.dialects.probing import any_of, signature_query
from collectors.sources.prometheus.dialects.query_rewriting import AUXILIARY

EVERY = 0.01  # seconds between two changes of pods
PRESENCE = "max by (Hostname, gpu, UUID) (DCGM_FI_DEV_GPU_TEMP)"  # one series per GPU
_ANY_OF = re.compile(r'__name__=~"([^"]*)"')
_ALIASES = frozenset(one.name for family in FAMILIES for some in family.aliases.values() for one in some)
_ALIASES -= {name for family in FAMILIES for name in family.aliases}
_BY = re.compile(r"by \(([^)]*)\)")


class Metrics:
    """The answers of a Prometheus: one sample for each rule's expression, all series for a presence query."""

    def __init__(self, rules: tuple[Rule, ...], nodes: int) -> None:
        self._nodes = nodes
        self._presence = {one.query.presence for one in rules if isinstance(one.query, PromQLQuery)}
        self._made: dict[str, bytes] = {}

    def answer(self, query: str) -> bytes:
        """Return the body for a query."""
        if query not in self._made:
            looked_up = self._looked_up(query)
            found = list(self._series(query)) if looked_up is None else list(looked_up)
            is_whole = looked_up is not None or query in self._presence
            self._made[query] = vector(found if is_whole else found[:1])
        return vector([{}]) if "timestamp(" in query else self._made[query]

    def _looked_up(self, query: str) -> Iterator[dict[str, str]] | None:
        """Return the series of a query that looks up a dialect: all are in that of the packs; None for another."""
        if query.startswith("count by (__name__") and (asked := _ANY_OF.search(query)):
            there = [name for name in asked[1].split("|") if name not in _ALIASES]
            return ({"__name__": name, "job": "exporter"} for name in there)
        for family in FAMILIES:
            if query == signature_query(family):
                names = self._exporter(family.name, 0).keys() - {"job", "instance"}
                return ({"job": family.name, f"{AUXILIARY}label": name} for name in sorted(names))
            if any_of(family.probed) in query and "count by" not in query:
                targets = range(self._nodes if family.is_on_node else 1)
                return (self._exporter(family.name, number) for number in targets)
        return None

    @staticmethod
    def _exporter(family: str, number: int) -> dict[str, str]:
        """Return the labels of one series of an exporter."""
        known = {
            "dcgm-exporter": {"Hostname": host_name(number), "gpu": "0", "UUID": f"GPU-{number * GPUS:08x}"},
            "kube-state-metrics": {"node": host_name(number), "namespace": "services", "pod": "web-0-7b6f-5"},
        }
        return {"job": family, "instance": f"10.0.{number}:9400", **known.get(family, {})}

    def _series(self, query: str) -> Iterator[dict[str, str]]:
        names = {name.strip() for part in _BY.findall(query) for name in part.split(",")}
        is_summed = query.startswith("sum(")
        for number in range(1 if is_summed else self._nodes):
            host = host_name(number)
            known = {
                "Hostname": host,
                "node": host,
                "instance": f"{host}:9100",
                "mountpoint": "/",
                "xid": "79",
            }
            one = {name: known[name] for name in known if name in names}
            if is_summed or one:
                for gpu in range(GPUS if "gpu" in names else 1):
                    uuid = f"GPU-{number * GPUS + gpu:08x}-9c1d-4a6e-9f00-5ad1e0c0ffee"
                    yield one | ({"gpu": str(gpu), "UUID": uuid} if "gpu" in names else {})
            else:
                yield {"instance": known["instance"], "job": "node-exporter"}


def vector(found: list[dict[str, str]]) -> bytes:
    now = SystemClock().now().timestamp()
    result = [{"metric": one, "value": [now, str(now)]} for one in found]
    return msgspec.json.encode({"status": "success", "data": {"resultType": "vector", "result": result}})


async def serve(port: int, nodes: int) -> None:
    """Serve until cancelled."""
    pages = {path: lists(kind, nodes) for path, kind in PATHS_OF_KINDS.items()}
    metrics = Metrics(tuple(read_rulebook(RulesSettings()).rules), nodes)

    async def kubernetes(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            return await watch(request)
        page = pages.get(request.path, {"": b'{"metadata":{"resourceVersion":"900000"},"items":[]}'})
        if (body := page.get(request.query.get("continue", ""))) is None:
            return web.Response(status=410)
        return web.Response(body=body, content_type="application/json")

    async def watch(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with suppress(TimeoutError):  # a watch ends cleanly, and the client watches again
            async with asyncio.timeout(float(request.query.get("timeoutSeconds", "40"))):
                await changes(request, response)
        return response

    async def changes(request: web.Request, response: web.StreamResponse) -> None:
        if request.path == "/api/v1/pods":
            for number in count():
                one = pod_of(number * 7919 % (nodes * PODS_ON_NODE))
                one["metadata"]["resourceVersion"] = str(1_000_000 + number)
                await response.write(msgspec.json.encode({"type": "MODIFIED", "object": one}) + b"\n")
                await asyncio.sleep(EVERY)
        await asyncio.Event().wait()

    async def query(request: web.Request) -> web.StreamResponse:
        form = await request.post()
        return web.Response(body=metrics.answer(str(form["query"])), content_type="application/json")

    app = web.Application()
    app.router.add_post("/api/v1/query", query)
    app.router.add_get("/{path:apis?/.*}", kubernetes)
    await serve_until_cancelled(app, port)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2])))
