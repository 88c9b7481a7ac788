"""F9: watches that break by 410, by EOF and in silence while objects change: what the cluster cache misses.

A look-alike of Kubernetes breaks them over HTTP. A change counts as missed when an object or a deletion is not in the
cache, or in what its published changes give, after it has caught up; or when the watch went on from its version and
the change itself was not published.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta

from alerts.cards.posted import PostedCard
from alerts.rendering import RuleRenderer
from alerts.routing import CardRouting
from alerts.rules import Rule
from benchmarks import broken_watches as ways
from benchmarks.broken_watches import Break, Followed, count, followed
from benchmarks.row import Benchmark, CannotRunError, Goal, Outcome, Peer, Row
from bot.evaluation.evaluator import Evaluator, RuleSources
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.rulebook import read_rulebook
from bot.evaluation.scheduler import RuleScheduler
from bot.live_cluster import LiveCluster
from bot.metrics import Metrics
from bot.settings.schema import RulesSettings
from bot.settings.source_options import reflector_timing
from bot.settings.source_settings import KubernetesSettings
from collectors.check_catalogue import CHECKS
from collectors.check_runner import CheckRunner
from collectors.facts.clock import SystemClock
from collectors.facts.redaction import Redactor
from collectors.query_router import QueryRouter
from collectors.sources.cluster_sources import ClusterSources
from tests.support.memory_store import MemoryStore

CLUSTER, RULE = "prod-a", "YardmasterSourceBlind"
ROUNDS = 5
STALLED = (ways.stalled, ways.stalled_after_a_bookmark)
WAYS: Mapping[str, Sequence[Sequence[Break]]] = {
    "by 410: in the stream, after a bookmark, to the request, while paging": (
        (ways.expired, ways.expired_after_a_bookmark, ways.refused_as_expired, ways.expired_while_paging),
    ),
    "by EOF: clean, broken off, after a bookmark, at once for long": (
        (ways.ended, ways.broken_off, ways.ended_after_a_bookmark),
        (ways.hung_up,),
    ),
    "in silence: one connection, after a bookmark, the server, while paging": (
        STALLED,
        (ways.silent, ways.silent_while_paging),
    ),
}
PHASES = (0.0, 4.0, 8.0, 12.0)  # seconds; rules are evaluated each 15 s


async def run(_: Mapping[str, Outcome]) -> Outcome:
    async with asyncio.TaskGroup() as group:
        counting = {
            name: [group.create_task(count([*some] * ROUNDS, seed=seed)) for seed, some in enumerate(several)]
            for name, several in WAYS.items()
        }
        stalling = group.create_task(
            count([*STALLED, STALLED[0]], seed=9, stale_after=KubernetesSettings().stale_after)
        )
        announcing = [group.create_task(_announced(phase)) for phase in PHASES]
    found = {name: [task.result() for task in tasks] for name, tasks in counting.items()}
    found[list(WAYS)[-1]].append(stalled := stalling.result())
    announced = [task.result() for task in announcing]
    setting = KubernetesSettings().stale_after.total_seconds()
    timing = reflector_timing(KubernetesSettings().stale_after)
    with_for = setting + _rule().timing.for_.total_seconds()
    rows = [
        Row(
            id="F9",
            measure=f"watch broken {name}; of {sum(one.changes for one in each):,} changes, missed",
            value=sum(one.missed for one in each),
            goal=Goal(limit=0, of_value=True),
        )
        for name, each in found.items()
    ]
    rows += [
        _silence(
            "silence of one connection, until its changes are seen",
            stalled.blind,
            Peer(name="the longest watch, with its grace", value=timing.watch + timing.grace),
        ),
        _silence(
            "silence of the server, from the last byte until the source is blind",
            max(blind for blind, _ in announced),
            Peer(name="the setting `stale_after`", value=setting),
        ),
        _silence(
            "… until a card says so",
            max(card for _, card in announced),
            Peer(name="the same, and the rule's `for`", value=with_for),
        ),
    ]
    return Outcome(rows=tuple(rows))


def _silence(measure: str, seconds: float, peer: Peer) -> Row:
    return Row(id="F9", measure=measure, value=seconds, unit="s", peer=peer, goal=Goal(limit=1.2))


def _rule() -> Rule:
    return next(rule for rule in read_rulebook(RulesSettings()).rules if rule.name == RULE)


async def _announced(phase: float) -> tuple[float, float]:
    """Silence a server, and return the seconds from then until the source is blind, and until a card is wanted.

    The settings are the default ones, and the cycle is that of the shipped rules.
    """
    loop, store = asyncio.get_running_loop(), MemoryStore()
    setting = KubernetesSettings().stale_after
    async with followed(setting, seed=int(phase)) as one, asyncio.TaskGroup() as group:
        evaluator = _evaluator(one, store)
        evaluating = group.create_task(evaluator.run())
        try:
            await asyncio.sleep(1 + phase)
            one.kube.pause()
            last = loop.time()
            async with asyncio.timeout(300):
                while "kubernetes" not in evaluator.blind:  # noqa: ASYNC110 - a state has no event of its own
                    await asyncio.sleep(0.05)
                blind = loop.time() - last
                while not await _cards(store):  # noqa: ASYNC110 - nor has a row
                    await asyncio.sleep(0.05)
            return blind, loop.time() - last
        except TimeoutError:
            raise CannotRunError("a silent server was not announced within 300 s") from None
        finally:
            evaluating.cancel()


def _evaluator(one: Followed, store: MemoryStore) -> Evaluator:
    clock, rules = SystemClock(), (_rule(),)
    cluster = LiveCluster(CLUSTER, clock=clock, cache=one.cache)
    router = QueryRouter(ClusterSources(), CheckRunner(CHECKS, cluster.check_input))
    renderer = RuleRenderer(cluster.topology, clean=Redactor(()).clean)
    return Evaluator(
        cluster,
        RuleScheduler(CLUSTER, rules, router, renderer),
        IncidentRecorder(CLUSTER, store, CardRouting(default="C1")),
        router,
        rules=RuleSources(shipped=rules),
        clock=clock,
        metrics=Metrics(),
    )


async def _cards(store: MemoryStore) -> Sequence[PostedCard]:
    async with store.unit() as unit:
        return await unit.rows(PostedCard).find()


BENCHMARK = Benchmark(id="F9", title="watches that break", run=run, limit=timedelta(seconds=300))
