"""The doctor's findings about logs: an index that matches nothing, and fields that rules group by."""

from datetime import timedelta

import pytest

from collectors.facts.findings import Finding, FindingLevel
from collectors.facts.queries import LogQuery
from collectors.sources.elasticsearch.options import DEFAULT_FIELDS
from tests.contract.elasticsearch.own_logs import NOW, Logs
from tests.contract.elasticsearch.test_blind_results import REAL_ONLY
from tests.support.log_matches import message

QUERIES = {"NodeErrors": LogQuery(match=message("error"), by=("node",), over=timedelta(minutes=5))}


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
    assert one.fix.startswith("set elasticsearch.index, such as `")


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


async def test_the_fields_in_use_are_shown_and_those_only_mapped_are_not(logs: Logs) -> None:
    await logs.index(logs.pod("error"))  # its index also maps systemd.unit
    fluent_bit = {
        "@timestamp": logs.host("")["@timestamp"],
        "log": "E0110 11:59:00.0 1 a.go:1] no",
        "kubernetes": {"host": "gpu-b01", "labels": {"app_kubernetes_io/name": "x"}},
    }
    await logs.index(fluent_bit, into="fluentbit")
    found = [one.text for one in await logs.source().diagnose(QUERIES, at=NOW)]
    (shown,) = (text for text in found if text.startswith("the fields of its lines: "))
    parts = dict(part.split(" from ") for part in shown.removeprefix("the fields of its lines: ").split("; "))
    assert parts["message"] == "`message` or `log`"
    assert parts["node"] == "`kubernetes.node.name`, `kubernetes.host` or `host.name`"
    assert parts["component"] == "`kubernetes.labels.app_kubernetes_io/name` or `kubernetes.container.name`"
    assert "systemd.unit" not in shown


async def test_a_field_of_the_settings_is_the_only_one(logs: Logs) -> None:
    await logs.index(logs.pod("error"))
    source = logs.source(fields={**DEFAULT_FIELDS, "node": ("host.name",)})
    found = [one.text for one in await source.diagnose(QUERIES, at=NOW)]
    assert "; node from `host.name`; " in found[1]


LINES = [f"E0110 11:5{number}:00.0 1 a.go:1] rbd{number} failed: no such device." for number in range(4)]


async def test_lines_that_are_found_by_their_words(logs: Logs) -> None:
    await logs.index(*map(logs.pod, LINES))
    assert broken(list(await logs.source().diagnose(QUERIES, at=NOW))) == []


@REAL_ONLY
@pytest.mark.parametrize("analyzer", ["whitespace", "simple", "stop"])
async def test_an_analyzer_that_splits_lines_otherwise_is_said(logs: Logs, analyzer: str) -> None:
    text = {"type": "text", "analyzer": analyzer}
    await logs.create(analyzer, {"message": text, "host": {"type": "keyword"}})
    at = logs.host("")["@timestamp"]
    await logs.index(
        *({"@timestamp": at, "message": line, "host": "gpu-a01"} for line in LINES), into=analyzer
    )
    (one,) = broken(list(await logs.source().diagnose(QUERIES, at=NOW)))
    assert "not found by words of their `message`" in one.text
    assert one.fix == "map `message` as text with the standard analyzer, in the index template"
