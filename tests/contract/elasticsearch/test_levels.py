"""The level of lines: from their own headers and from fields, in the shapes that log shippers give them by default."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from collectors.facts.queries import LogLevel
from collectors.facts.results import Seen
from tests.contract.elasticsearch.own_logs import NOW, Logs

# NOW is January 10th.
ERRORS = {
    "klog": "E0110 12:00:00.000000    1234 reflector.go:138] Failed to watch *v1.Pod: unknown",
    "klog-west": "E0109 23:59:58.000000    1234 reflector.go:138] the node's clock shows local time",
    "klog-fatal": "F0110 11:59:58.000000    1234 main.go:12] cannot start",
    "klog-quotes": "E0110 12:00:00.000000    1234 exec.go:1] stderr: I0110 12:00:00.1 level=info",
    "json": '{"level":"error","ts":"2026-01-10T11:59:00.123Z","caller":"etcdserver/x.go:1","msg":"apply failed"}',
    "json-severity": '{"severity": "ERROR", "message": "lost"}',
    "containerd": 'time="2026-01-10T11:59:00.123Z" level=error msg="boom" error="exit 1"',
    "coredns": "[ERROR] plugin/errors: 2 example.com. A: read udp: i/o timeout",
    "calico": "2026-01-10 11:59:00.123 [ERROR][54] felix/int_dataplane.go 1: cannot program",
    "zap": "2026-01-10T11:59:00.123Z\tERROR\tcontroller\tReconciler error",
    "nginx": "2026/01/10 11:59:00 [error] 54#54: upstream timed out",
    "panic": "panic: runtime error: invalid memory address or nil pointer dereference",
    "panic-trace": "goroutine 1 [running]:",
}
OTHERS = {
    "klog-info": "I0110 12:00:00.000000    1234 reflector.go:138] no error at all",
    "klog-info-quotes": "I0110 12:00:00.000000    1234 x.go:1] retry: level=error E0110 12:00:00.1",
    "klog-warning": "W0110 12:00:00.000000    1234 reflector.go:138] error is near",
    "klog-replayed": "E0620 12:00:00.000000    1234 reflector.go:138] of another day",
    "json-info": '{"level":"info","msg":"retry after level=error"}',
    "coredns-info": "[INFO] plugin/reload: no error, panic not",
    "zap-info": "2026-01-10T11:59:00.123Z\tINFO\tcontroller\tlevel=error was fixed",
    "words": "2026-01-10T11:59:00.123Z connect error: none",
    "plain": "Everything without an error or a fatal panic",
}


def line(text: str, name: str, **more: Any) -> dict[str, Any]:
    return {"@timestamp": at(60), "kubernetes": {"pod_name": name}, "message": text, **more}


def at(ago: float) -> str:
    when: datetime = NOW - timedelta(seconds=ago)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def seen(logs: Logs, level: LogLevel = LogLevel.ERROR, **query: Any) -> set[str]:
    return set(await logs.counts(level=level, by=("pod",), **query))


MAPPINGS = [
    pytest.param({"type": "text"}, id="text"),
    pytest.param({"type": "keyword"}, id="a keyword"),
    pytest.param(
        {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}, id="both"
    ),
]


@pytest.mark.parametrize("mapping", [MAPPINGS[0], MAPPINGS[2]])
async def test_a_line_without_a_level_has_that_of_its_header(logs: Logs, mapping: dict[str, Any]) -> None:
    await logs.create(
        "plain", {"message": mapping, "kubernetes": {"properties": {"pod_name": {"type": "keyword"}}}}
    )
    await logs.index(*(line(text, name) for name, text in {**ERRORS, **OTHERS}.items()), into="plain")
    assert await seen(logs) == set(ERRORS)


async def test_what_is_indexed_as_a_whole_has_the_level_of_its_start(logs: Logs) -> None:
    properties = {
        "message": {"type": "keyword"},
        "kubernetes": {"properties": {"pod_name": {"type": "keyword"}}},
    }
    await logs.create("whole", properties)
    await logs.index(*(line(text, name) for name, text in {**ERRORS, **OTHERS}.items()), into="whole")
    found = await seen(logs)
    assert found & set(OTHERS) == set()
    assert {
        "klog",
        "klog-west",
        "klog-fatal",
        "json",
        "json-severity",
        "containerd",
        "coredns",
        "panic",
    } <= found


async def test_the_header_wins_over_a_level_by_the_stream(logs: Logs) -> None:
    level = {"log": {"level": "error"}}
    await logs.index(*(line(text, name, **level) for name, text in OTHERS.items()))
    await logs.index(*(line(text, name, log={"level": "info"}) for name, text in ERRORS.items()))
    # Without a header that can be read the field is all there is.
    assert await seen(logs) == {*ERRORS, "words", "plain"}


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"log": {"level": "error"}}, True),
        ({"log": {"level": "ERROR"}}, True),
        ({"level": "Error"}, True),
        ({"severity": "CRITICAL"}, True),
        ({"level": 50}, True),
        ({"level": 30}, False),
        ({"PRIORITY": "3"}, True),
        ({"PRIORITY": "6"}, False),
        ({"severity": 2}, True),
        ({"severity": 6}, False),
        ({"log": {"level": "warning"}}, False),
        ({"stream": "stderr"}, False),
    ],
)
async def test_fields_say_a_level_as_a_word_or_a_number(
    logs: Logs, fields: dict[str, Any], errors: bool
) -> None:
    await logs.index(line("plain text", "pod", **fields), into="dynamic")
    assert await seen(logs, settings={"stale_after": timedelta()}) == ({"pod"} if errors else set())


@pytest.mark.parametrize(
    ("level", "found"),
    [
        (LogLevel.WARNING, {"klog-warning", "klog", "klog-fatal", "json"}),
        (LogLevel.ERROR, {"klog", "klog-fatal", "json"}),
        (LogLevel.FATAL, {"klog-fatal"}),
    ],
)
async def test_a_level_includes_the_worse_ones(logs: Logs, level: LogLevel, found: set[str]) -> None:
    texts = {
        name: {**ERRORS, **OTHERS}[name]
        for name in ("klog-warning", "klog", "klog-fatal", "json", "klog-info")
    }
    await logs.index(*(line(text, name) for name, text in texts.items()))
    assert await seen(logs, level) == found


FILEBEAT: dict[str, Any] = {
    "stream": "stderr",
    "host": {"name": "gpu-a01"},
    "kubernetes": {
        "node": {"name": "gpu-a01"},
        "namespace": "kube-system",
        "pod": {"name": "kube-scheduler-a01"},
        "container": {"name": "kube-scheduler"},
        "labels": {"component": "kube-scheduler"},
    },
}
FLUENT_BIT: dict[str, Any] = {
    "stream": "stderr",
    "kubernetes": {
        "host": "gpu-a01",
        "namespace_name": "kube-system",
        "pod_name": "kube-proxy-x7k2p",
        "container_name": "kube-proxy",
        "labels": {"k8s-app": "kube-proxy"},
    },
}
JOURNAL: dict[str, Any] = {
    "_HOSTNAME": "gpu-a01",
    "_SYSTEMD_UNIT": "kubelet.service",
    "SYSLOG_IDENTIFIER": "kubelet",
    "PRIORITY": "6",
}


async def test_a_burst_of_klog_errors_is_seen_in_the_shapes_of_three_shippers(logs: Logs) -> None:
    """750 errors of each beside as many infos and warnings, in indices without any template."""
    minute = timedelta(minutes=5) / 750
    shapes = {"fb": ("message", FILEBEAT), "flb": ("log", FLUENT_BIT), "journal": ("MESSAGE", JOURNAL)}
    for name, (field, document) in shapes.items():
        lines = [
            {
                "@timestamp": at((minute * (number + 0.5)).total_seconds()),
                field: f"{letter}0110 11:59:00.{number:06d}    1234 reflector.go:138] failed to list {number}\n",
                **document,
            }
            for number in range(750)
            for letter in "EIW"
        ]
        await logs.index_many(lines, into=name)
    found = await logs.counts(level=LogLevel.ERROR, by=("component", "node"), above=50)
    assert found == {"kube-scheduler gpu-a01": 750, "kube-proxy gpu-a01": 750, "kubelet gpu-a01": 750}


async def test_new_errors_are_found_by_their_header(logs: Logs) -> None:
    texts = [
        "E0110 11:59:00.1 1 a.go:1] lease could not be renewed",
        "I0110 11:59:00.1 1 a.go:1] all is fine here",
    ]
    await logs.index(*(line(text, "pod") for text in texts for _ in range(5)))
    result = await logs.query(level=LogLevel.ERROR, by=("pod",), novel=timedelta(days=7), above=4)
    assert isinstance(result, Seen)
    assert [sample.labels["pattern"] for sample in result.samples] == ["a.go:… lease could not be renewed"]
