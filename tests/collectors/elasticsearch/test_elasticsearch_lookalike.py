"""The look-alike rejects what it does not imitate, limits its size, and returns Elasticsearch's errors."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from elasticsearch import ApiError, AsyncElasticsearch, BadRequestError, NotFoundError

from demo.lookalikes.elasticsearch.documents import index_of
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from tests.support.log_documents import host_line

NOW = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)


@pytest.fixture
async def client(server: ElasticsearchLookalike) -> AsyncIterator[AsyncElasticsearch]:
    async with AsyncElasticsearch(server.url) as client:
        yield client


@pytest.mark.parametrize(
    ("body", "feature"),
    [
        ({"query": {"fuzzy": {"message": "x"}}}, "the query `fuzzy`"),
        ({"query": {"match_phrase": {"message": {"query": "x", "slop": 2}}}}, "`slop` in `match_phrase`"),
        ({"query": {"query_string": {"query": "a~2", "fields": ["message"]}}}, "`~`"),
        ({"query": {"query_string": {"query": "a", "fields": ["message"], "boost": 2}}}, "`boost`"),
        ({"aggs": {"a": {"terms": {"field": "host.name"}}}}, "the aggregation `terms`"),
        ({"collapse": {"field": "host.name"}}, "`collapse` in `search`"),
        ({"size": "many"}, "cannot read the body"),
        ({"sort": [{"host.name": {"order": "asc"}}]}, "sorting by `host.name`"),
        ({"_source": ["message"]}, "a `_source` that is a list"),
        ({"fields": ["*"]}, "wildcards in `fields`"),
    ],
)
async def test_an_unsupported_feature_is_named_in_the_error(
    client: AsyncElasticsearch, body: dict[str, Any], feature: str
) -> None:
    with pytest.raises(BadRequestError) as caught:
        await client.search(index="filebeat-*", body=body)
    assert feature in caught.value.body["error"]["reason"]


async def test_an_unsupported_call_is_named_in_the_error(client: AsyncElasticsearch) -> None:
    with pytest.raises(ApiError) as caught:
        await client.indices.get_mapping(index="filebeat-*")
    assert caught.value.status_code == 400
    assert "/filebeat-*/_mapping" in caught.value.body["error"]["reason"]


async def test_the_oldest_lines_are_dropped_when_it_is_full() -> None:
    async with ElasticsearchLookalike.running(keep=100) as es:
        await es.index(
            host_line(
                NOW - timedelta(days=2) + timedelta(minutes=number), f"line {number}", node="a", unit="kernel"
            )
            for number in range(1_000)
        )
        assert es.count <= 100
        async with AsyncElasticsearch(es.url) as client:
            found = await client.search(
                index="filebeat-*", sort=[{"@timestamp": {"order": "desc"}}], size=100
            )
        messages = [hit["_source"]["message"] for hit in found["hits"]["hits"]]
        assert messages[0] == "line 999"
        assert messages == sorted(messages, key=lambda text: -int(text.split()[1]))


async def test_a_point_in_time_does_not_contain_later_documents(
    server: ElasticsearchLookalike, client: AsyncElasticsearch
) -> None:
    pit = await client.open_point_in_time(index="filebeat-*", keep_alive="1m")
    await server.index([host_line(NOW, "later", node="a", unit="kernel")])
    seen = await client.search(pit={"id": pit["id"], "keep_alive": "1m"}, track_total_hits=True)
    assert seen["hits"]["total"]["value"] == 3
    assert (await client.count(index="filebeat-*"))["count"] == 4
    await client.close_point_in_time(id=pit["id"])
    with pytest.raises(NotFoundError):
        await client.search(pit={"id": pit["id"]})


async def test_documents_can_be_counted_and_indices_deleted(client: AsyncElasticsearch) -> None:
    assert (await client.count(index="filebeat-*", query={"term": {"host.name": "gpu-a01"}}))["count"] == 2
    await client.indices.delete(index=index_of(NOW))
    assert (await client.count(index="filebeat-*"))["count"] == 0
    with pytest.raises(NotFoundError):
        await client.count(index=index_of(NOW))


async def test_a_bulk_response_has_an_error_for_each_invalid_document(client: AsyncElasticsearch) -> None:
    action = {"create": {"_index": index_of(NOW)}}
    valid, invalid = host_line(NOW, "x", node="a", unit="kernel"), {"@timestamp": "yesterday", "message": "x"}
    response = await client.bulk(operations=[action, valid, action, invalid, action, {"host": "a string"}])
    assert response["errors"]
    assert [item["create"]["status"] for item in response["items"]] == [201, 400, 400]
    assert response["items"][1]["create"]["error"]["type"] == "document_parsing_exception"


async def test_a_document_is_created_once(client: AsyncElasticsearch) -> None:
    action = {"create": {"_index": index_of(NOW), "_id": "1"}}
    document = host_line(NOW, "x", node="a", unit="kernel")
    response = await client.bulk(operations=[action, document, action, document])
    assert [item["create"]["status"] for item in response["items"]] == [201, 409]


async def test_health_is_green(client: AsyncElasticsearch) -> None:
    assert (await client.cluster.health())["status"] == "green"
    assert "green" in (await client.cat.health()).body
