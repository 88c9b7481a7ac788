"""F6: cordons proposed for sane nodes, and true faults missed, on traces of GPU metrics that mislead.

Each trace is imported into a live Prometheus in a stretch of time of its own, its kernel lines into a look-alike of
Elasticsearch. The shipped rules about GPUs run through it a minute at a time, the incident recorder stores what
follows, and the actions that each incident suggests are read once a minute, as its card has them.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp

from alerts.cards.suggested_actions import suggestions
from alerts.incidents.incident import Incident
from alerts.incidents.proofs import ProofFacts
from alerts.rendering import RuleRenderer
from alerts.routing import CardRouting
from alerts.rules import Rule
from benchmarks.gpu_trace_catalogue import FAMILIES
from benchmarks.gpu_traces import GPUS, HOLDERS, NODES, RANKS, STARTS, Trace
from benchmarks.quality.promtool_series import openmetrics
from benchmarks.row import Benchmark, CannotRunError, Goal, Outcome, Row
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.settings.schema import RulesSettings
from collectors.facts.queries import LogQuery, PromQLQuery
from collectors.facts.redaction import Redactor
from collectors.facts.topology import NodeFacts, PodFacts, Topology, TrainingFacts
from collectors.query_router import QueryRouter
from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.elasticsearch.source import ElasticsearchSource
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.parts.prometheus import PrometheusServer, import_openmetrics
from demo.world.layout import demo_layout
from demo.world.logs.line import Line, document
from demo.world.logs.shipper import INDEX, TEMPLATE, bulk
from demo.world.state import initial_state
from tests.support.memory_store import MemoryStore
from tests.support.routing import a_router

CLUSTER = "prod-a"
_FIRST = datetime(2026, 1, 5, tzinfo=UTC)
_APART = timedelta(hours=31)  # two traces: no window or offset of the rules reaches from one into another
_CORDON = "node cordon "


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a trace came to: the nodes for which a cordon was suggested, and the nodes that an incident was about."""

    trace: Trace
    cordons: Mapping[str, str]  # node -> the alert that led its incident
    about: frozenset[str]

    @property
    def false_cordons(self) -> list[str]:
        return sorted(self.cordons.keys() - self.trace.broken)

    @property
    def missed(self) -> list[str]:
        """A fault is seen when its node may be cordoned from the card."""
        return sorted(self.trace.broken - self.cordons.keys())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    trace: Trace
    start: datetime


async def run(_: Mapping[str, Outcome]) -> Outcome:
    rows = []
    for name, verdicts in (await judged(FAMILIES)).items():
        faults = sum(len(one.trace.broken) for one in verdicts)
        rows += [
            _row(
                f"{name}: of {len(verdicts)} traces, false cordons proposed",
                _count(verdicts, "false_cordons"),
            ),
            _row(f"{name}: of {faults} true faults, missed", _count(verdicts, "missed")),
        ]
    return Outcome(rows=tuple(rows))


def _count(verdicts: Sequence[Verdict], what: str) -> int:
    return sum(len(getattr(one, what)) for one in verdicts)


def _row(measure: str, value: int) -> Row:
    return Row(id="F6", measure=measure, value=value, goal=Goal(limit=0, of_value=True))


async def judged(families: Mapping[str, Sequence[Trace]]) -> Mapping[str, list[Verdict]]:
    """Return what each trace of each family came to."""
    traces = [trace for found in families.values() for trace in found]
    placed = [_Placed(trace=trace, start=_FIRST + place * _APART) for place, trace in enumerate(traces)]
    rules = _rules()
    async with _sources(placed) as (prometheus, logs):
        found = [await _play(one, rules, a_router(prometheus, logs)) for one in placed]
    verdicts = iter(found)
    return {name: [next(verdicts) for _ in traces] for name, traces in families.items()}


def _rules() -> Sequence[Rule]:
    """Return the shipped rules about GPUs that query Prometheus or logs of nodes: no trace has lines of pods."""
    book = read_rulebook(RulesSettings())
    if book.diagnostics:
        raise CannotRunError("; ".join(str(diagnostic) for diagnostic in book.diagnostics))
    return [
        rule
        for rule in book.rules
        if rule.location.file.startswith("gpu")
        and (
            isinstance(rule.query, PromQLQuery)
            or (isinstance(rule.query, LogQuery) and rule.query.by == ("node",))
        )
    ]


@dataclass(slots=True)
class _Watched:
    cordons: dict[str, str] = field(default_factory=dict)
    about: set[str] = field(default_factory=set)

    def look(self, incidents: Sequence[Incident], rules: Mapping[str, Rule]) -> None:
        for incident in incidents:
            self.about.add(incident.subject.node)
            for one in suggestions(incident, rules):
                if one.line.startswith(_CORDON):
                    self.cordons.setdefault(one.object, incident.lead.name)


async def _play(placed: _Placed, rules: Sequence[Rule], router: QueryRouter) -> Verdict:
    topology, store, watched = _topology(), MemoryStore(), _Watched()
    scheduler = RuleScheduler(
        CLUSTER, rules, router, RuleRenderer(lambda: topology, clean=Redactor(()).clean)
    )
    recorder = IncidentRecorder(CLUSTER, store, CardRouting(default="C1"))
    for minute in range(STARTS - 1, placed.trace.lasts + 1):
        cycle = await scheduler.run_cycle(placed.start + timedelta(minutes=minute))
        if cycle.blind:
            raise CannotRunError(f"a rule was blind: {dict(cycle.blind)}")
        await recorder.record(
            cycle.batch(ProofFacts(topology=topology)), rules=scheduler.rules, topology=topology
        )
        async with store.read() as snapshot:
            watched.look(await snapshot.rows(Incident).find(state="open"), scheduler.rules)
    return Verdict(trace=placed.trace, cordons=watched.cordons, about=frozenset(watched.about))


def _topology() -> Topology:
    pods = [
        PodFacts(namespace="vision", name=pod, node=node, training="vision/detr", gpus=GPUS)
        for node, pod in HOLDERS.items()
    ]
    training = TrainingFacts(id="vision/detr", owner="ana", gpus=GPUS * len(RANKS), nodes=RANKS)
    return Topology(
        cluster=CLUSTER,
        nodes={name: NodeFacts(name=name, gpus=GPUS, is_ready=True) for name in NODES},
        pods={(pod.namespace, pod.name): pod for pod in pods},
        trainings={training.id: training},
        pods_on={pod.node: (pod,) for pod in pods},
    )


@asynccontextmanager
async def _sources(
    placed: Sequence[_Placed],
) -> AsyncIterator[tuple[PrometheusSource, ElasticsearchSource]]:
    """Run a Prometheus and a look-alike of Elasticsearch with the traces, and yield sources of both."""
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        await asyncio.to_thread(_import, placed, folder)
        decade = timedelta(days=3650)
        async with (
            PrometheusServer(config="global: {}\n", folder=folder, retention=decade) as server,
            ElasticsearchLookalike.running() as es,
        ):
            await _ship(es.url, placed)
            prometheus = PrometheusSource(PrometheusOptions(url=server.url, freshness_query=""))
            options = ElasticsearchOptions(
                urls=(es.url,), index="logs-*", lag=timedelta(), stale_after=timedelta()
            )
            async with ElasticsearchSource(options) as logs:
                try:
                    yield prometheus, logs
                finally:
                    await prometheus.close()


def _import(placed: Sequence[_Placed], folder: Path) -> None:
    samples = (sample for one in placed for sample in one.trace.samples(one.start))
    (folder / "samples.om").write_text(openmetrics(samples), encoding="utf-8")
    import_openmetrics(folder / "samples.om", folder)


async def _ship(url: str, placed: Sequence[_Placed]) -> None:
    state = initial_state(demo_layout(), _FIRST)
    made = [document(line, state) for one in placed for line in _lines(one)]
    documents = [one for one in made if one is not None]
    async with aiohttp.ClientSession() as session:
        for method, path, body in (
            ("PUT", "_index_template/logs-k8s", json.dumps(TEMPLATE).encode()),
            ("POST", "_bulk", bulk(documents, INDEX)),
        ):
            kind = "application/x-ndjson" if path == "_bulk" else "application/json"
            headers = {"Content-Type": kind}
            async with session.request(method, f"{url}/{path}", data=body, headers=headers) as reply:
                reply.raise_for_status()


def _lines(placed: _Placed) -> Iterator[Line]:
    for one in placed.trace.lines:
        at = placed.start + timedelta(minutes=one.at)
        yield Line(at=at, text=one.text, level="warning", node=one.node, unit="kernel")
    # A node always logs something.
    yield Line(at=placed.start, text="systemd: Started a session.", node=NODES[0], unit="systemd")


BENCHMARK = Benchmark(id="F6", title="GPU traces that mislead", run=run, limit=timedelta(minutes=6))
