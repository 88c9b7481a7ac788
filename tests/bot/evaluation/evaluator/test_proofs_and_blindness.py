"""While the cluster cannot be seen, what was known of it last proves nothing."""

from datetime import datetime
from types import SimpleNamespace
from typing import Any

from alerts.incidents.incident import Incident
from alerts.routing import CardRouting
from bot.evaluation.evaluator import Evaluator, RuleSources
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.scheduler import RuleScheduler
from bot.metrics import Metrics
from collectors.check import CheckInput, SourceState
from collectors.facts.results import Blind
from tests.support.alerting import CLUSTER, a_renderer, minutes
from tests.support.evaluation import Canned
from tests.support.memory_store import MemoryStore
from tests.support.objects import inventory
from tests.support.proofs import a_rule_with, topology_of
from tests.support.routing import a_router
from tests.support.yard import Hands


async def test_a_node_that_came_back_while_nobody_saw_it_is_proven_once_it_is_seen() -> None:
    clock, store, rule = Hands(), MemoryStore(), a_rule_with("node-rebooted")
    letter, is_seen = "8", True
    began = clock.now()
    metrics = Canned(lambda _expr, at: {"gpu-a01": 91.0} if at < began + minutes(1) else {})

    def check_input(at: datetime, sources: tuple[SourceState, ...]) -> CheckInput:
        gone = Blind(source="kubernetes", at=at, reason="it does not answer")
        return CheckInput(
            at=at, inventory=inventory() if is_seen else gone, trainings=(), configs={}, sources=sources
        )

    router = a_router(metrics, check_input=check_input)
    cluster: Any = SimpleNamespace(
        name=CLUSTER,
        cache=None,
        pod_logs=None,
        sources=None,
        topology=lambda: topology_of(letter),
    )
    evaluator = Evaluator(
        cluster,
        RuleScheduler(CLUSTER, (rule,), router, a_renderer()),
        IncidentRecorder(CLUSTER, store, CardRouting(default="C1")),
        router,
        rules=RuleSources(shipped=(rule,)),
        clock=clock,
        metrics=Metrics(),
    )
    shown = ""
    for now in (("8", True), ("8", True), ("b", False), ("b", False), ("b", True)):
        letter, is_seen = now
        await evaluator.run_cycle()
        clock.move(minutes(1))
        async with store.read() as snapshot:
            (incident,) = await snapshot.rows(Incident).find()
        shown += "o" if incident.is_open else "."

    assert shown == "oooo."
