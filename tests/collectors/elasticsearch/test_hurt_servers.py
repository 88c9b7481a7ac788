"""A server that is hurt makes us blind, whatever the look, and only for as long as it is."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import pytest

from collectors.facts.queries import LogQuery, TimesUsual
from collectors.facts.results import Blind, QueryResult, Seen, SourceError
from collectors.sources.elasticsearch import ElasticsearchOptions, ElasticsearchSource
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike

COUNT = LogQuery(match="bus", by=("node",), over=timedelta(minutes=5))
EXTRACT = LogQuery(match="bus", by=("node",), over=timedelta(minutes=5), extract=r"\): (?P<xid>\d+),")
NOVEL = LogQuery(match="bus", by=("node",), over=timedelta(minutes=5), novel=timedelta(days=7))
USUAL = LogQuery(match="bus", by=("node",), over=timedelta(minutes=5), times_usual=TimesUsual(factor=2))

Look = Callable[[ElasticsearchSource, datetime], Awaitable[QueryResult | None]]
LOOKS = [
    pytest.param(lambda source, now: source.search(COUNT, at=now), id="a count"),
    pytest.param(lambda source, now: source.search(EXTRACT, at=now), id="an extraction"),
    pytest.param(lambda source, now: source.search(NOVEL, at=now), id="a novelty"),
    pytest.param(lambda source, now: source.search(USUAL, at=now), id="a comparison with the usual"),
    pytest.param(lambda source, now: source.health(at=now), id="whether lines come"),
]


def source_at(server: ElasticsearchLookalike, *, timeout: float = 10) -> ElasticsearchSource:
    return ElasticsearchSource(ElasticsearchOptions(urls=(server.url,), timeout=timedelta(seconds=timeout)))


@pytest.mark.parametrize("look", LOOKS)
async def test_an_answer_without_some_shards_is_blind(
    server: ElasticsearchLookalike, now: datetime, look: Look
) -> None:
    async with source_at(server) as source:
        assert not isinstance(await look(source, now), Blind)
        server.faults.partial(shards_failed=1, times=100)
        blind = await look(source, now)
        assert isinstance(blind, Blind)
        assert "1 of 2 shards of `filebeat-*` failed: a shard is not available" in blind.reason
        server.faults.heal()
        assert not isinstance(await look(source, now), Blind)


@pytest.mark.parametrize("look", LOOKS)
async def test_an_answer_that_ran_out_of_time_is_blind(
    server: ElasticsearchLookalike, now: datetime, look: Look
) -> None:
    async with source_at(server) as source:
        server.faults.time_out(times=100)
        blind = await look(source, now)
        assert isinstance(blind, Blind)
        assert "ran out of time" in blind.reason


@pytest.mark.parametrize(
    ("query", "searches"),
    [
        pytest.param(EXTRACT, 2, id="an extraction counts, then reads"),
        pytest.param(NOVEL, 2, id="a novelty reads, then asks about the past"),
        pytest.param(USUAL, 2, id="a comparison counts, then asks for the totals"),
    ],
)
async def test_each_of_a_looks_searches_must_be_whole(
    server: ElasticsearchLookalike, now: datetime, query: LogQuery, searches: int
) -> None:
    async with source_at(server) as source:
        for spared in range(searches):
            server.faults.partial(after=spared)
            assert isinstance(await source.search(query, at=now), Blind), f"search {spared + 1} was partial"
            server.faults.heal()
        assert isinstance(await source.search(query, at=now), Seen)


async def test_lines_that_are_not_whole_are_refused(server: ElasticsearchLookalike, now: datetime) -> None:
    async with source_at(server) as source:
        server.faults.partial()
        with pytest.raises(SourceError, match="1 of 2 shards"):
            await source.lines(where={"node": "gpu-a01"}, at=now)


@pytest.mark.parametrize(
    ("status", "words", "is_temporary"),
    [
        (401, "does not know us (401): check api_key_file or basic_auth", False),
        (403, "forbids it (403)", False),
        (404, "has no index", False),
        (429, "is overloaded (429)", True),
        (500, "failed (500)", True),
        (502, "failed (502)", True),
        (503, "failed (503)", True),
    ],
)
async def test_a_refusal_says_what_to_do(
    server: ElasticsearchLookalike, now: datetime, status: int, words: str, is_temporary: bool
) -> None:
    async with source_at(server) as source:
        server.faults.fail(status)
        blind = await source.search(COUNT, at=now)
        assert isinstance(blind, Blind)
        assert words in blind.reason
        server.faults.fail(status)
        with pytest.raises(SourceError) as caught:
            await source.lines(where={"node": "gpu-a01"}, at=now)
        assert (caught.value.status, caught.value.temporary) == (status, is_temporary)
        assert isinstance(await source.search(COUNT, at=now), Seen)


@pytest.mark.parametrize("look", LOOKS)
async def test_a_server_that_hangs_is_given_up(
    server: ElasticsearchLookalike, now: datetime, look: Look
) -> None:
    async with source_at(server, timeout=0.2) as source:
        server.faults.pause()
        blind = await look(source, now)
        assert isinstance(blind, Blind)
        assert "did not answer within 0.2 s" in blind.reason
    server.faults.resume()
    async with source_at(server) as source:
        assert not isinstance(await look(source, now), Blind)


async def test_a_server_that_is_down_comes_back_at_the_same_address(
    server: ElasticsearchLookalike, now: datetime
) -> None:
    async with source_at(server) as source:
        assert isinstance(await source.search(COUNT, at=now), Seen)
        await server.down()
        blind = await source.search(COUNT, at=now)
        assert isinstance(blind, Blind)
        assert "cannot connect: check elasticsearch.url" in blind.reason
        await server.up()
        assert isinstance(await source.search(COUNT, at=now), Seen)


async def test_a_second_address_is_tried(server: ElasticsearchLookalike, now: datetime) -> None:
    async with ElasticsearchLookalike.running() as other:
        await other.down()
        settings = ElasticsearchOptions(urls=(other.url, server.url))
        async with ElasticsearchSource(settings) as source:
            for _ in range(4):
                assert isinstance(await source.search(COUNT, at=now), Seen)


async def test_points_in_time_are_closed(server: ElasticsearchLookalike, now: datetime) -> None:
    async with source_at(server) as source:
        await source.search(EXTRACT, at=now)
        await source.search(NOVEL, at=now)
        server.faults.partial(times=100)
        await source.search(EXTRACT, at=now)
    assert server.open_points == 0


async def test_a_search_after_a_slow_one_is_whole(server: ElasticsearchLookalike, now: datetime) -> None:
    async with source_at(server) as source:
        server.faults.slow(timedelta(milliseconds=20))
        assert isinstance(await source.search(COUNT, at=now), Seen)
