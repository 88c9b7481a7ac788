r"""Text from outside that is no text: it is read with what is none of it escaped, by every source, and nothing fails.

Each answer here is sent with the very bytes. This Prometheus replaces them; others, and proxies, may not.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from collectors.facts.clock import SystemClock
from collectors.facts.labels import Labels
from collectors.facts.queries import LogQuery, PromQLQuery
from collectors.facts.results import Blind, Sample, Seen
from collectors.readable_json import json_decoded, repaired_json
from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.elasticsearch.source import ElasticsearchSource
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.ranges import RangeReader
from collectors.sources.prometheus.source import PrometheusSource
from demo.parts.prometheus import PrometheusServer
from tests.collectors.elasticsearch.test_unexpected_responses import HEADERS, PRODUCT, prepared, serving
from tests.support.log_matches import message

NOW = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)
FORMS = [
    pytest.param(b"gpu-\xff01", r"gpu-\xff01", id="a byte that is never one of UTF-8"),
    pytest.param(b"gpu-\xe4\xbd", r"gpu-\xe4\xbd", id="half a character"),
    pytest.param(rb"gpu-\ud83d", r"gpu-\ud83d", id="half a pair, as JSON escapes it"),
    pytest.param(b"gpu-\xed\xa0\xbd", r"gpu-\xed\xa0\xbd", id="half a pair in bytes"),
]


def vector(*elements: bytes, type_: str = "vector") -> bytes:
    inner = b",".join(elements)
    return b'{"status":"success","data":{"resultType":"' + type_.encode() + b'","result":[' + inner + b"]}}"


@pytest.mark.parametrize(("sent", "shown"), FORMS)
async def test_a_label_of_prometheus_is_read_and_its_sample_counts(sent: bytes, shown: str) -> None:
    body = vector(
        b'{"metric":{"node":"' + sent + b'","gpu":"0"},"value":[1,"91"]}',
        b'{"metric":{"' + sent + b'":"x"},"value":[1,"92"]}',
        b'{"metric":{"node":"gpu-a01"},"value":[1,"93"]}',
    )

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/json")

    async with serving(answer) as url:
        source = PrometheusSource(PrometheusOptions(url=url))
        found = await source.query(PromQLQuery(expr="heat", presence="heat"), at=NOW)
        await source.close()
    assert isinstance(found, Seen)
    assert found.unread == ()
    assert found.samples == (
        Sample(labels=Labels({"node": shown, "gpu": "0"}), value=91.0),
        Sample(labels=Labels({shown: "x"}), value=92.0),
        Sample(labels=Labels({"node": "gpu-a01"}), value=93.0),
    )
    assert found.present == tuple(sample.labels for sample in found.samples)


@pytest.mark.parametrize(("sent", "shown"), FORMS)
async def test_a_range_of_prometheus_is_read(sent: bytes, shown: str) -> None:
    body = vector(b'{"metric":{"node":"' + sent + b'"},"values":[[1,"91"]]}', type_="matrix")

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/json")

    async with serving(answer) as url:
        reader = RangeReader(PrometheusOptions(url=url, timeout=timedelta(seconds=20)))
        (series,) = await reader.fetch(
            "heat", start=NOW, end=NOW + timedelta(minutes=1), step=timedelta(minutes=1)
        )
        await reader.close()
    assert series.labels == Labels({"node": shown})


async def test_an_error_of_prometheus_is_shown() -> None:
    async def answer(_request: web.Request) -> web.Response:
        said = b'{"status":"error","errorType":"execution","error":"no \xff here"}'
        return web.Response(body=said, status=422, content_type="application/json")

    async with serving(answer) as url:
        source = PrometheusSource(PrometheusOptions(url=url))
        found = await source.query(PromQLQuery(expr="heat"), at=NOW)
        await source.close()
    assert isinstance(found, Blind)
    assert r"no \xff here" in found.reason


async def test_a_real_prometheus_replaces_such_bytes_and_its_sample_counts(
    real_prometheus: PrometheusServer,
) -> None:
    source = PrometheusSource(PrometheusOptions(url=real_prometheus.url))
    expr = r'label_replace(vector(1), "node", "gpu-\xff01", "", "")'
    found = await source.query(PromQLQuery(expr=expr), at=SystemClock().now())
    await source.close()
    assert isinstance(found, Seen)
    assert [sample.labels for sample in found.samples] == [Labels({"node": "gpu-\ufffd01"})]


async def test_a_document_of_elasticsearch_does_not_blind_the_search() -> None:
    whole = {
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "failed": 0},
        "hits": {"total": {"value": 3, "relation": "eq"}, "hits": []},
    }
    buckets = b'"aggregations":{"by_node":{"buckets":[{"key":"gpu-\xff01","doc_count":3}]}}'

    async def answer(request: web.Request) -> web.Response:
        if (before := prepared(request.path)) is not None:
            return web.json_response(before, headers=PRODUCT)
        return web.Response(body=json.dumps(whole).encode()[:-1] + b"," + buckets + b"}", headers=HEADERS)

    query = LogQuery(match=message("bus"), by=(), over=timedelta(minutes=5))
    async with (
        serving(answer) as url,
        ElasticsearchSource(ElasticsearchOptions(urls=(url,))) as source,
    ):
        found = await source.query(query, at=NOW)
    assert isinstance(found, Seen), found
    assert [sample.value for sample in found.samples] == [3]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)


@given(document=documents, is_ascii=st.booleans())
def test_what_is_text_stays_as_it_is(document: Any, is_ascii: bool) -> None:
    body = json.dumps(document, ensure_ascii=is_ascii).encode()
    assert repaired_json(body) == body


@given(text=st.binary(max_size=30).map(lambda raw: raw.translate(None, b'"\\' + bytes(range(32)))))
def test_any_bytes_are_a_text_that_is_the_same_each_time(text: bytes) -> None:
    body = b'{"a":"' + text + b'"}'
    first, second = (json_decoded(msgspec.json.decode, body) for _ in range(2))
    assert first == second
    assert first["a"].encode().decode() == first["a"], "it can be stored, sent and shown"
