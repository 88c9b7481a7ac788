"""The fixture of the contract tests: logs of their own, in the look-alike and in a real Elasticsearch."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from elasticsearch import AsyncElasticsearch

from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from tests.contract.elasticsearch.own_logs import FIXTURES, Logs

# Each starts once; a test worker has one of them. The oldest version that is supported runs in `make soak`.
REAL = [
    pytest.param(
        kind,
        marks=[
            pytest.mark.real,
            pytest.mark.xdist_group(fixture),
            *([] if kind == "real" else [pytest.mark.soak(only=True)]),
        ],
    )
    for kind, fixture in FIXTURES.items()
]


@pytest.fixture(params=["look-alike", *REAL])
async def logs(request: pytest.FixtureRequest) -> AsyncIterator[Logs]:
    """Empty logs, with the shipper's index template."""
    async with AsyncExitStack() as closing:
        if request.param in FIXTURES:
            url = request.getfixturevalue(FIXTURES[request.param]).url
        else:
            url = (await closing.enter_async_context(ElasticsearchLookalike.running())).url
        client = AsyncElasticsearch(url)
        closing.push_async_callback(client.close)
        logs = Logs(request.param, url, client, closing)
        await logs.prepare()
        yield logs
        if request.param in FIXTURES:
            names = await client.indices.get_alias(index=logs.pattern, expand_wildcards="all")
            if names.body:
                await client.indices.delete(index=",".join(names))
            await client.indices.delete_index_template(name=logs.prefix)
