"""An hour of logs in a real Elasticsearch, queried as an alert rule does."""

import asyncio
from datetime import timedelta
from random import Random

import aiohttp

from demo.world.logs import background
from demo.world.logs.event_lines import lines_of
from demo.world.logs.line import document
from demo.world.logs.shipper import Shipper
from tests.demo.world.clusters import START, Cluster
from tests.real.servers.elasticsearch import ElasticsearchServer


async def test_shipped_documents_can_be_searched_by_node_and_text(
    real_elasticsearch: ElasticsearchServer, cluster: Cluster
) -> None:
    index = "logs-k8s-world-test"
    shipper = Shipper(real_elasticsearch.url, index=index, every=timedelta(milliseconds=50))
    cluster.faults.start("xid", node="gpu-b02", gpu=5, xid=79)
    lines = background.between(cluster.state, START, timedelta(hours=1), Random(4))
    lines += [line for event in cluster.run(2) for line in lines_of(event, cluster.state)]
    documents = [made for line in lines if (made := document(line, cluster.state)) is not None]
    for made in documents:
        shipper.add(made)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(shipper.run())
        while shipper.shipped < len(documents):  # noqa: ASYNC110  the shipper has no event to wait for
            await asyncio.sleep(0.05)
        running.cancel()
    query = {
        "query": {
            "bool": {
                "must": [{"query_string": {"query": 'message:"fallen off the bus"'}}],
                "filter": [{"range": {"@timestamp": {"gte": START.isoformat()}}}],
            }
        },
        "aggs": {"nodes": {"terms": {"field": "kubernetes.node.name"}}},
        "size": 0,
        "track_total_hits": True,
    }
    async with aiohttp.ClientSession(f"{real_elasticsearch.url}/") as session:
        async with session.post(f"{index}/_refresh") as reply:
            assert reply.status == 200
        async with session.post(f"{index}/_search", json=query) as reply:
            found = await reply.json()
        async with session.get(f"{index}/_count") as reply:
            count = await reply.json()
    assert count["count"] == len(documents)
    assert [bucket["key"] for bucket in found["aggregations"]["nodes"]["buckets"]] == ["gpu-b02"]
    assert found["hits"]["total"]["value"] >= 2
