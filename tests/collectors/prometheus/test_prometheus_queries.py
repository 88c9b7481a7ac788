"""The requests that queries send, and how their responses are decoded."""

import math
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from aiohttp import web

from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, Seen
from collectors.sources.prometheus.source import PrometheusSource

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
SourceAt = Callable[..., PrometheusSource]


class Recorder:
    """A handler that records requests, and answers from a table by expression."""

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


async def test_a_query_is_posted_as_a_form_with_its_time(serve: Serve, source_at: SourceAt) -> None:
    recorder = Recorder()
    long_expr = " or ".join(f'up{{instance="node-{n}"}}' for n in range(2000))
    source = source_at(await serve(recorder), params={"dedup": "true"}, headers={"X-Scope-OrgID": "team-a"})
    await source.query(PromQLQuery(expr=long_expr), at=NOW)
    (request,) = recorder.requests
    assert (request.method, request.path) == ("POST", "/api/v1/query")
    assert request.query == {"dedup": "true"}
    assert request.headers["X-Scope-OrgID"] == "team-a"
    assert recorder.forms == [{"query": long_expr, "time": f"{NOW.timestamp():.3f}", "timeout": "5s"}]


async def test_credentials_are_read_again_for_each_request(serve: Serve, source_at: SourceAt) -> None:
    recorder = Recorder()
    tokens = iter(["first", "second"])
    source = source_at(await serve(recorder), authorization=lambda: f"Bearer {next(tokens)}")
    await source.query(PromQLQuery(expr="up"), at=NOW)
    await source.query(PromQLQuery(expr="up"), at=NOW)
    assert [one.headers["Authorization"] for one in recorder.requests] == ["Bearer first", "Bearer second"]


async def test_a_user_name_and_a_password_are_sent(serve: Serve, source_at: SourceAt) -> None:
    recorder = Recorder()
    await source_at(await serve(recorder), basic_auth=lambda: ("bot", "word")).query(
        PromQLQuery(expr="up"), at=NOW
    )
    assert recorder.requests[0].headers["Authorization"] == "Basic Ym90OndvcmQ="


async def test_labels_are_unchanged_and_special_floats_are_decoded(serve: Serve, source_at: SourceAt) -> None:
    rows: list[dict[str, object]] = [
        {"metric": {"__name__": "t", "node": "a"}, "value": [1, "NaN"]},
        {"metric": {"node": "b"}, "value": [1, "+Inf"]},
        {"metric": {"node": "c", "empty": ""}, "value": [1, "-Inf"]},
    ]
    result = await source_at(await serve(Recorder(t=rows))).query(PromQLQuery(expr="t"), at=NOW)
    assert isinstance(result, Seen)
    first, second, third = result.samples
    assert first.labels == {"__name__": "t", "node": "a"}
    assert math.isnan(first.value)
    assert second.value == math.inf
    assert third.labels == {"node": "c"}
    assert third.value == -math.inf


async def test_the_presence_query_names_what_is_watched(serve: Serve, source_at: SourceAt) -> None:
    rows: list[dict[str, object]] = [{"metric": {"node": "a"}, "value": [1, "1"]}]
    source = source_at(await serve(Recorder(seen=rows)))
    result = await source.query(PromQLQuery(expr="hot", presence="seen"), at=NOW)
    assert isinstance(result, Seen)
    assert result.samples == ()
    assert result.present == (Labels({"node": "a"}),)
    without = await source.query(PromQLQuery(expr="hot"), at=NOW)
    assert isinstance(without, Seen)
    assert without.present is None


async def test_a_failing_presence_query_makes_the_whole_result_blind(
    serve: Serve, source_at: SourceAt
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if (await request.post())["query"] == "seen":
            return web.json_response({"status": "error", "error": "no"}, status=422)
        return web.json_response({"status": "success", "data": {"resultType": "vector", "result": []}})

    result = await source_at(await serve(answer)).query(PromQLQuery(expr="hot", presence="seen"), at=NOW)
    assert isinstance(result, Blind)


async def test_health_is_blind_for_a_server_that_just_started_or_is_stale(
    serve: Serve, source_at: SourceAt
) -> None:
    async def health(age: float | None) -> Blind | None:
        rows: list[dict[str, object]] = []
        if age is not None:
            rows = [{"metric": {}, "value": [NOW.timestamp(), str(NOW.timestamp() - age)]}]
        source = source_at(await serve(Recorder(**{"max(timestamp(up))": rows})))
        return await source.health(at=NOW)

    assert await health(15) is None
    just_started, stale = await health(None), await health(240)
    assert just_started is not None
    assert "just started" in just_started.reason
    assert stale is not None
    assert "4 min old" in stale.reason


async def test_health_sends_no_query_when_it_is_turned_off(serve: Serve, source_at: SourceAt) -> None:
    recorder = Recorder()
    assert await source_at(await serve(recorder), freshness_query="").health(at=NOW) is None
    assert recorder.forms == []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("+Inf", "not a time in seconds"),
        ("1.7e15", "not a time in seconds"),
        ("-9e99", "no fresh sample of `up`"),
        ("NaN", "no fresh sample of `up`"),
    ],
)
async def test_a_freshness_that_is_not_a_time_is_blind(
    serve: Serve, source_at: SourceAt, value: str, reason: str
) -> None:
    async def answer(_: web.Request) -> web.Response:
        result = {"resultType": "vector", "result": [{"metric": {}, "value": [NOW.timestamp(), value]}]}
        return web.json_response({"status": "success", "data": result})

    blind = await source_at(await serve(answer)).health(at=NOW)

    assert isinstance(blind, Blind)
    assert reason in blind.reason


async def test_a_series_of_each_gpu_of_the_largest_cluster_is_seen(serve: Serve, source_at: SourceAt) -> None:
    """5,000 nodes of 8 GPUs, with every label that dcgm-exporter and kube-prometheus-stack give."""
    row = (
        '{"metric":{"__name__":"DCGM_FI_DEV_GPU_TEMP","DCGM_FI_DRIVER_VERSION":"550.54.15","Hostname":"gpu-%d.example",'
        '"UUID":"GPU-6b2f8a52-1c1e-4f0e-9c5d-%012d","container":"nvidia-dcgm-exporter","device":"nvidia%d",'
        '"endpoint":"gpu-metrics","exported_container":"main","exported_namespace":"vision","exported_pod":"t-%d",'
        '"gpu":"%d","instance":"10.0.0.1:9400","job":"nvidia-dcgm-exporter","modelName":"NVIDIA H100 80GB HBM3",'
        '"namespace":"gpu-operator","pci_bus_id":"00000000:18:00.0","pod":"nvidia-dcgm-exporter-x7k2p",'
        '"service":"nvidia-dcgm-exporter"},"value":[1763694000,"45"]}'
    )
    rows = ",".join(row % (n // 8, n, n % 8, n, n % 8) for n in range(5_000 * 8))
    body = f'{{"status":"success","data":{{"resultType":"vector","result":[{rows}]}}}}'.encode()

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(body=body, content_type="application/json")

    result = await source_at(await serve(answer)).query(PromQLQuery(expr="DCGM_FI_DEV_GPU_TEMP"), at=NOW)
    assert isinstance(result, Seen), result
    assert len(result.samples) == 5_000 * 8
