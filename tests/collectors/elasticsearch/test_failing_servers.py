"""A failing server makes every query blind, until it works again."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import pytest

from collectors.facts.queries import LogQuery, TimesUsual
from collectors.facts.results import Blind, QueryResult, Seen, SourceError
from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.elasticsearch.source import ElasticsearchSource
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from tests.support.log_matches import message

COUNT = LogQuery(match=message("bus"), by=("node",), over=timedelta(minutes=5))
EXTRACT = LogQuery(
    match=message("bus"), by=("node",), over=timedelta(minutes=5), extract=r"\): (?P<xid>\d+),"
)
NOVEL = LogQuery(match=message("bus"), by=("node",), over=timedelta(minutes=5), novel=timedelta(days=7))
USUAL = LogQuery(
    match=message("bus"), by=("node",), over=timedelta(minutes=5), times_usual=TimesUsual(factor=2)
)

SourceQuery = Callable[[ElasticsearchSource, datetime], Awaitable[QueryResult | None]]
QUERIES = [
    pytest.param(lambda source, now: source.query(COUNT, at=now), id="a count"),
    pytest.param(lambda source, now: source.query(EXTRACT, at=now), id="an extraction"),
    pytest.param(lambda source, now: source.query(NOVEL, at=now), id="a novelty"),
    pytest.param(lambda source, now: source.query(USUAL, at=now), id="a comparison with the usual"),
    pytest.param(lambda source, now: source.health(at=now), id="a health check"),
]


def source_at(server: ElasticsearchLookalike, *, timeout: float = 10) -> ElasticsearchSource:
    return ElasticsearchSource(ElasticsearchOptions(urls=(server.url,), timeout=timedelta(seconds=timeout)))


@pytest.mark.parametrize("query", QUERIES)
async def test_a_response_without_some_shards_is_blind(
    server: ElasticsearchLookalike, now: datetime, query: SourceQuery
) -> None:
    async with source_at(server) as source:
        assert not isinstance(await query(source, now), Blind)
        server.faults.partial(shards_failed=1, times=100)
        blind = await query(source, now)
        assert isinstance(blind, Blind)
        assert "1 of 2 shards of `filebeat-*` failed: a shard is not available" in blind.reason
        server.faults.heal()
        assert not isinstance(await query(source, now), Blind)


@pytest.mark.parametrize("query", QUERIES)
async def test_a_search_that_timed_out_is_blind(
    server: ElasticsearchLookalike, now: datetime, query: SourceQuery
) -> None:
    async with source_at(server) as source:
        server.faults.time_out(times=100)
        blind = await query(source, now)
        assert isinstance(blind, Blind)
        assert "timed out and its result is partial: narrow `match` or shorten `over`" in blind.reason


@pytest.mark.parametrize(
    ("query", "searches"),
    [
        pytest.param(EXTRACT, 3, id="an extraction looks at fields, counts, then reads"),
        pytest.param(NOVEL, 3, id="a novelty looks at fields, reads, then searches the past"),
        pytest.param(USUAL, 3, id="a comparison looks at fields, counts, then counts the totals"),
    ],
)
async def test_every_search_of_a_query_must_be_complete(
    server: ElasticsearchLookalike, now: datetime, query: LogQuery, searches: int
) -> None:
    async with source_at(server) as source:
        for complete in range(searches):
            server.faults.partial(after=complete)
            assert isinstance(await source.query(query, at=now), Blind), f"search {complete + 1} was partial"
            server.faults.heal()
        assert isinstance(await source.query(query, at=now), Seen)


async def test_incomplete_lines_are_an_error(server: ElasticsearchLookalike, now: datetime) -> None:
    async with source_at(server) as source:
        server.faults.partial()
        with pytest.raises(SourceError, match="1 of 2 shards"):
            await source.lines(where={"node": "gpu-a01"}, at=now)


@pytest.mark.parametrize(
    ("status", "text", "is_temporary"),
    [
        (401, "rejected the credentials (401): check api_key_file or basic_auth", False),
        (403, "denied access (403): grant `read` and `view_index_metadata` on", False),
        (404, "has no index", False),
        (429, "is overloaded (429)", True),
        (500, "failed (500)", True),
        (502, "failed (502)", True),
        (503, "failed (503)", True),
    ],
)
async def test_an_error_status_gives_a_reason(
    server: ElasticsearchLookalike, now: datetime, status: int, text: str, is_temporary: bool
) -> None:
    async with source_at(server) as source:
        server.faults.fail(status)
        blind = await source.query(COUNT, at=now)
        assert isinstance(blind, Blind)
        assert text in blind.reason
        server.faults.fail(status)
        with pytest.raises(SourceError) as caught:
            await source.lines(where={"node": "gpu-a01"}, at=now)
        assert (caught.value.status, caught.value.temporary) == (status, is_temporary)
        assert isinstance(await source.query(COUNT, at=now), Seen)


@pytest.mark.parametrize("query", QUERIES)
async def test_a_query_to_a_hanging_server_times_out(
    server: ElasticsearchLookalike, now: datetime, query: SourceQuery
) -> None:
    async with source_at(server, timeout=0.2) as source:
        server.faults.pause()
        blind = await query(source, now)
        assert isinstance(blind, Blind)
        assert "did not answer within 0.2 s" in blind.reason
    server.faults.resume()
    async with source_at(server) as source:
        assert not isinstance(await query(source, now), Blind)


async def test_a_server_that_was_down_works_again_at_the_same_address(
    server: ElasticsearchLookalike, now: datetime
) -> None:
    async with source_at(server) as source:
        assert isinstance(await source.query(COUNT, at=now), Seen)
        await server.down()
        blind = await source.query(COUNT, at=now)
        assert isinstance(blind, Blind)
        assert "cannot connect: check elasticsearch.url" in blind.reason
        await server.up()
        assert isinstance(await source.query(COUNT, at=now), Seen)


async def test_a_second_address_is_tried(server: ElasticsearchLookalike, now: datetime) -> None:
    async with ElasticsearchLookalike.running() as other:
        await other.down()
        settings = ElasticsearchOptions(urls=(other.url, server.url))
        async with ElasticsearchSource(settings) as source:
            for _ in range(4):
                assert isinstance(await source.query(COUNT, at=now), Seen)


async def test_points_in_time_are_closed(server: ElasticsearchLookalike, now: datetime) -> None:
    async with source_at(server) as source:
        await source.query(EXTRACT, at=now)
        await source.query(NOVEL, at=now)
        server.faults.partial(times=100)
        await source.query(EXTRACT, at=now)
    assert server.open_points == 0


async def test_a_slow_search_is_complete(server: ElasticsearchLookalike, now: datetime) -> None:
    async with source_at(server) as source:
        server.faults.slow(timedelta(milliseconds=20))
        assert isinstance(await source.query(COUNT, at=now), Seen)
