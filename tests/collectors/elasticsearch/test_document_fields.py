"""Fields that no list of names has, found in documents: by what they hold, else by the end of their names."""

from collections.abc import Mapping

import pytest

from collectors.sources.elasticsearch.fields.document_fields import (
    SampledDocument,
    flat,
    looked_up,
    time_among,
)

LABELS: Mapping[str, tuple[str, ...]] = {
    "message": ("message",),
    "node": ("host", "host.name"),
    "component": ("service",),
    "namespace": ("namespace",),
    "pod": ("pod",),
}
NODES = {"gpu-a01": "gpu-a01", "gpu-a02": "gpu-a02", "gpu-a01.lab": "gpu-a01"}
TEXT = "mount failed: exit status 32"


def node_of(value: str) -> str:
    return NODES.get(value, "")


def documents(*sources: object, index: str = "logs") -> list[SampledDocument]:
    return [
        SampledDocument(index=index, values={name: (value,) for name, value in flat(source)})
        for source in sources
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"body": TEXT}, {"message": ("body",)}),
        ({"Body": {"text": TEXT}, "tag": "a b"}, {"message": ("Body.text",)}),
        ({"message": TEXT, "nodeName": "gpu-a01"}, {"node": ("nodeName",)}),
        ({"message": TEXT, "machine": "gpu-a01.lab"}, {"node": ("machine",)}),
        ({"message": TEXT, "host": "logstash-0", "from": "gpu-a02"}, {"node": ("from",)}),
        ({"message": TEXT, "a": "gpu-a01", "b": "gpu-a01.lab"}, {"node": ("a",)}),
        ({"message": TEXT, "syslog": {"programName": "kubelet"}}, {"component": ("syslog.programName",)}),
        (
            {"message": TEXT, "k": {"pod_name": "x", "namespace_name": "y"}},
            {"namespace": ("k.namespace_name",), "pod": ("k.pod_name",)},
        ),
    ],
)
def test_what_is_found(source: object, expected: Mapping[str, tuple[str, ...]]) -> None:
    assert looked_up(documents(source), LABELS, node_of) == expected


@pytest.mark.parametrize(
    "source",
    [
        {"message": TEXT, "host": "gpu-a01", "service": "kubelet"},  # nothing is missing
        {"message": TEXT, "a": "gpu-a01", "b": "gpu-a02"},  # which of them wrote it?
        {"one": TEXT, "two": TEXT},
        {"message": TEXT, "data_stream": {"namespace": "default"}},  # without a pod
        {"message": TEXT, "agent": {"program": "filebeat"}},
    ],
)
def test_what_is_not_clear_is_not_used(source: object) -> None:
    assert looked_up(documents(source), LABELS, node_of) == {}


def test_a_field_of_some_documents_only_is_not_used() -> None:
    lines = documents({"message": TEXT, "about": "gpu-a01"}, {"message": TEXT})
    assert looked_up(lines, LABELS, node_of) == {}


def test_each_index_has_its_own_fields() -> None:
    lines = [
        *documents({"message": TEXT, "one": "gpu-a01"}, index="a"),
        *documents({"message": TEXT, "two": "gpu-a02"}, index="b"),
    ]
    assert looked_up(lines, LABELS, node_of) == {"node": ("one", "two")}


def test_without_the_nodes_of_the_cluster_names_decide() -> None:
    lines = documents({"message": TEXT, "syslog_hostname": "somewhere", "origin": "gpu-a01"})
    assert looked_up(lines, LABELS, None) == {"node": ("syslog_hostname",)}


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (["when"], "when"),
        (["created", "time"], "time"),
        (["ISODATE", "record.ts"], "ISODATE"),
        (["a", "b"], ""),
        ([], ""),
    ],
)
def test_the_time_of_a_line(dates: list[str], expected: str) -> None:
    assert time_among(dates) == expected
