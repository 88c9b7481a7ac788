"""Cards show why a source is blind now, without an edit for each number in the reason."""

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from bot.evaluation.cluster_view import BlindView
from bot.evaluation.evaluator import Evaluator
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult
from tests.support.alerting import CLUSTER, a_rule, a_topology, minutes
from tests.support.evaluation import an_evaluator
from tests.support.routing import QuietSource, a_router
from tests.support.yard import Hands

REFUSED = "http://prometheus:9090 refuses connections"


class Failing(QuietSource):
    """A Prometheus that cannot be queried, for a reason."""

    reason = REFUSED

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        return Blind(source="prometheus", at=at, reason=self.reason)

    async def health(self, *, at: datetime) -> Blind | None:
        return Blind(source="prometheus", at=at, reason=self.reason)


async def test_a_card_shows_the_present_reason() -> None:
    clock, metrics, rule = Hands(), Failing(), a_rule()
    router = a_router(metrics)
    cluster: Any = SimpleNamespace(sources=None, name=CLUSTER, cache=None, pod_logs=None, topology=a_topology)
    shown: list[str] = []
    evaluator: Evaluator = an_evaluator(
        cluster,
        rule,
        router,
        clock,
        on_view_change=lambda: shown.append(evaluator.blind["prometheus"]),
    )
    for reason in (REFUSED, REFUSED, "it answered 503: it is starting", "it answered 503: it is starting"):
        metrics.reason = reason
        await evaluator.run_cycle()
        clock.move(minutes(2))
    assert shown == [REFUSED, "it answered 503: it is starting"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("its newest scrape is 3 min old", "its newest scrape is 3 min 15 s old"),
        ("its newest scrape is 59 s old", "its newest scrape is 1 h old"),
        (
            "its newest scrape is 3 min old",
            "its newest scrape is 1 d 4 h old",
        ),
        ("12 queries already wait", "1000 queries already wait"),
        ("nodes: last seen 90 s ago", "nodes: last seen 2 min ago"),
    ],
)
def test_another_number_is_not_another_reason(first: str, second: str) -> None:
    view = BlindView()
    assert view.follow({"prometheus": first}, timedelta())
    assert not view.follow({"prometheus": second}, minutes(10))


def test_a_reason_that_alternates_is_shown_now_and_then_and_another_source_at_once() -> None:
    view, cycle = BlindView(), timedelta(seconds=15)
    changes = [view.follow({"prometheus": "ab"[number % 2]}, number * cycle) for number in range(16)]
    assert changes[0]
    assert sum(changes) <= 4
    assert view.follow({"prometheus": "a", "elasticsearch": "c"}, 16 * cycle)
    assert view.follow({}, 17 * cycle)
    assert not view.follow({}, 18 * cycle)
