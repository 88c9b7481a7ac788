"""F17, a storm in one incident: thousands of alerts of one component, beside as many about a Deployment each.

The time of a cycle is CPU time of the whole process. The yardstick of the longest stall is that of F15: a single
decode, which cannot be interrupted.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import yaml

from alerts.incidents.incident import Incident
from alerts.incidents.proofs import NO_FACTS
from alerts.rendering import RuleRenderer
from alerts.routing import CardRouting
from benchmarks.pods import pages
from benchmarks.row import CannotRunError, Goal, Peer, Row
from benchmarks.rows.f14_list import COUNT, decode
from benchmarks.stalls import longest_decode, ticking
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.settings.schema import RulesSettings
from bot.store.sql_store import SqlStore
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.redaction import Redactor
from collectors.facts.results import QueryResult, Sample, Seen
from collectors.facts.topology import Topology
from tests.support.routing import QuietSource, a_router

SIZES = (2_000, 10_000)
RUNS = 3
CLUSTER = "prod-a"
START = datetime(2026, 3, 2, 12, tzinfo=UTC)
ANNOTATIONS = {"summary": "{{ $labels.instance }} answers {{ $value | humanizePercentage }} of queries."}
IN_ONE = {"severity": "critical", "component": "dns"}
SPREAD = {
    "severity": "critical",
    "namespace": "vision",
    "deployment": "{{ $labels.instance }}",  # incidents of nodes would get a parent, and no cards
}


@dataclass(slots=True)
class Cost:
    """Seconds of CPU, and of the longest stall."""

    cpu: float
    stall: float


async def rows() -> list[Row]:
    found: list[Row] = []
    bodies = tuple((await asyncio.to_thread(pages, COUNT)).bodies.values())
    decoded = longest_decode(decode, bodies).total_seconds()
    for size in SIZES:
        one = [await _cost(size, IN_ONE, incidents=1) for _ in range(RUNS)]
        spread = [await _cost(size, SPREAD, incidents=size) for _ in range(RUNS)]
        cpu, peer = (median(cost.cpu for cost in costs) / size for costs in (one, spread))
        stall = median(cost.stall for cost in one)
        found += [
            _cost_row(
                f"{size:,} alerts into one incident: CPU an alert",
                cpu * 1e6,
                "µs",
                Peer(name="the same number, an incident and a card each", value=peer * 1e6),
            ),
            _cost_row(
                f"{size:,} alerts into one incident: longest stall of the event loop",
                stall * 1e3,
                "ms",
                Peer(name="longest single decode in F14", value=decoded * 1e3),
            ),
        ]
    return found


def _cost_row(measure: str, value: float, unit: str, peer: Peer) -> Row:
    return Row(id="F17", measure=measure, value=value, unit=unit, peer=peer, goal=Goal(limit=3.0))


def _names(size: int) -> list[str]:
    return [f"10.{number >> 8}.{number & 255}.7:9153" for number in range(size)]


@dataclass
class _Storm(QuietSource):
    samples: tuple[Sample, ...] = ()

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        return Seen(source="prometheus", at=at, samples=self.samples)


async def _cost(size: int, labels: dict[str, str], *, incidents: int) -> Cost:
    """Return what a cycle costs that opens so many incidents: from the answer to the commit."""
    async with _parts(size, labels) as (scheduler, recorder, store):
        scheduler.restore(*await recorder.restore(), START)
        async with ticking() as ticker:
            began = time.process_time()
            cycle = await scheduler.run_cycle(START)
            await recorder.record(
                cycle.batch(NO_FACTS), rules=scheduler.rules, topology=Topology(cluster=CLUSTER)
            )
            cpu = time.process_time() - began
        async with store.read() as snapshot:
            opened = await snapshot.rows(Incident).find()
        if (len(opened), sum(one.alerts for one in opened)) != (incidents, size):
            raise CannotRunError(f"the storm opened {len(opened)} incidents instead of {incidents}")
        await scheduler.run_cycle(START + timedelta(seconds=30))
    return Cost(cpu=cpu, stall=min(ticker.worked, ticker.late))


@asynccontextmanager
async def _parts(
    size: int, labels: dict[str, str]
) -> AsyncIterator[tuple[RuleScheduler, IncidentRecorder, SqlStore]]:
    samples = tuple(Sample(labels=Labels({"instance": name}), value=0.5) for name in _names(size))
    with TemporaryDirectory(prefix="bench-") as name:
        path = Path(name) / "storm.yaml"
        rule = {"alert": "DNSDown", "expr": "answered < 1", "labels": labels, "annotations": ANNOTATIONS}
        path.write_text(yaml.safe_dump({"groups": [{"name": "storm", "rules": [rule]}]}), "utf-8")
        rules = await asyncio.to_thread(read_rulebook, RulesSettings(packs=(), files=(path,)))
        topology = Topology(cluster=CLUSTER)
        renderer = RuleRenderer(lambda: topology, clean=Redactor().clean)
        store = await SqlStore.open(f"sqlite+aiosqlite:///{Path(name) / 'yard.db'}")
        try:
            recorder = IncidentRecorder(CLUSTER, store, CardRouting(default="C1"))
            scheduler = RuleScheduler(
                CLUSTER, tuple(rules.rules), a_router(_Storm(samples=samples)), renderer
            )
            yield scheduler, recorder, store
        finally:
            await store.close()
