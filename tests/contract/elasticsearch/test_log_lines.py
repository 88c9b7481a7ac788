"""Log lines for people, and the health check."""

from datetime import timedelta

import pytest

from collectors.facts.results import Blind, SourceError
from tests.contract.elasticsearch.own_logs import NOW, Logs

JOB = {"training.kubeflow.org/job-name": "detr"}


async def test_the_newest_lines_come_oldest_first(logs: Logs) -> None:
    await logs.index(*(logs.pod(f"step {number}", ago=100 - number) for number in range(10)))
    lines = await logs.source().lines(where={"pod": "detr-worker-0"}, at=NOW, tail=3)
    assert [line.text for line in lines] == ["step 7", "step 8", "step 9"]
    assert [line.at for line in lines] == [NOW - timedelta(seconds=ago) for ago in (93, 92, 91)]
    assert dict(lines[0].labels) == {
        "component": "worker",
        "container": "worker",
        "namespace": "vision-detr",
        "node": "gpu-a01",
        "pod": "detr-worker-0",
    }


async def test_lines_with_the_same_time_are_in_the_order_of_their_file(logs: Logs) -> None:
    order = [3, 1, 4, 0, 2]
    await logs.index(*(logs.pod(f"line {number}", offset=number * 80) for number in order))
    lines = await logs.source().lines(where={"pod": "detr-worker-0"}, at=NOW)
    assert [line.text for line in lines] == [f"line {number}" for number in range(5)]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        pytest.param({"pod": "a-b"}, {"1", "4"}, id="a name matches completely"),
        pytest.param({"pod": "a"}, set(), id="a part of a name does not match"),
        pytest.param({"pod": ["a-b", "a-b-c"]}, {"1", "2", "4"}, id="several pods"),
        pytest.param({"pod": "a-b", "namespace": "two"}, {"4"}, id="several labels"),
        pytest.param({"node": "gpu-a02"}, {"2", "3"}, id="a node, by the fields of both shippers"),
        pytest.param({"training": "vision-detr/detr"}, {"1", "2"}, id="a training with its namespace"),
        pytest.param({"training": "two/detr"}, {"4"}, id="a training of the same name elsewhere"),
        pytest.param({"training": "detr"}, {"1", "2", "4"}, id="a training's name alone"),
    ],
)
async def test_lines_are_found_by_exact_labels(
    logs: Logs, where: dict[str, str | list[str]], found: set[str]
) -> None:
    await logs.index(
        logs.pod("1", pod="a-b", labels=JOB),
        logs.pod("2", pod="a-b-c", node="gpu-a02", labels=JOB),
        logs.host("3", node="gpu-a02"),
        logs.pod("4", pod="a-b", namespace="two", labels=JOB),
    )
    assert {line.text for line in await logs.source().lines(where=where, at=NOW)} == found


async def test_a_query_string_narrows_lines(logs: Logs) -> None:
    await logs.index(logs.pod("loss is NaN"), logs.pod("all is well"))
    lines = await logs.source().lines(where={"namespace": "vision-detr"}, at=NOW, match="message:NaN")
    assert [line.text for line in lines] == ["loss is NaN"]


async def test_lines_around_a_time_are_from_before_and_after_it(logs: Logs) -> None:
    await logs.index(*(logs.pod(f"{ago} s ago", ago=ago) for ago in range(1, 100)))
    lines = await logs.source().lines(
        where={"pod": "detr-worker-0"}, at=NOW, around=NOW - timedelta(seconds=50), tail=4
    )
    assert [line.text for line in lines] == ["52 s ago", "51 s ago", "50 s ago", "49 s ago"]


async def test_since_and_until_bound_the_lines(logs: Logs) -> None:
    await logs.index(*(logs.pod(f"{hours} h ago", ago=hours * 3600) for hours in range(6)))
    lines = await logs.source().lines(
        where={"pod": "detr-worker-0"}, at=NOW, since=NOW - timedelta(hours=4), until=NOW - timedelta(hours=2)
    )
    assert [line.text for line in lines] == ["4 h ago", "3 h ago"]


async def test_lines_are_redacted(logs: Logs) -> None:
    await logs.index(logs.pod("export WANDB_API_KEY=0123456789abcdef"))
    (line,) = await logs.source().lines(where={"pod": "detr-worker-0"}, at=NOW)
    assert line.text == "export WANDB_API_KEY=[redacted]"


async def test_there_are_never_more_lines_than_the_cap(logs: Logs) -> None:
    await logs.index_many(logs.pod(str(number), ago=number + 1) for number in range(50))
    lines = await logs.source(lines_cap=20).lines(where={"pod": "detr-worker-0"}, at=NOW, tail=1_000)
    assert len(lines) == 20
    assert lines[-1].text == "0"


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ({"gpu": "0"}, "`gpu` has no document field"),
        ({"pod": []}, "`pod` has 0 values"),
        ({"training": "a/b"}, "no document in"),
    ],
)
async def test_a_label_that_cannot_be_searched_is_an_error(
    logs: Logs, where: dict[str, str | list[str]], reason: str
) -> None:
    await logs.index(logs.host("x"))
    with pytest.raises(SourceError, match=reason):
        await logs.source().lines(where=where, at=NOW)


async def test_logs_with_new_lines_are_healthy(logs: Logs) -> None:
    await logs.index(logs.host("x", ago=500))
    assert await logs.source().health(at=NOW) is None
    assert await logs.source(stale_after=timedelta(minutes=9)).health(at=NOW) is None


async def test_a_line_with_a_future_time_counts(logs: Logs) -> None:
    await logs.index(logs.host("x", ago=-90))
    assert await logs.source().health(at=NOW) is None


async def test_logs_without_new_lines_are_blind_and_say_what_to_check(logs: Logs) -> None:
    await logs.index(logs.host("x", ago=601))
    blind = await logs.source().health(at=NOW)
    assert isinstance(blind, Blind)
    assert "has no line of the last 10 min: check that the log shipper runs" in blind.reason
    assert await logs.source(stale_after=timedelta(minutes=11)).health(at=NOW) is None
    assert await logs.source(stale_after=timedelta()).health(at=NOW) is None
