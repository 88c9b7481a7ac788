"""An answer that is missing or not whole is Blind, and says what to do."""

from datetime import timedelta

import pytest

from collectors.facts.queries import LogQuery
from collectors.facts.results import Blind, Seen
from collectors.sources.elasticsearch import fields_with
from tests.contract.elasticsearch.own_logs import NOW, Logs

REAL_ONLY = pytest.mark.parametrize(  # what the look-alike does not imitate
    "logs",
    [pytest.param("real", marks=[pytest.mark.real, pytest.mark.xdist_group("real_elasticsearch")])],
    indirect=True,
)
ALL = LogQuery(match="*", by=("node",), over=timedelta(minutes=5))
TEXT_NODE = {"host": {"properties": {"name": {"type": "text"}}}, "message": {"type": "text"}}


async def test_a_missing_index(logs: Logs) -> None:
    why = await logs.why_blind(settings={"index": f"{logs.prefix}-nope"})
    assert f"no index `{logs.prefix}-nope` (404)" in why


async def test_a_pattern_that_nothing_matches(logs: Logs) -> None:
    assert f"no index matches `{logs.pattern}`" in await logs.why_blind()


async def test_one_missing_index_of_two(logs: Logs) -> None:
    await logs.index(logs.host("x"))
    assert "(404)" in await logs.why_blind(settings={"index": f"{logs.prefix}-logs,{logs.prefix}-nope"})


@pytest.mark.parametrize("match", ["level:(", "AND", "a AND", '"open', "a:[1 TO", "(a OR b", "a)", "NOT"])
async def test_a_query_that_cannot_be_read(logs: Logs, match: str) -> None:
    await logs.index(logs.host("x"))
    why = await logs.why_blind(match)
    assert "Failed to parse query" in why


async def test_a_shard_that_fails_makes_the_whole_answer_blind(logs: Logs) -> None:
    await logs.index(logs.host("x"))
    source = logs.source()
    assert isinstance(await source.search(ALL, at=NOW), Seen)
    # A new index, in which the field that we know as a keyword is a text.
    await logs.create("torn", TEXT_NODE)
    await logs.index(logs.host("x", node="gpu-a09"), into="torn")
    first = await source.search(ALL, at=NOW)
    assert isinstance(first, Blind)
    assert "1 of 2 shards" in first.reason
    assert "Text fields are not optimised" in first.reason
    again = await source.search(ALL, at=NOW)  # by now it has asked what the fields are
    assert isinstance(again, Blind)
    assert "`host.name` (node) is mapped differently" in again.reason
    assert f"text in {logs.prefix}-torn" in again.reason


async def test_a_text_without_a_keyword_cannot_be_grouped_by(logs: Logs) -> None:
    await logs.create("old", TEXT_NODE)
    await logs.index(logs.host("x"), into="old")
    assert "`host.name` (node) is mapped as text without a `.keyword` sub-field" in await logs.why_blind()


async def test_a_text_with_a_keyword_is_grouped_by_that(logs: Logs) -> None:
    # No template: all is guessed, which makes texts with a .keyword beside them.
    await logs.index(
        logs.host("x", node="gpu-a01"), logs.host("x", node="gpu-a02.example.com"), into="guessed"
    )
    assert await logs.counts() == {"gpu-a01": 1, "gpu-a02.example.com": 1}
    lines = await logs.source().lines(where={"node": "gpu-a01"}, at=NOW)
    assert [line.text for line in lines] == ["x"]


async def test_lines_of_a_field_that_cannot_be_grouped_by_keep_counting(logs: Logs) -> None:
    await logs.create("old", TEXT_NODE)
    await logs.index(logs.host("x"), into="old")
    await logs.index(logs.pod("x", node="gpu-a02"), into="old")
    assert await logs.counts(by=("pod",)) == {"": 1, "detr-worker-0": 1}


async def test_a_parent_of_the_same_name_elsewhere_does_no_harm(logs: Logs) -> None:
    await logs.create("syslog", {"host": {"type": "keyword"}, "message": {"type": "text"}})
    await logs.index(
        {"@timestamp": logs.host("")["@timestamp"], "host": "gpu-b01", "message": "x"}, into="syslog"
    )
    await logs.index(logs.host("x", node="gpu-a01"))
    fields = fields_with({"node": ["host.name", "host"]})
    assert await logs.counts(settings={"fields": fields}) == {"gpu-a01": 1, "gpu-b01": 1}


async def test_a_word_that_no_document_has(logs: Logs) -> None:
    await logs.index(logs.host("x"))
    why = await logs.why_blind(by=("gpu",))
    assert why == "`gpu` has no document field: set elasticsearch.fields.gpu"
    why = await logs.why_blind(by=("rack",), settings={"fields": fields_with({"rack": "labels.rack"})})
    assert "has a field for `rack` (tried `labels.rack`)" in why


async def test_an_answer_over_the_byte_cap(logs: Logs) -> None:
    await logs.index_many(logs.host("x", node=f"node-{number}") for number in range(200))
    why = await logs.why_blind(settings={"bytes_cap": 9_000})
    assert "larger than 9000 bytes" in why


async def test_lines_too_large_to_show_still_count(logs: Logs) -> None:
    await logs.index(*(logs.host("x" * 20_000) for _ in range(3)))
    seen = await logs.ask(settings={"bytes_cap": 9_000})
    assert isinstance(seen, Seen)
    assert seen.samples[0].value == 3
    assert seen.samples[0].texts == ("(these lines are too large to be shown)",)


async def test_whoever_cannot_be_asked_is_not_awake(logs: Logs) -> None:
    blind = await logs.source().health(at=NOW)
    assert isinstance(blind, Blind)
    assert "no index matches" in blind.reason


async def test_seen_and_blind_carry_the_moment_that_was_asked_for(logs: Logs) -> None:
    assert (await logs.ask()).at == NOW
    await logs.index(logs.host("x"))
    seen = await logs.ask()
    assert (seen.at, seen.source) == (NOW, "elasticsearch")


@REAL_ONLY
async def test_a_closed_index_that_is_named(logs: Logs) -> None:
    await logs.index(logs.host("x"))
    await logs.index(logs.host("x"), into="logs-old")
    await logs.client.indices.close(index=f"{logs.prefix}-logs-old")
    why = await logs.why_blind(settings={"index": f"{logs.prefix}-logs,{logs.prefix}-logs-old"})
    assert "(400): closed" in why
    assert await logs.counts() == {"gpu-a01": 1}  # a pattern means those that are open


@REAL_ONLY
async def test_an_alias_is_as_good_as_an_index(logs: Logs) -> None:
    await logs.index(logs.host("x"))
    await logs.client.indices.put_alias(index=f"{logs.prefix}-logs", name=f"{logs.prefix}-alias")
    assert await logs.counts(settings={"index": f"{logs.prefix}-alias"}) == {"gpu-a01": 1}
    assert len(await logs.source(index=f"{logs.prefix}-alias").lines(where={"node": "gpu-a01"}, at=NOW)) == 1
