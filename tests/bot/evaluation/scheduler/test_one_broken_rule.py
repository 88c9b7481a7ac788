"""A bug in the evaluation of one rule makes that rule blind; the other rules go on."""

from datetime import datetime

from structlog.testing import capture_logs

from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from bot.evaluation.scheduler import EvaluationCycle, RuleScheduler
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from collectors.internal_errors import InternalErrors
from tests.support.alerting import CLUSTER, NOON, a_rule, a_topology, minutes
from tests.support.evaluation import Canned, hot
from tests.support.routing import a_router

BROKEN, SOUND = a_rule("Broken"), a_rule("Sound")


class FailingRenderer(RuleRenderer):
    """Renders all rules but `Broken` while `is_failing`."""

    is_failing = True

    def labels(self, rule: Rule, sample: Sample) -> Labels:
        if self.is_failing and rule.name == "Broken":
            raise KeyError("a bug")
        return super().labels(rule, sample)


def a_failing_renderer() -> FailingRenderer:
    topology = a_topology()
    return FailingRenderer(lambda: topology, clean=lambda text: text)


def a_scheduler(renderer: FailingRenderer, counts: list[str]) -> RuleScheduler:
    router = a_router(Canned(hot((0, 600))))
    errors = InternalErrors(counts.append)
    return RuleScheduler(CLUSTER, (BROKEN, SOUND), router, renderer, errors=errors)


async def run_cycle(scheduler: RuleScheduler, at: datetime) -> EvaluationCycle:
    with capture_logs():
        return await scheduler.run_cycle(at)


async def test_a_bug_in_one_rule_is_blind_for_that_rule_only() -> None:
    counts: list[str] = []

    cycle = await run_cycle(a_scheduler(a_failing_renderer(), counts), NOON)

    assert set(cycle.blind) == {BROKEN.id}
    assert "internal error KeyError" in cycle.blind[BROKEN.id]
    assert {alert.name for alert in cycle.standing} == {"Sound"}
    assert counts == ["rule"]


async def test_a_rule_whose_bug_is_gone_fires_and_nothing_it_held_was_resolved() -> None:
    renderer = a_failing_renderer()
    renderer.is_failing = False
    scheduler = a_scheduler(renderer, [])
    await run_cycle(scheduler, NOON)
    renderer.is_failing = True
    during = await run_cycle(scheduler, NOON + minutes(1))
    renderer.is_failing = False

    after = await run_cycle(scheduler, NOON + minutes(2))

    assert not during.changes
    assert not after.changes
    assert {alert.name for alert in after.standing} == {"Broken", "Sound"}
