"""Responses stay small, however many lines match."""

from datetime import timedelta

from collectors.facts.queries import LogQuery, TimesUsual
from collectors.facts.results import Seen
from tests.contract.elasticsearch.own_logs import NOW, Logs
from tests.support.log_matches import message

LINES = {
    "real": 50_000,
    "real 7.17": 10_000,
    "look-alike": 10_000,
}  # the look-alike keeps up with a demo, not with a cluster
CAP = 64 * 1024  # bytes of one response; all lines would be 10 MB
PODS = 32


async def test_responses_for_many_thousand_lines_are_small(logs: Logs) -> None:
    count = LINES[logs.kind]
    await logs.index_many(
        logs.pod(
            f"NCCL WARN step {number} timed out", pod=f"worker-{number % PODS}", ago=1 + number * 250 / count
        )
        for number in range(count)
    )
    source = logs.source(bytes_cap=CAP, timeout=timedelta(seconds=60))
    counted = await source.query(
        LogQuery(match=message("NCCL"), by=("pod",), over=timedelta(minutes=5)), at=NOW
    )
    assert isinstance(counted, Seen), counted
    assert len(counted.samples) == PODS
    assert sum(sample.value for sample in counted.samples) == count
    assert all(len(sample.texts) == 3 for sample in counted.samples)
    usual = LogQuery(
        match=message("NCCL"), by=("pod",), over=timedelta(minutes=1), times_usual=TimesUsual(factor=2)
    )
    assert isinstance(await source.query(usual, at=NOW), Seen)
    extracted = LogQuery(
        match=message("NCCL"), by=("pod",), over=timedelta(minutes=5), extract="(?P<kind>NCCL [A-Z]+) step"
    )
    cut = await source.query(extracted, at=NOW)
    assert isinstance(cut, Seen), cut
    assert {sample.labels["kind"] for sample in cut.samples} == {"NCCL WARN"}
    assert "lines match" in cut.samples[0].texts[-1]
    lines = await source.lines(where={"pod": "worker-7"}, at=NOW, tail=100)
    assert len(lines) == 100
    assert lines == tuple(sorted(lines, key=lambda line: line.at))
