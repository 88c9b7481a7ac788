"""What the source asks, and how it reads what comes back."""

import math
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from aiohttp import web

from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, Seen
from collectors.sources.prometheus.source import PrometheusSource

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
SourceAt = Callable[..., PrometheusSource]


class Recorder:
    """Keeps what was asked and answers from a table by expression."""

    def __init__(self, **vectors: list[dict[str, object]]) -> None:
        self.forms: list[dict[str, str]] = []
        self.requests: list[web.Request] = []
        self._vectors = vectors

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        form = {key: str(value) for key, value in (await request.post()).items()}
        self.forms.append(form)
        self.requests.append(request)
        rows = self._vectors.get(form.get("query", ""), [])
        return web.json_response({"status": "success", "data": {"resultType": "vector", "result": rows}})


async def test_a_query_is_posted_as_a_form_with_its_moment(serve: Serve, source_at: SourceAt) -> None:
    asked = Recorder()
    long_expr = " or ".join(f'up{{instance="node-{n}"}}' for n in range(2000))
    source = source_at(await serve(asked), params={"dedup": "true"}, headers={"X-Scope-OrgID": "team-a"})
    await source.query(PromQLQuery(expr=long_expr), at=NOW)
    (request,) = asked.requests
    assert (request.method, request.path) == ("POST", "/api/v1/query")
    assert request.query == {"dedup": "true"}
    assert request.headers["X-Scope-OrgID"] == "team-a"
    assert asked.forms == [{"query": long_expr, "time": f"{NOW.timestamp():.3f}", "timeout": "5s"}]


async def test_credentials_are_read_anew_for_each_request(serve: Serve, source_at: SourceAt) -> None:
    asked = Recorder()
    tokens = iter(["first", "second"])
    source = source_at(await serve(asked), authorization=lambda: f"Bearer {next(tokens)}")
    await source.query(PromQLQuery(expr="up"), at=NOW)
    await source.query(PromQLQuery(expr="up"), at=NOW)
    assert [one.headers["Authorization"] for one in asked.requests] == ["Bearer first", "Bearer second"]


async def test_a_name_and_a_password_are_sent(serve: Serve, source_at: SourceAt) -> None:
    asked = Recorder()
    await source_at(await serve(asked), basic_auth=lambda: ("bot", "word")).query(
        PromQLQuery(expr="up"), at=NOW
    )
    assert asked.requests[0].headers["Authorization"] == "Basic Ym90OndvcmQ="


async def test_labels_come_back_as_they_are_and_odd_numbers_stay_numbers(
    serve: Serve, source_at: SourceAt
) -> None:
    rows: list[dict[str, object]] = [
        {"metric": {"__name__": "t", "node": "a"}, "value": [1, "NaN"]},
        {"metric": {"node": "b"}, "value": [1, "+Inf"]},
        {"metric": {"node": "c", "empty": ""}, "value": [1, "-Inf"]},
    ]
    said = await source_at(await serve(Recorder(t=rows))).query(PromQLQuery(expr="t"), at=NOW)
    assert isinstance(said, Seen)
    first, second, third = said.samples
    assert first.labels == {"__name__": "t", "node": "a"}
    assert math.isnan(first.value)
    assert second.value == math.inf
    assert third.labels == {"node": "c"}
    assert third.value == -math.inf


async def test_the_presence_query_names_what_is_watched(serve: Serve, source_at: SourceAt) -> None:
    rows: list[dict[str, object]] = [{"metric": {"node": "a"}, "value": [1, "1"]}]
    source = source_at(await serve(Recorder(seen=rows)))
    said = await source.query(PromQLQuery(expr="hot", presence="seen"), at=NOW)
    assert isinstance(said, Seen)
    assert said.samples == ()
    assert said.present == (Labels({"node": "a"}),)
    without = await source.query(PromQLQuery(expr="hot"), at=NOW)
    assert isinstance(without, Seen)
    assert without.present is None


async def test_a_failing_presence_query_makes_the_whole_answer_blind(
    serve: Serve, source_at: SourceAt
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if (await request.post())["query"] == "seen":
            return web.json_response({"status": "error", "error": "no"}, status=422)
        return web.json_response({"status": "success", "data": {"resultType": "vector", "result": []}})

    said = await source_at(await serve(answer)).query(PromQLQuery(expr="hot", presence="seen"), at=NOW)
    assert isinstance(said, Blind)


async def test_awake_tells_a_fresh_server_from_a_working_one(serve: Serve, source_at: SourceAt) -> None:
    async def pulse(age: float | None) -> Blind | None:
        rows: list[dict[str, object]] = []
        if age is not None:
            rows = [{"metric": {}, "value": [NOW.timestamp(), str(NOW.timestamp() - age)]}]
        source = source_at(await serve(Recorder(**{"max(timestamp(up))": rows})))
        return await source.health(at=NOW)

    assert await pulse(15) is None
    just_started, stale = await pulse(None), await pulse(240)
    assert just_started is not None
    assert "just started" in just_started.reason
    assert stale is not None
    assert "4 min old" in stale.reason


async def test_awake_is_not_asked_where_the_settings_say_so(serve: Serve, source_at: SourceAt) -> None:
    asked = Recorder()
    assert await source_at(await serve(asked), freshness_query="").health(at=NOW) is None
    assert asked.forms == []


async def test_a_range_has_moments_and_values(serve: Serve, source_at: SourceAt) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        form = await request.post()
        assert (request.path, form["step"]) == ("/api/v1/query_range", "30")
        rows = [{"metric": {"gpu": "0"}, "values": [[NOW.timestamp(), "64.5"]]}]
        return web.json_response({"status": "success", "data": {"resultType": "matrix", "result": rows}})

    found = await source_at(await serve(answer)).range(
        "t", start=NOW - timedelta(hours=1), end=NOW, step=timedelta(seconds=30)
    )
    assert not isinstance(found, Blind)
    (series,) = found
    assert series.labels == {"gpu": "0"}
    assert series.points == ((NOW, 64.5),)
