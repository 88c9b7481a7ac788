"""The query router contains whatever goes wrong in a source or in a check: that query is blind, the others go on."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from collectors.check import CheckInput, ClusterCheck, SourceState
from collectors.check_catalogue import CHECKS
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery, Query
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.internal_errors import InternalErrors
from collectors.query_router import QueryRouter
from tests.support.routing import QuietSource, a_router, no_cluster

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
GOOD = PromQLQuery(expr="up")
BAD = PromQLQuery(expr="bad")


@dataclass
class FailingSource(QuietSource):
    """Raises `error` for the query `bad`, and for its health where `is_ill`."""

    query_types = frozenset({PromQLQuery, LogQuery})
    error: Exception
    is_ill: bool = False

    async def query(self, query: PromQLQuery | LogQuery, *, at: datetime) -> QueryResult:
        if query == BAD or isinstance(query, LogQuery):
            raise self.error
        return await super().query(query, at=at)

    async def health(self, *, at: datetime) -> Blind | None:
        if self.is_ill:
            raise self.error
        return None


def broken_cluster(at: datetime, sources: tuple[SourceState, ...]) -> CheckInput:
    raise KeyError("a node without a name")


def router_of(
    source: FailingSource,
    *,
    counts: list[str] | None = None,
    check_input: Callable[[datetime, tuple[SourceState, ...]], CheckInput] = no_cluster,
    checks: dict[str, ClusterCheck] | None = None,
) -> QueryRouter:
    errors = InternalErrors(([] if counts is None else counts).append)
    return a_router(source, checks=checks or dict(CHECKS), check_input=check_input, errors=errors)


async def answers_of(router: QueryRouter, **queries: Query) -> dict[str, QueryResult]:
    with capture_logs():
        return await router.query_all(queries, at=NOON)


@pytest.mark.parametrize(
    "error",
    [ValueError("xoxb-secret"), OverflowError(), KeyError("hits"), RecursionError(), AttributeError("x")],
    ids=repr,
)
async def test_an_unexpected_error_in_a_query_is_blind_for_that_query_only(error: Exception) -> None:
    counts: list[str] = []

    answers = await answers_of(router_of(FailingSource(error), counts=counts), good=GOOD, bad=BAD)

    assert isinstance(answers["good"], Seen)
    assert isinstance(bad := answers["bad"], Blind)
    assert f"internal error {type(error).__name__}" in bad.reason
    assert "xoxb" not in bad.reason
    assert counts == ["prometheus"]


async def test_a_timeout_within_a_source_is_not_reported_as_our_deadline() -> None:
    answers = await answers_of(router_of(FailingSource(TimeoutError())), bad=BAD)

    assert isinstance(bad := answers["bad"], Blind)
    assert "internal error TimeoutError" in bad.reason


@dataclass
class OddSource(FailingSource):
    """Its methods fail before there is anything to await."""

    def query(self, query: Any, *, at: datetime) -> Any:
        raise self.error

    def health(self, *, at: datetime) -> Any:
        if self.is_ill:
            raise self.error
        return super().health(at=at)


@pytest.mark.parametrize("is_ill", [True, False], ids=["health", "query"])
async def test_an_error_before_there_is_anything_to_await_is_contained_too(is_ill: bool) -> None:
    source = OddSource(ValueError("odd"), is_ill=is_ill)

    answers = await answers_of(router_of(source), good=GOOD)

    assert isinstance(good := answers["good"], Blind)
    assert "internal error ValueError" in good.reason


async def test_the_log_has_the_traceback_under_the_reference_that_people_read() -> None:
    with capture_logs() as logs:
        answers = await router_of(FailingSource(ValueError("odd"))).query_all({"bad": BAD}, at=NOON)

    assert isinstance(bad := answers["bad"], Blind)
    assert logs[0]["reference"] in bad.reason
    assert logs[0]["exc_info"].__traceback__ is not None


async def test_an_unexpected_error_in_a_health_check_makes_its_source_blind() -> None:
    router = router_of(FailingSource(ValueError("odd"), is_ill=True))

    answers = await answers_of(router, good=GOOD)

    assert isinstance(answers["good"], Blind)
    assert {one.source for one in router.sources(at=NOON) if one.blind_for is not None} >= {"prometheus"}


async def test_an_unexpected_error_while_the_cluster_is_read_makes_kubernetes_blind_and_nothing_else() -> (
    None
):
    router = router_of(FailingSource(ValueError()), check_input=broken_cluster)

    answers = await answers_of(router, good=GOOD, check=CheckQuery(name="node-not-ready"))

    assert isinstance(answers["good"], Seen)
    assert isinstance(answers["check"], Blind)


async def test_an_unexpected_error_in_a_check_is_blind_for_that_check_only() -> None:
    def fails(_inputs: CheckInput, _parameters: Any) -> Any:
        raise ZeroDivisionError

    checks = {**CHECKS, "rule-blind": replace(CHECKS["rule-blind"], run=fails)}
    router = router_of(FailingSource(ValueError()), checks=checks)

    answers = await answers_of(
        router, broken=CheckQuery(name="rule-blind"), sound=CheckQuery(name="source-blind")
    )

    assert isinstance(broken := answers["broken"], Blind)
    assert isinstance(answers["sound"], Seen)
    (kubernetes,) = (one for one in router.sources(at=NOON) if one.source == "kubernetes")
    assert kubernetes.rules == {"broken": broken.reason}  # what YardmasterRuleBlind reports


async def test_the_same_error_keeps_its_reference_and_is_logged_once() -> None:
    router = router_of(FailingSource(ValueError("odd")))

    with capture_logs() as logs:
        reasons = [(await router.query_all({"bad": BAD}, at=NOON))["bad"] for _ in range(5)]

    assert len({answer.reason for answer in reasons if isinstance(answer, Blind)}) == 1
    assert len([log for log in logs if log["event"] == "internal error"]) == 1


@dataclass
class LateSource(FailingSource):
    """A backend that is down at first, and whose newest samples are always too old to be no hole."""

    async def hole(self, *, at: datetime) -> Blind | None:
        return Blind(source="prometheus", at=at, reason="a hole", is_lasting=True)


async def blind_after_a_return(minutes: Iterable[int]) -> list[bool]:
    """Return whether a query is blind at these minutes after a late source was down for the last time."""
    source = LateSource(ValueError(), is_ill=True)
    router = router_of(source)
    await answers_of(router, good=GOOD)
    source.is_ill = False
    found = [
        (await router.query_all({"good": GOOD}, at=NOON + timedelta(minutes=minute)))["good"]
        for minute in minutes
    ]
    return [isinstance(one, Blind) for one in found]


async def test_a_source_that_is_back_with_a_hole_is_blind_for_a_while_and_not_for_ever() -> None:
    found = await blind_after_a_return(range(1, 8))

    assert found == [True, True, True, True, False, False, False]


async def test_a_clock_step_back_does_not_prolong_the_recovery() -> None:
    assert await blind_after_a_return((1, -60)) == [True, False]


@pytest.mark.parametrize("restart", [False, True], ids=["it goes down again", "this process was down"])
async def test_each_return_has_the_whole_time_to_recover(restart: bool) -> None:
    """A Prometheus that is restarted over and over answers once in between, and then has a hole again."""
    source = LateSource(ValueError(), is_ill=True)
    router = router_of(source)
    found = {}
    for minute, is_ill in ((0, True), (1, False), (2, True), (30, True), (31, False)):
        source.is_ill = is_ill
        if restart and minute == 31:
            router.distrust()
        found[minute] = (await router.query_all({"good": GOOD}, at=NOON + timedelta(minutes=minute)))["good"]

    assert isinstance(found[31], Blind)
