"""F17: recording a storm. 3,000 incidents open in one cycle, then nothing changes; and a storm in one incident.

Incidents of nodes that break together get a parent, and only that has a card. Those of Deployments are not about a
node, so each has a card. What is compared is the same in both: all rows of the cycle.

The peer is a bare bulk insert: the rows of that very cycle, encoded already, through sqlite3 into equal tables, with
one commit. SQLite syncs each commit in both.
"""

import asyncio
import gc
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from alerts.cards.posted import PostedCard
from alerts.incidents.incident import Incident
from alerts.incidents.proofs import NO_FACTS
from alerts.parents.parent_incident import ParentIncident
from alerts.rendering import RuleRenderer
from alerts.routing import CardRouting
from alerts.store import TABLES, Changed
from benchmarks.row import Benchmark, CannotRunError, Goal, Outcome, Peer, Row
from benchmarks.rows import f17_one_incident
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import EvaluationCycle, RuleScheduler
from bot.jobs.garbage_collection import collect_in_small_parts
from bot.settings.schema import RulesSettings
from bot.store.documents import encode
from bot.store.sql_store import SqlStore
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.redaction import Redactor
from collectors.facts.results import QueryResult, Sample, Seen
from collectors.facts.topology import Topology
from tests.support.routing import QuietSource, a_router
from tests.support.store_counts import counted

INCIDENTS = 3_000
RUNS = 5
CLUSTER = "prod-a"
START = datetime(2026, 3, 2, 12, tzinfo=UTC)
RULE = {
    "alert": "TooHot",
    "expr": "temperature > 90",
    "labels": {"severity": "critical"},
    "annotations": {"summary": "It is at {{ $value | humanize }} degrees."},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Things:
    """What the alerts are about. `label`: names one of them; `cards` of their incidents: a parent's is the only one."""

    name: str
    label: str
    parents: int
    cards: int

    @property
    def samples(self) -> tuple[Sample, ...]:
        return tuple(
            Sample(labels=Labels({"namespace": "vision", self.label: f"a-{number:04}"}), value=91.5)
            for number in range(INCIDENTS)
        )


NODES = Things(name="nodes, one parent with the only card", label="node", parents=1, cards=1)
DEPLOYMENTS = Things(name="Deployments, a card each", label="deployment", parents=0, cards=INCIDENTS)


@dataclass
class Storm(QuietSource):
    """A Prometheus in which all of them are hot. `answered` is when it last answered."""

    samples: tuple[Sample, ...] = ()
    answered: float = 0.0

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        self.answered = time.perf_counter()
        return Seen(source="prometheus", at=at, samples=self.samples)


@dataclass(slots=True)
class Recorded:
    """What one run gives: seconds, commits and statements."""

    effects: float = 0.0  # from effects to commit
    bare: float = 0.0
    whole: float = 0.0  # from the last answer to commit
    commits: int = 0
    quiet: int = 0  # statements of a quiet cycle
    rows: list[tuple[str, Any]] = field(default_factory=list)


async def run(_: Mapping[str, Outcome]) -> Outcome:
    """Measure it. Garbage is collected as in the product: in small parts."""
    threshold = gc.get_threshold()
    collect_in_small_parts()
    try:
        of_things = [row for things in (NODES, DEPLOYMENTS) for row in await _rows(things)]
        return Outcome(rows=(*of_things, *await f17_one_incident.rows()))
    finally:
        gc.set_threshold(*threshold)
        gc.unfreeze()


async def _rows(things: Things) -> list[Row]:
    runs = [await _once(things) for _ in range(RUNS)]
    first = runs[0]
    bare = median(one.bare for one in runs) * 1e3
    peer = Peer(name=f"bare bulk insert of the same {len(first.rows):,} rows", value=bare)
    effects, whole = (median(one.effects for one in runs), median(one.whole for one in runs))
    opens = f"{INCIDENTS:,} incidents of {things.name}: commits of the cycle that opens them"
    return [
        _count(opens, first.commits, limit=3),
        _time("… from effects to commit", effects, peer, limit=3.0),
        _time("… from the last answer to commit", whole, peer, limit=15.0),
        _count("… statements of a quiet cycle while they are open", first.quiet, limit=10),
    ]


def _count(measure: str, value: int, *, limit: float) -> Row:
    return Row(id="F17", measure=measure, value=value, goal=Goal(limit=limit, of_value=True))


def _time(measure: str, seconds: float, peer: Peer, *, limit: float) -> Row:
    return Row(id="F17", measure=measure, value=seconds * 1e3, unit="ms", peer=peer, goal=Goal(limit=limit))


async def _once(things: Things) -> Recorded:
    found = Recorded()
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        storm = Storm(samples=things.samples)
        store = await SqlStore.open(f"sqlite+aiosqlite:///{folder / 'yard.db'}")
        try:
            scheduler, recorder = _parts(folder, storm, store)
            store.listen(lambda changed: _take(found, changed))
            scheduler.restore(*await recorder.restore(), START)
            with counted() as counts:
                cycle = await scheduler.run_cycle(START)
                await _record(recorder, scheduler, cycle)
                found.whole = time.perf_counter() - storm.answered
            found.commits = counts["commits"]
            _compare(found.rows, things)
            found.bare = await asyncio.to_thread(_bare, folder, _encoded(found.rows))
            found.effects = await _stored(folder, found.rows)
            quiet = await scheduler.run_cycle(START + timedelta(seconds=30))
            with counted() as counts:
                await _record(recorder, scheduler, quiet)
            found.quiet = counts["statements"]
        finally:
            await store.close()
    return found


def _compare(rows: Sequence[tuple[str, Any]], things: Things) -> None:
    """Raise CannotRunError if the cycle stored something else than is said of it."""
    kinds: dict[type[Any], int] = {
        Incident: INCIDENTS,
        ParentIncident: things.parents,
        PostedCard: things.cards,
    }
    for kind, wanted in kinds.items():
        stored = sum(isinstance(row, kind) for _, row in rows)
        if stored != wanted:
            raise CannotRunError(f"{things.name}: {stored} {kind.__name__} rows instead of {wanted}")


def _parts(folder: Path, storm: Storm, store: SqlStore) -> tuple[RuleScheduler, IncidentRecorder]:
    path = folder / "storm.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "storm", "rules": [RULE]}]}), "utf-8")
    rules = read_rulebook(RulesSettings(packs=(), files=(path,))).rules
    router = a_router(storm)
    topology = Topology(cluster=CLUSTER)
    renderer = RuleRenderer(lambda: topology, clean=Redactor().clean)
    recorder = IncidentRecorder(CLUSTER, store, CardRouting(default="C1"))
    return RuleScheduler(CLUSTER, tuple(rules), router, renderer), recorder


async def _record(recorder: IncidentRecorder, scheduler: RuleScheduler, cycle: EvaluationCycle) -> None:
    await recorder.record(cycle.batch(NO_FACTS), rules=scheduler.rules, topology=Topology(cluster=CLUSTER))


def _take(found: Recorded, changed: Changed) -> None:
    if not found.rows:
        found.rows = [(table, row) for table, rows in changed.items() for row in rows.values()]


async def _stored(folder: Path, rows: Sequence[tuple[str, Any]]) -> float:
    """Store the rows of the cycle through a store of its own; return the seconds until the commit."""
    store = await SqlStore.open(f"sqlite+aiosqlite:///{folder / 'again.db'}")
    try:
        began = time.perf_counter()
        async with store.unit() as unit:
            for _, row in rows:
                await unit.rows(type(row)).put(row)
        return time.perf_counter() - began
    finally:
        await store.close()


def _encoded(rows: Sequence[tuple[str, Any]]) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for number, (name, row) in enumerate(rows):
        table = TABLES[name]
        values = (row.id, str(number), *table.read(row).values(), "", encode(table, row))
        found.setdefault(name, []).append(values)
    return found


def _bare(folder: Path, tables: Mapping[str, Sequence[tuple[str, ...]]]) -> float:
    """Insert the rows into the migrated tables of another file."""
    source = folder / "bare.db"
    asyncio.run(_migrated(source))
    with closing(sqlite3.connect(source, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=FULL")
        began = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        for name, rows in tables.items():
            marks = ", ".join("?" * len(rows[0]))
            columns = ("id", "seq", *TABLES[name].columns, "over_at", "document")
            connection.executemany(f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks})", rows)
        connection.execute("COMMIT")
        return time.perf_counter() - began


async def _migrated(path: Path) -> None:
    store = await SqlStore.open(f"sqlite+aiosqlite:///{path}")
    await store.close()


BENCHMARK = Benchmark(id="F17", title="recording a storm of incidents", run=run, limit=timedelta(minutes=8))
