"""Documents with fields of other names: they are looked up, compared with the nodes of the cluster, or said."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from alerts.loading.match_parser import parse_match
from collectors.facts.log_match import EVERY_LINE
from collectors.facts.queries import LogLevel, LogQuery
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.facts.topology import NodeFacts, Topology
from tests.contract.elasticsearch.own_logs import NOW, Logs
from tests.contract.elasticsearch.test_blind_results import REAL_ONLY
from tests.support.log_matches import message, query_string

CLUSTER = Topology(
    cluster="lab",
    nodes={name: NodeFacts(name=name) for name in ("gpu-a01", "gpu-a02")},
    node_of_address={"10.0.1.11": "gpu-a01"},
)
XID = "NVRM: Xid (PCI:0000:b3:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
AT = (NOW - timedelta(minutes=1)).isoformat().replace("+00:00", "Z")
SHAPES: dict[str, dict[str, Any]] = {
    "otel": {
        "@timestamp": AT,
        "body": XID,
        "severity_text": "INFO",
        "resource": {"attributes": {"k8s.node.name": "gpu-a01"}},
        "attributes": {"program": "kernel"},
    },
    "otel-as-written": {
        "@timestamp": AT,
        "Body": XID,
        "Resource": {"k8s.node.name": "gpu-a01", "service.name": "kernel"},
    },
    "rsyslog": {"timereported": AT, "msg": f" {XID}", "host": "gpu-a01", "programname": "kernel"},
    "syslog-ng": {"@timestamp": AT, "MESSAGE": XID, "HOST": "gpu-a01", "PROGRAM": "kernel"},
    "logstash": {
        "@timestamp": AT,
        "message": XID,
        "host": "logstash-0",
        "syslog_hostname": "gpu-a01",
        "syslog_program": "kernel",
    },
    "full-host-name": {
        "@timestamp": AT,
        "message": XID,
        "host": {"name": "GPU-A01.lab.example"},
        "process": {"name": "kernel"},
    },
    "address": {"@timestamp": AT, "message": XID, "client": "10.0.1.11", "ident": "kernel"},
    "flat": {"time": AT, "line": XID, "labels": {"node_name": "gpu-a01", "unit": "kernel"}},
}


async def queried(logs: Logs, **query: Any) -> QueryResult:
    source = logs.source()
    source.follow(lambda: CLUSTER)
    asked = {
        "match": message("NVRM: Xid"),
        "by": ("node", "component"),
        "over": timedelta(minutes=5),
        **query,
    }
    return await source.query(LogQuery(**asked), at=NOW)


async def found(logs: Logs, **query: Any) -> list[Mapping[str, str]]:
    seen = await queried(logs, **query)
    assert isinstance(seen, Seen), seen
    return [dict(sample.labels) for sample in seen.samples]


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_shape(logs: Logs, shape: str) -> None:
    await logs.index(SHAPES[shape], into=f"of-{shape}")
    assert await found(logs) == [{"node": "gpu-a01", "component": "kernel"}]


async def test_two_shippers_of_one_line_name_its_node_differently(logs: Logs) -> None:
    await logs.index(SHAPES["full-host-name"], into="a")
    await logs.index({**SHAPES["logstash"], "syslog_hostname": "gpu-a01"}, into="b")
    seen = await queried(logs, by=("node",), extract=r"\): (?P<xid>[0-9]+)")
    assert isinstance(seen, Seen)
    assert [(dict(one.labels), one.value) for one in seen.samples] == [({"node": "gpu-a01", "xid": "79"}, 1)]


async def test_a_host_that_is_not_a_node_is_named_as_it_is(logs: Logs) -> None:
    await logs.index({"@timestamp": AT, "message": XID, "host": {"name": "nas-1"}})
    assert await found(logs, by=("node",)) == [{"node": "nas-1"}]


async def test_lines_that_are_indexed_as_one_value(logs: Logs) -> None:
    await logs.create("whole", {"message": {"type": "keyword"}, "host": {"type": "keyword"}})
    line = {"@timestamp": AT, "host": "gpu-a01"}
    await logs.index(
        {**line, "message": XID}, {**line, "message": "NVRM: Xidless, and fallen off the busy"}, into="whole"
    )
    for match, count in {
        'message:"NVRM: Xid"': 1,
        'message:"nvrm xid"': 1,
        'message:"fallen off the bus"': 1,
        "message:NVRM": 2,
        "message:xid AND NOT message:79": 0,
        'message:"off fallen"': 0,
    }.items():
        for asked in (
            {"match": parse_match(match)},
            {"match": EVERY_LINE, "store_match": query_string(match)},
        ):
            seen = await queried(logs, by=("node",), **asked)
            assert isinstance(seen, Seen), seen
            assert sum(one.value for one in seen.samples) == count, asked


async def test_a_time_that_is_not_a_date_is_reported(logs: Logs) -> None:
    await logs.create("numbers", {"message": {"type": "text"}, "@timestamp": {"type": "long"}})
    await logs.index({"@timestamp": 1, "message": XID, "host": "gpu-a01"}, into="numbers")
    blind = await queried(logs, by=("node",), level=LogLevel.ERROR)
    assert isinstance(blind, Blind)
    assert "`@timestamp` (time) is mapped as long, which is not a date" in blind.reason


@REAL_ONLY
async def test_a_node_in_a_nested_object_is_said(logs: Logs) -> None:
    await logs.create("nested", {"log": {"type": "text"}, "kubernetes": {"type": "nested"}})
    await logs.index({"@timestamp": AT, "log": XID, "kubernetes": {"host": "gpu-a01"}}, into="nested")
    blind = await queried(logs, by=("node",))
    assert isinstance(blind, Blind)
    assert "is in `kubernetes`, which is mapped as nested" in blind.reason
