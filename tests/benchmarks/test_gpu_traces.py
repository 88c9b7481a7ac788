"""Traces of GPU metrics that mislead: what they hold; on some of them no cordon of a sane node is suggested."""

from datetime import UTC, datetime

import pytest

from benchmarks.gpu_trace_catalogue import CORRUPT, FAMILIES, JOB_WIDE, UNREACHABLE
from benchmarks.gpu_traces import NODES, STARTS, TEMP, Override, Trace
from benchmarks.rows.f6_bad_gpu_traces import judged
from demo.parts.prometheus import find_prometheus
from tests.real.fixtures import present_or_skip

START = datetime(2026, 1, 5, tzinfo=UTC)
# One of each family, with a true fault in it.
_PLAYED = {
    "corrupt": [one for one in CORRUPT if one.name.startswith("a true double-bit error")],
    "job-wide": [one for one in JOB_WIDE if one.name == "the same, in the kernel log"],
    "unreachable": [one for one in UNREACHABLE if one.name.startswith("XID 79 just before")],
}


def temperatures(trace: Trace) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for sample in trace.samples(START):
        if sample.metric == TEMP and 'gpu="1"' in sample.series:
            found.setdefault(next(node for node in NODES if node in sample.series), []).append(sample.value)
    return found


def test_a_trace_differs_from_sane_readings_only_where_it_says() -> None:
    sane = temperatures(Trace(name="sane"))
    odd = temperatures(
        Trace(name="odd", overrides=(Override(value=255, metrics=(TEMP,), nodes=NODES[:1], end=STARTS + 1),))
    )
    assert [len(values) for values in odd.values()] == [len(values) for values in sane.values()]
    assert odd[NODES[0]].count(255) == 2
    assert {node: odd[node] for node in NODES[1:]} == {node: sane[node] for node in NODES[1:]}
    assert all(50 < value < 70 and len(set(values)) > 10 for values in sane.values() for value in values)


def test_what_is_repeated_stands_still_from_then_on() -> None:
    frozen = temperatures(Trace(name="frozen", overrides=(Override(nodes=NODES[:1], repeats=True, start=5),)))
    assert len(set(frozen[NODES[0]][10:])) == 1
    assert len(set(frozen[NODES[1]][10:])) > 10


def test_a_trace_has_a_name_of_its_own_and_each_family_a_true_fault() -> None:
    names = [trace.name for traces in FAMILIES.values() for trace in traces]
    assert len(names) == len(set(names))
    assert all(any(trace.broken for trace in traces) for traces in FAMILIES.values())


@pytest.mark.real
async def test_the_broken_node_is_found_and_no_other_one_is_to_be_cordoned() -> None:
    present_or_skip(find_prometheus)
    verdicts = [one for found in (await judged(_PLAYED)).values() for one in found]
    assert [one.trace.broken for one in verdicts] == [{"gpu-a02"}, {"gpu-a02"}, {"gpu-a02"}]
    assert [
        (one.trace.name, one.false_cordons, one.missed) for one in verdicts if one.false_cordons or one.missed
    ] == []
