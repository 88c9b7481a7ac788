"""A missing or incomplete result is Blind, and says what to do."""

from datetime import timedelta

import pytest

from collectors.facts.queries import LogQuery
from collectors.facts.results import Blind, Seen
from collectors.sources.elasticsearch.options import fields_with
from tests.contract.elasticsearch.own_logs import FIXTURES, NOW, Logs

REAL_ONLY = pytest.mark.parametrize(  # what the look-alike does not imitate
    "logs",
    [
        pytest.param(kind, marks=[pytest.mark.real, pytest.mark.xdist_group(fixture)])
        for kind, fixture in FIXTURES.items()
    ],
    indirect=True,
)
ALL = LogQuery(by=("node",), over=timedelta(minutes=5))
TEXT_NODE = {"host": {"properties": {"name": {"type": "text"}}}, "message": {"type": "text"}}


async def test_a_missing_index_is_named(logs: Logs) -> None:
    reason = await logs.blind_reason(settings={"index": f"{logs.prefix}-nope"})
    assert f"no index `{logs.prefix}-nope` (404)" in reason


async def test_a_pattern_without_an_index_is_named(logs: Logs) -> None:
    assert f"no index matches `{logs.pattern}`" in await logs.blind_reason()


async def test_one_missing_index_of_two_is_blind(logs: Logs) -> None:
    await logs.index(logs.host("x"))
    assert "(404)" in await logs.blind_reason(settings={"index": f"{logs.prefix}-logs,{logs.prefix}-nope"})


@pytest.mark.parametrize("match", ["level:(", "AND", "a AND", '"open', "a:[1 TO", "(a OR b", "a)", "NOT"])
async def test_a_query_that_cannot_be_parsed_is_blind(logs: Logs, match: str) -> None:
    await logs.index(logs.host("x"))
    reason = await logs.blind_reason(match)
    assert "Failed to parse query" in reason


async def test_a_failing_shard_makes_the_whole_result_blind(logs: Logs) -> None:
    await logs.index(logs.host("x"))
    source = logs.source()
    assert isinstance(await source.query(ALL, at=NOW), Seen)
    # A new index, in which the cached keyword field is a text field.
    await logs.create("other", TEXT_NODE)
    await logs.index(logs.host("x", node="gpu-a09"), into="other")
    first = await source.query(ALL, at=NOW)
    assert isinstance(first, Blind)
    assert "1 of 2 shards" in first.reason
    assert "Text fields are not optimised" in first.reason
    again = await source.query(ALL, at=NOW)  # it has read the mapping again
    assert isinstance(again, Blind)
    assert "`host.name` (node) is mapped differently" in again.reason
    assert f"text in {logs.prefix}-other" in again.reason


async def test_a_text_field_without_a_keyword_cannot_be_grouped_by(logs: Logs) -> None:
    await logs.create("old", TEXT_NODE)
    await logs.index(logs.host("x"), into="old")
    assert "`host.name` (node) is mapped as text without a `.keyword` sub-field" in await logs.blind_reason()


async def test_a_text_field_with_a_keyword_is_grouped_by_it(logs: Logs) -> None:
    # Without a template, dynamic mapping makes text fields with a .keyword sub-field.
    await logs.index(
        logs.host("x", node="gpu-a01"), logs.host("x", node="gpu-a02.example.com"), into="dynamic"
    )
    assert await logs.counts() == {"gpu-a01": 1, "gpu-a02.example.com": 1}
    lines = await logs.source().lines(where={"node": "gpu-a01"}, at=NOW)
    assert [line.text for line in lines] == ["x"]


async def test_lines_with_a_field_that_cannot_be_grouped_by_still_count(logs: Logs) -> None:
    await logs.create("old", TEXT_NODE)
    await logs.index(logs.host("x"), into="old")
    await logs.index(logs.pod("x", node="gpu-a02"), into="old")
    assert await logs.counts(by=("pod",)) == {"": 1, "detr-worker-0": 1}


async def test_an_object_field_of_the_same_name_in_another_index_is_ignored(logs: Logs) -> None:
    await logs.create("syslog", {"host": {"type": "keyword"}, "message": {"type": "text"}})
    await logs.index(
        {"@timestamp": logs.host("")["@timestamp"], "host": "gpu-b01", "message": "x"}, into="syslog"
    )
    await logs.index(logs.host("x", node="gpu-a01"))
    fields = fields_with({"node": ["host.name", "host"]})
    assert await logs.counts(settings={"fields": fields}) == {"gpu-a01": 1, "gpu-b01": 1}


async def test_a_label_without_a_document_field_is_named(logs: Logs) -> None:
    await logs.index(logs.host("x"))
    reason = await logs.blind_reason(by=("gpu",))
    assert reason == "`gpu` has no document field: set elasticsearch.fields.gpu"
    reason = await logs.blind_reason(by=("rack",), settings={"fields": fields_with({"rack": "labels.rack"})})
    assert "has a field for `rack` (tried `labels.rack`)" in reason


async def test_a_response_over_the_byte_cap_is_blind(logs: Logs) -> None:
    await logs.index_many(logs.host("x", node=f"node-{number}") for number in range(200))
    reason = await logs.blind_reason(settings={"bytes_cap": 9_000})
    assert "exceeded 9000 bytes: narrow `match` or shorten `over`" in reason


async def test_lines_too_large_to_show_still_count(logs: Logs) -> None:
    await logs.index(*(logs.host("x" * 20_000) for _ in range(3)))
    seen = await logs.query(settings={"bytes_cap": 9_000})
    assert isinstance(seen, Seen)
    assert seen.samples[0].value == 3
    assert seen.samples[0].texts == ("(these lines are too large to show)",)


async def test_a_source_without_an_index_is_not_healthy(logs: Logs) -> None:
    blind = await logs.source().health(at=NOW)
    assert isinstance(blind, Blind)
    assert "no index matches" in blind.reason


async def test_seen_and_blind_have_the_time_of_the_query(logs: Logs) -> None:
    assert (await logs.query()).at == NOW
    await logs.index(logs.host("x"))
    seen = await logs.query()
    assert (seen.at, seen.source) == (NOW, "elasticsearch")


@REAL_ONLY
async def test_a_closed_index_is_blind_when_it_is_named(logs: Logs) -> None:
    await logs.index(logs.host("x"))
    await logs.index(logs.host("x"), into="logs-old")
    await logs.client.indices.close(index=f"{logs.prefix}-logs-old", wait_for_active_shards=1)
    reason = await logs.blind_reason(settings={"index": f"{logs.prefix}-logs,{logs.prefix}-logs-old"})
    assert "closed" in reason
    assert await logs.counts() == {"gpu-a01": 1}  # a pattern matches only open indices


@REAL_ONLY
async def test_an_alias_works_like_an_index(logs: Logs) -> None:
    await logs.index(logs.host("x"))
    await logs.client.indices.put_alias(index=f"{logs.prefix}-logs", name=f"{logs.prefix}-alias")
    assert await logs.counts(settings={"index": f"{logs.prefix}-alias"}) == {"gpu-a01": 1}
    assert len(await logs.source(index=f"{logs.prefix}-alias").lines(where={"node": "gpu-a01"}, at=NOW)) == 1
