"""F13: one cycle of all shipped rules against a live Prometheus, over their bare queries.

Rules over logs and checks of the cluster do not query Prometheus and are excluded on both sides. Ours is a whole cycle:
the health query, every expression, and the evaluation of the results. Presence is only queried where an alert is
missing, and none is. Bare is the same queries, one form POST each over reused connections, as many at once, and a
decode of each response.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp
import msgspec

from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from benchmarks.live_prometheus import READY
from benchmarks.row import Benchmark, CannotRunError, Goal, Outcome, Peer, Row, Stall
from benchmarks.stalls import longest_decode, longest_stall
from benchmarks.timing import Watch, take_turns
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.settings.schema import RulesSettings
from collectors.facts.clock import SystemClock
from collectors.facts.queries import PromQLQuery
from collectors.facts.redaction import Redactor
from collectors.facts.topology import Topology
from collectors.query_router import CONCURRENCY
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from demo.parts.processes import Program, running
from tests.support.routing import a_router

ROUNDS = 40
CLUSTER = "prod-a"


class _Element(msgspec.Struct):
    metric: dict[str, str]
    value: tuple[float, str]


class _Vector(msgspec.Struct, rename="camel"):
    result_type: str
    result: list[_Element]


class _Answer(msgspec.Struct):
    status: str
    data: _Vector


decode = msgspec.json.Decoder(_Answer).decode


async def run(_: Mapping[str, Outcome]) -> Outcome:
    book = read_rulebook(RulesSettings())
    if book.diagnostics:
        raise CannotRunError("; ".join(str(diagnostic) for diagnostic in book.diagnostics))
    always = timedelta(milliseconds=1)  # so that every rule is due in every cycle
    rules = tuple(
        replace(rule, interval=always) for rule in book.rules if isinstance(rule.query, PromQLQuery)
    )
    clock = SystemClock()
    plain = {"Accept-Encoding": "identity"}  # as in ours: the server need not compress
    async with _prometheus() as url, aiohttp.ClientSession(headers=plain) as session:
        source = PrometheusSource(PrometheusOptions(url=url))
        try:
            scheduler = _scheduler(rules, source)
            await scheduler.run_cycle(clock.now())  # only the first one queries presence
            expressions = [rule.query.expr for rule in rules if isinstance(rule.query, PromQLQuery)]
            queries = [source.settings.freshness_query, *expressions]

            async def ours() -> float:
                with Watch() as watch:
                    done = await scheduler.run_cycle(clock.now())
                if done.blind or len(done.evaluated) != len(rules):
                    raise CannotRunError(f"some rules were blind: {dict(done.blind)}")
                return watch.wall

            async def bare() -> float:
                with Watch() as watch:
                    await _send_bare(session, url, queries, clock.now())
                return watch.wall

            found = await take_turns({"ours": ours, "bare": bare}, rounds=ROUNDS, warm_ups=3)
            stall = await longest_stall(ours, rounds=9)
            bodies = await _send_bare(session, url, queries, clock.now())
            samples = sum(len(decode(body).data.result) for body in bodies)
        finally:
            await source.close()
    row = Row(
        id="F13",
        measure=f"a cycle of the {len(rules)} PromQL rules shipped: {len(queries)} queries, {samples} samples",
        value=found["ours"].milliseconds,
        unit="ms",
        peer=Peer(name=f"the same queries bare, {CONCURRENCY} at once", value=found["bare"].milliseconds),
        goal=Goal(limit=1.15),
    )
    return Outcome(
        rows=(row,),
        stalls=(Stall(during="F13", longest=stall, longest_decode=longest_decode(decode, bodies)),),
    )


def _scheduler(rules: Sequence[Rule], source: PrometheusSource) -> RuleScheduler:
    router = a_router(source)
    return RuleScheduler(
        CLUSTER, rules, router, RuleRenderer(lambda: Topology(cluster=CLUSTER), clean=Redactor(()).clean)
    )


async def _send_bare(
    session: aiohttp.ClientSession, url: str, queries: Sequence[str], at: datetime
) -> list[bytes]:
    """Send every query as a form, decode each response, and return the bodies."""
    slots = asyncio.Semaphore(CONCURRENCY)

    async def send(query: str) -> bytes:
        form = {"query": query, "time": f"{at.timestamp():.3f}", "timeout": "8s"}
        async with slots, session.post(f"{url}/api/v1/query", data=form) as response:
            body = await response.read()
        decode(body)
        return body

    return list(await asyncio.gather(*(send(query) for query in queries)))


@asynccontextmanager
async def _prometheus() -> AsyncIterator[str]:
    """Run a live Prometheus with a cluster's series, and yield its address."""
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        program = Program(
            name="the live Prometheus",
            argv=(sys.executable, "-m", "benchmarks.live_prometheus", str(folder)),
            log=folder / "live.log",
            folder=Path(__file__).parents[2],
        )
        ready = folder / READY
        limit = timedelta(seconds=80)
        async with running(program, lambda: ready.exists() and ready.read_text() != "", limit=limit):
            yield ready.read_text(encoding="utf-8")


BENCHMARK = Benchmark(id="F13", title="a cycle of all rules", run=run, limit=timedelta(seconds=180))
