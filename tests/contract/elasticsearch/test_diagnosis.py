"""What the doctor finds about logs: an index that matches nothing, and fields that rules group by."""

from datetime import timedelta

from collectors.facts.findings import Finding, FindingLevel
from collectors.facts.queries import LogQuery
from tests.contract.elasticsearch.own_logs import NOW, Logs

QUERIES = {"NodeErrors": LogQuery(match="error", by=("node",), over=timedelta(minutes=5))}


def broken(found: list[Finding]) -> list[Finding]:
    return [one for one in found if one.level is FindingLevel.BROKEN]


async def test_logs_that_are_whole(logs: Logs) -> None:
    await logs.index(logs.pod("error"))
    found = list(await logs.source().diagnose(QUERIES, at=NOW))
    assert broken(found) == []
    assert found[0].text == f"it answers, and has the index `{logs.pattern}`"


async def test_an_index_that_matches_nothing(logs: Logs) -> None:
    await logs.index(logs.pod("error"))
    (one,) = await logs.source(index=f"{logs.prefix}-lgos-*").diagnose(QUERIES, at=NOW)
    assert one.level is FindingLevel.BROKEN
    assert one.text.startswith(f"it answers, but no index matches `{logs.prefix}-lgos-*`; there are ")
    assert f"{logs.prefix}-logs" in one.text
    assert one.mend.startswith("set elasticsearch.index, such as `")


async def test_a_field_that_a_rule_groups_by(logs: Logs) -> None:
    await logs.index(logs.pod("error"))
    source = logs.source(fields={"time": ("@timestamp",), "message": ("message",), "node": ("nodename",)})
    (one,) = broken(list(await source.diagnose(QUERIES, at=NOW)))
    assert one.text.startswith("NodeErrors can see nothing: no document in ")
    assert "set elasticsearch.fields.node" in one.text


async def test_lines_that_are_all_old(logs: Logs) -> None:
    await logs.index(logs.pod("error", ago=7200))
    (one,) = broken(list(await logs.source().diagnose(QUERIES, at=NOW)))
    assert "has no line of the last 10 min" in one.text
